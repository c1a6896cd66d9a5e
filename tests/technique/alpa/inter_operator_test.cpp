// How pipelines are cut: against every cut of small problems, against the simulator, and on unequal GPUs.
#include "sim/technique/alpa/planner/inter_operator.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planner/stage_choice.h"
#include "tests/small_world.h"

namespace slmsim::inter_operator_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<PipelineCut> cut_pipeline(const PipelineProblem& p) {
  auto best = cut_pipelines({p});
  return best ? std::optional(std::move(best->cut)) : std::nullopt;
}

// T of the given stages, written down anew.
double time_by_hand(const PipelineProblem& p, const std::vector<PipelineStage>& stages) {
  const std::size_t n = stages.size();
  std::vector<double> time(n), sent(n, 0.0), each(n, 0.0), gathered(n, 0.0);
  double sum = 0, slowest = 0, waiting = 0;
  for (std::size_t s = n; s-- > 0;) {
    time[s] = p.time(stages[s].first, stages[s].last, stages[s].submesh);
    if (p.traffic && s + 1 < n) {
      const Sending way = p.traffic(stages[s].last, stages[s].submesh, stages[s + 1].submesh);
      sent[s] = way.time;
      gathered[s] = way.gathered;
      const double turn = 2 * sent[s] + gathered[s] + time[s + 1];
      each[s] = p.in_turn && !p.all_in_flight ? std::max(way.each, turn) : way.each;
    }
    sum += time[s] + 2 * sent[s];
    slowest = std::max({slowest, time[s], each[s]});
  }
  const int further = p.micro_batches - 1;
  for (std::size_t s = 0; s < n; ++s) {
    const int under_way = p.all_in_flight ? p.micro_batches : static_cast<int>(n - s);
    if (p.most_in_flight(stages[s].first, stages[s].last, stages[s].submesh) < std::min(p.micro_batches, under_way))
      return kInfinity;
    double around = 0, largest = 0;
    for (std::size_t later = s; later < n; ++later) {
      around += time[later] + 2 * sent[later];
      largest = std::max({largest, time[later], each[later]});
    }
    const bool in_turn = p.in_turn && s + 1 < n && !p.all_in_flight;
    const int behind = under_way - (in_turn ? 1 : 0);
    if (in_turn) around -= time[s] - gathered[s];
    waiting = std::max(waiting, std::floor(further / behind) * around + further % behind * largest);
  }
  return sum + std::max(further * slowest, waiting);
}

// The best of all cuts, by trying each.
double best_of_all(const PipelineProblem& p, std::vector<PipelineStage> stages = {}) {
  const std::size_t layer = stages.empty() ? 0 : stages.back().last;
  const std::size_t gpu = stages.empty() ? 0 : p.submeshes[stages.back().submesh].last;
  if (layer == p.layers && gpu == p.gpus)
    return p.stages && *p.stages != stages.size() ? kInfinity : time_by_hand(p, stages);
  double best = kInfinity;
  for (std::size_t m = 0; m < p.submeshes.size(); ++m) {
    if (p.submeshes[m].first != gpu) continue;
    for (std::size_t last = layer + 1; last <= p.layers; ++last) {
      stages.push_back({layer, last, m});
      best = std::min(best, best_of_all(p, stages));
      stages.pop_back();
    }
  }
  return best;
}

// Times, memory and traffic at random, remembered in tables.
struct RandomProblem {
  std::map<std::vector<std::size_t>, double> known;
  std::mt19937 random;
  PipelineProblem p;

  RandomProblem(unsigned seed, bool traffic) : random(seed) {
    p.layers = 2 + random() % 4;
    p.gpus = 1 + random() % 4;
    p.micro_batches = 1 + static_cast<int>(random() % 6);
    p.all_in_flight = random() % 5 == 0;
    p.in_turn = random() % 2 == 0;
    if (random() % 4 == 0) p.stages = 1 + random() % 3;
    for (std::size_t first = 0; first < p.gpus; ++first) {
      for (std::size_t last = first + 1; last <= p.gpus; ++last) p.submeshes.push_back({first, last});
    }
    p.time = [this](std::size_t a, std::size_t b, std::size_t m) { return draw({0, a, b, m}, 1, 10); };
    p.most_in_flight = [this](std::size_t a, std::size_t b, std::size_t m) {
      return static_cast<int>(draw({1, a, b, m}, 0, 6));
    };
    if (traffic)
      p.traffic = [this](std::size_t l, std::size_t a, std::size_t b) {
        return Sending{draw({2, l, a, b}, 0, 8), draw({3, l, a, b}, 0, 12), draw({4, l, a, b}, 0, 3)};
      };
  }
  RandomProblem(const RandomProblem&) = delete;
  RandomProblem& operator=(const RandomProblem&) = delete;

  double draw(const std::vector<std::size_t>& key, double low, double high) {
    const auto [at, is_new] = known.try_emplace(key);
    if (is_new) at->second = std::uniform_real_distribution<double>(low, high)(random);
    return at->second;
  }
};

// Neighbours with the same number of GPUs are alike, but for the first and the last stage, as in a VM of equal GPUs.
TEST(InterOperator, OfSubmeshesThatAreAlikeOneIsAsked) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomProblem problem(seed, true);
    PipelineProblem& p = problem.p;
    for (const auto& submesh : p.submeshes) p.kinds.push_back(submesh.last - submesh.first);
    p.time = [&](std::size_t a, std::size_t b, std::size_t m) { return problem.draw({0, a, b, p.kinds[m]}, 1, 10); };
    p.most_in_flight = [&](std::size_t a, std::size_t b, std::size_t m) {
      return static_cast<int>(problem.draw({1, a, b, p.kinds[m]}, 0, 6));
    };
    const double best = best_of_all(p);
    const auto cut = cut_pipeline(p);
    ASSERT_EQ(cut.has_value(), std::isfinite(best)) << seed;
    if (!cut) continue;
    EXPECT_NEAR(cut->time, best, 1e-12 * best) << seed;
  }
}

// As the orders of a group's VMs are: each its own traffic, some of the times of others.
TEST(InterOperator, OfSeveralProblemsTheBestCutOfAllIsFound) {
  std::map<std::size_t, int> found;
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomProblem random(seed, true);
    std::vector<PipelineProblem> problems;
    double best = std::numeric_limits<double>::infinity();
    std::size_t best_of = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      PipelineProblem p = random.p;
      const auto kind = [&random, i](std::size_t m) { return m % 2 == 0 ? m : m + i * random.p.submeshes.size(); };
      for (std::size_t m = 0; m < p.submeshes.size(); ++m) p.kinds.push_back(kind(m));
      p.time = [&random, kind](std::size_t a, std::size_t b, std::size_t m) {
        return random.draw({0, a, b, kind(m)}, 1, 10);
      };
      p.most_in_flight = [&random, kind](std::size_t a, std::size_t b, std::size_t m) {
        return static_cast<int>(random.draw({1, a, b, kind(m)}, 0, 6));
      };
      p.traffic = [&random, i](std::size_t l, std::size_t a, std::size_t b) {
        return Sending{random.draw({2, i, l, a, b}, 0, 8), random.draw({3, i, l, a, b}, 0, 12)};
      };
      const double its = best_of_all(p);
      if (its < best) best_of = i;
      best = std::min(best, its);
      problems.push_back(p);
      problems.push_back(p);  // of equals the first is taken
    }
    const auto cut = cut_pipelines(problems);
    ASSERT_EQ(cut.has_value(), std::isfinite(best)) << seed;
    if (!cut) continue;
    EXPECT_EQ(cut->problem, 2 * best_of) << seed;
    EXPECT_NEAR(cut->cut.time, best, 1e-12 * best) << seed;
    EXPECT_DOUBLE_EQ(pipeline_time(problems[cut->problem], cut->cut.stages), cut->cut.time) << seed;
    ++found[cut->problem];
  }
  EXPECT_EQ(found.size(), 4);
}

TEST(InterOperator, FindsTheBestOfAllCuts) {
  int infeasible = 0;
  std::map<std::size_t, int> stages;
  for (const bool traffic : {false, true}) {
    for (unsigned seed = 0; seed < 300; ++seed) {
      RandomProblem problem(seed, traffic);
      const double best = best_of_all(problem.p);
      const auto cut = cut_pipeline(problem.p);
      ASSERT_EQ(cut.has_value(), std::isfinite(best)) << seed;
      infeasible += !cut;
      if (!cut) continue;
      EXPECT_NEAR(cut->time, best, 1e-12 * best) << seed;
      EXPECT_NEAR(time_by_hand(problem.p, cut->stages), best, 1e-12 * best);
      EXPECT_DOUBLE_EQ(pipeline_time(problem.p, cut->stages), cut->time);
      ++stages[cut->stages.size()];
    }
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GE(stages.size(), 3);
}

// `speeds` of GPUs in layers per second, one GPU per stage.
PipelineProblem one_gpu_stages(std::size_t layers, std::vector<double> speeds, int micro_batches) {
  PipelineProblem p;
  p.layers = layers;
  p.gpus = speeds.size();
  p.micro_batches = micro_batches;
  for (std::size_t g = 0; g < p.gpus; ++g) p.submeshes.push_back({g, g + 1});
  p.time = [speeds](std::size_t a, std::size_t b, std::size_t m) { return static_cast<double>(b - a) / speeds[m]; };
  return p;
}

TEST(InterOperator, SplitsLayersBySpeed) {
  // 12 layers on GPUs of speeds 1, 2 and 3: 2, 4 and 6 layers, each 2 s; with 4 micro-batches 3 x 2 + 3 x 2 s.
  const auto cut = cut_pipeline(one_gpu_stages(12, {1, 2, 3}, 4));
  EXPECT_EQ(cut->stages, (std::vector<PipelineStage>{{0, 2, 0}, {2, 6, 1}, {6, 12, 2}}));
  EXPECT_DOUBLE_EQ(cut->time, 12);
}

TEST(InterOperator, SplitsLayersByMemory) {
  // Two equal GPUs; the first must keep two micro-batches, the second one. Each layer of a micro-batch takes 1 of 6.
  PipelineProblem p = one_gpu_stages(9, {1, 1}, 8);
  p.most_in_flight = [](std::size_t a, std::size_t b, std::size_t) { return static_cast<int>(6 / (b - a)); };
  EXPECT_EQ(cut_pipeline(p)->stages, (std::vector<PipelineStage>{{0, 3, 0}, {3, 9, 1}}));
  p.layers = 10;
  EXPECT_FALSE(cut_pipeline(p).has_value());
}

TEST(InterOperator, CutsWhereLittleTrafficCrosses) {
  // Equal halves would send 10 s of activations; one layer further there is next to nothing to send.
  PipelineProblem p = one_gpu_stages(8, {1, 1}, 4);
  EXPECT_EQ(cut_pipeline(p)->stages.front().last, 4);
  p.traffic = [](std::size_t layer, std::size_t, std::size_t) { return Sending{layer == 5 ? 0.1 : 10.0}; };
  EXPECT_EQ(cut_pipeline(p)->stages.front().last, 5);
}

// A pipeline of one-GPU stages `delay` apart, by the formula and simulated. With `wide` a further GPU, as far apart, repeats the
// first stage: both gather each gradient, of which each receives half. The formula lets the first micro-batches wait for a gather
// too, although they leave before any gradient.
void expect_time_of_simulator(int stages, int micro_batches, double delay, SendOrder order, bool wide) {
  Scenario scenario = small_scenario(stages + (wide ? 1 : 0), 1);
  for (auto& link : scenario.platform.links) link.forward.delay = link.backward.delay = Seconds{delay};
  scenario.training.batch = micro_batches;
  Plan plan = pipeline(stages, micro_batches);
  plan.by = OperatorPlan{.order = order};
  if (wide) plan.stages[0] = {0, 1, {0, stages}, {Sharding::kReplicated}, {0.5, 0.5}};
  const double simulated = end_of(plan, chain(stages), scenario), gathered = wide ? delay : 0;
  PipelineProblem p =
      one_gpu_stages(static_cast<std::size_t>(stages), std::vector<double>(stages, 1.0 / 3), micro_batches);
  p.time = [=, alone = p.time](std::size_t first, std::size_t last, std::size_t m) {
    return alone(first, last, m) + (first == 0 ? gathered : 0);
  };
  p.traffic = [=](std::size_t layer, std::size_t, std::size_t) { return Sending{delay, 0, layer == 1 ? gathered : 0}; };
  p.in_turn = order == SendOrder::kAlpa;
  std::vector<PipelineStage> cut;
  for (std::size_t s = 0; s < static_cast<std::size_t>(stages); ++s) cut.push_back({s, s + 1, s});
  const double formula = pipeline_time(p, cut), surplus = (stages - 2) * gathered;
  const std::string what =
      fmt::format("{} stages, {} micro-batches, {} s, {} {}", stages, micro_batches, delay, p.in_turn, wide);
  EXPECT_NEAR(formula, simulated, surplus + (delay == 0 || p.in_turn ? kClock : 0.12 * simulated)) << what;
  EXPECT_TRUE(!p.in_turn || formula > simulated - kClock) << what;
}

TEST(InterOperator, TimesPipelinesAsTheSimulatorDoes) {
  // Layers of 1 + 2 s per sequence. Exact without delay and where both ways of a boundary take turns; else forward passes may
  // overlap with the way back, which the formula leaves out: within 12 %.
  for (const int stages : {2, 3, 4}) {
    for (const int micro_batches : {1, 2, 4, 8}) {
      for (const double delay : {0.0, 0.5, 2.0, 10.0}) {
        expect_time_of_simulator(stages, micro_batches, delay, SendOrder::kAsynchronous, false);
        expect_time_of_simulator(stages, micro_batches, delay, SendOrder::kAlpa, false);
        expect_time_of_simulator(stages, micro_batches, delay, SendOrder::kAlpa, true);
      }
    }
  }
}

TEST(Clusters, AreTheLayersWithEmbeddingAndHead) {
  Transformer model = small_model(4);
  model.vocabulary = 1;
  const OperatorGraph operators = build_operator_graph(model);
  const auto starts = cluster_operators(operators, 4);
  ASSERT_EQ(starts.size(), 4);
  EXPECT_EQ(starts[0], 0);
  // Attention (8 S h^2 + 4 S^2 h) weighs less than the MLP (16 S h^2), so only cuts between layers are even.
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(operators[starts[i]].role, Role::kAttentionNorm);
}

TEST(Clusters, CutOnlyWhereOneActivationCrosses) {
  const OperatorGraph operators = build_operator_graph(small_model(2));
  for (const std::size_t start : cluster_operators(operators, 100)) {
    for (std::size_t v = 0; v + 1 < start; ++v) {
      for (const auto edge : boost::make_iterator_range(boost::out_edges(v, operators)))
        EXPECT_LT(boost::target(edge, operators), start) << name_of(operators[start].role);
    }
  }
}

// The least of what a clustering is judged by, over all of them, one operator at a time: bytes that cross between layers of no
// more than 1.6 times their share, then squares of work. Infinite where there is none.
std::pair<double, double> best_clustering(const OperatorGraph& operators, std::size_t layers) {
  const std::size_t count = boost::num_vertices(operators);
  std::vector<double> before = {0};
  for (std::size_t v = 0; v < count; ++v) before.push_back(before.back() + operators[v].matrix.flops());
  std::size_t farthest = 0;
  std::vector<double> crosses(count + 1, kInfinity);
  crosses[count] = 0;
  for (std::size_t v = 1; v < count; ++v) {
    for (const auto edge : boost::make_iterator_range(boost::out_edges(v - 1, operators)))
      farthest = std::max(farthest, boost::target(edge, operators));
    if (farthest <= v) crosses[v] = operators[v - 1].outputs;
  }
  const std::pair<double, double> never{kInfinity, kInfinity};
  std::vector<std::pair<double, double>> row(count + 1, never);
  row[0] = {0, 0};
  for (std::size_t n = 0; n < layers; ++n) {
    std::vector<std::pair<double, double>> next(count + 1, never);
    for (std::size_t begin = 0; begin < count; ++begin) {
      for (std::size_t end = begin + 1; end <= count && row[begin] < never; ++end) {
        const double work = before[end] - before[begin];
        if (work > 1.6 * before.back() / static_cast<double>(layers) || crosses[end] == kInfinity) continue;
        next[end] = std::min(next[end], {row[begin].first + crosses[end], row[begin].second + work * work});
      }
    }
    row = next;
  }
  return row[count];
}

TEST(Clusters, AreTheMostEvenOfThoseWithTheLeastBytes) {
  for (const int deep : {3, 8, 30, 61}) {
    for (const std::int64_t vocabulary : {1, 60, 700}) {
      Transformer model = small_model(deep);
      model.vocabulary = vocabulary;
      const OperatorGraph operators = build_operator_graph(model);
      for (const std::size_t layers : {2, 3, 7, 16, 48}) {
        const auto [bytes, squares] = best_clustering(operators, layers);
        if (std::isinf(bytes)) continue;
        auto starts = cluster_operators(operators, layers);
        ASSERT_EQ(starts.size(), layers);
        starts.push_back(boost::num_vertices(operators));
        double crossed = 0, sum = 0;
        for (std::size_t i = 0; i < layers; ++i) {
          if (i > 0) crossed += operators[starts[i] - 1].outputs;
          double work = 0;
          for (std::size_t v = starts[i]; v < starts[i + 1]; ++v) work += operators[v].matrix.flops();
          sum += work * work;
        }
        EXPECT_DOUBLE_EQ(crossed, bytes) << deep << " in " << layers;
        EXPECT_NEAR(sum, squares, 1e-12 * squares) << deep << " in " << layers;
      }
    }
  }
}

TEST(Clusters, AHeavyHeadIsALayerOfItsOwn) {
  Transformer model = small_model(2);
  model.vocabulary = 2000;  // 2 S h V = 640000 FLOPs; a layer is 67840
  const OperatorGraph operators = build_operator_graph(model);
  const auto starts = cluster_operators(operators, 2);
  EXPECT_TRUE(operators[starts[1]].role == Role::kFinalNorm || operators[starts[1]].role == Role::kHead);
}

}  // namespace
}  // namespace slmsim::inter_operator_test
