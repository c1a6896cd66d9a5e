// How operators are divided over a mesh: against all combinations, with costs written down anew, and against
// Megatron-LM's and data parallelism's known divisions.
#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include <boost/range/iterator_range.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planned.h"
#include "sim/technique/alpa/planner/intra_operator.h"
#include "sim/technique/alpa/stage_program.h"
#include "tests/small_world.h"

namespace slmsim::division_test {
namespace {

constexpr Division kB(Sharding::kBatch);
const Training kTraining;  // fp16

IntraOperatorRequest request_for(const OperatorGraph& operators, MeshShape shape, double sequences) {
  return {operators, 0, boost::num_vertices(operators), shape, sequences, kTraining, alpa_costs(shape)};
}

// A mesh of two rows and two columns: of operators divided over columns alone, a row repeats the other.
TEST(Division, IsToldWhereGpusOnlyRepeat) {
  const auto remarks = [](Division division) {
    Plan plan;
    plan.technique = technique_table().front();
    plan.stages = {{.last = 2, .mesh = {0, 1, 2, 3}, .shardings = {Division(), division}, .columns = 2}};
    return remarks_on_division(plan);
  };
  const std::string name(technique_table().front()->name);
  EXPECT_THAT(remarks({Sharding::kReplicated, Sharding::kColumn}),
              testing::ElementsAre(testing::StartsWith("2 of " + name + "'s 4 GPUs only repeat")));
  EXPECT_THAT(remarks({}), testing::ElementsAre(testing::StartsWith("3 of " + name + "'s 4 GPUs only repeat")));
  EXPECT_THAT(remarks({Sharding::kBatch, Sharding::kColumn}), testing::IsEmpty());
}

TEST(AlpaCost, FollowsAlpasFormulasOnTheFlattenedMesh) {
  // 4 x 1, 1000 B: a = max(1, 1), b = min(1, 0.1).
  const MeshShape shape{4, 1};
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kAllGather, Bytes{1000}}, shape), 1 + 0.1 * 750 + 0.1);
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kAllReduce, Bytes{1000}}, shape), 1 + 0.1 * 1500 + 0.01);
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kReduceScatter, Bytes{1000}}, shape), 1 + 0.1 * 750 + 0.001);
  // b (n-1)/n^2 x n/2 = 0.1 x 3/16 x 1000 x 2
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kAllGather, Bytes{1000}, kAllAxes, true}, shape), 1 + 37.5 + 0.001);
}

TEST(AlpaCost, KnowsOnlyAnAxisInsideHostsAndOneBetweenThem) {
  const MeshShape shape{2, 2};
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kAllReduce, Bytes{1000}, 1}, shape), 1 + 1000 + 0.01);
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kAllReduce, Bytes{1000}, 2}, shape), 1 + 100 + 0.01);
  EXPECT_DOUBLE_EQ(alpa_cost({Collective::kAllReduce, Bytes{1000}, 3}, shape), 2 + 1100 + 0.02);
}

// Alpa's cost of a division along one axis, written down anew for the operators of a GPT-2.
class ByHand {
 public:
  ByHand(const OperatorGraph& operators, std::size_t first, std::size_t last, double n, double sequences)
      : g_(operators), first_(first), last_(last), n_(n), b_(sequences) {}

  // Possible divisions of an operator: R(eplicated), B(atch), C(olumn), W (row).
  std::string options(std::size_t v) const {
    const std::string name = name_of(g_[v].role);
    const bool batch = std::fmod(b_, n_) == 0, heads = divides(g_[v].columns);
    const std::string maybe_batch = batch ? "B" : "";
    if (name == "norm 1" || name == "norm 2" || name == "final norm") return "R" + maybe_batch;
    if (name == "scores" || name == "values") return heads ? maybe_batch + "C" : batch ? "B" : "R";
    if (g_[v].kind == OperatorKind::kMatrix) {
      const std::string all = maybe_batch + (divides(g_[v].columns) ? "C" : "") + (divides(g_[v].rows) ? "W" : "");
      return all.empty() ? "R" : all;
    }
    if (name == "embedding")
      return "R" + maybe_batch + (divides(g_[v].columns) ? "C" : "") + (divides(g_[v].rows) ? "W" : "");
    return "R" + maybe_batch + (divides(g_[v].columns) ? "C" : "");
  }

  double cost(const std::string& how) const {
    double sum = 0;
    const bool tied = first_ == 0 && how.size() == boost::num_vertices(g_) && g_[how.size() - 2].parameters == 0;
    for (std::size_t v = first_; v < last_; ++v) {
      const Operator& op = g_[v];
      const char s = how[v - first_];
      if (s == 'W') sum += reduce(op.outputs * b_ * 2);
      if (s == 'C' && op.kind == OperatorKind::kLoss) sum += reduce(4 * op.tokens * b_) + reduce(8 * op.tokens * b_);
      if (s == 'C' && op.kind == OperatorKind::kMatrix && op.weights > 0) sum += reduce(op.inputs * b_ * 2);
      if (s == 'B' && op.weights > 0 && !(tied && (op.role == Role::kEmbedding || op.role == Role::kHead)))
        sum += reduce(op.weights * 2);
      for (const auto edge : boost::make_iterator_range(boost::in_edges(v, g_))) {
        const std::size_t u = boost::source(edge, g_);
        if (u < first_) continue;
        const char made = how[u - first_] == 'W' ? 'R' : how[u - first_];
        const char read = s == 'C' && op.weights > 0 ? 'R' : s == 'W' ? 'C' : s;
        sum += move(made, read, g_[u].outputs * b_ * 2) + move(read, made, g_[u].outputs * b_ * 2);
      }
    }
    if (tied) {
      const char e = how[0], h = how[how.size() - 2];
      const bool cut_alike = (e == 'W' && h == 'C') || (e == 'C' && h == 'W');
      const bool whole = (e == 'R' || e == 'B') && (h == 'R' || h == 'B');
      if (!cut_alike && !whole) return std::numeric_limits<double>::infinity();
      if (e == 'B' || h == 'B') sum += reduce(g_[0].weights * 2);
    }
    return sum;
  }

  double cheapest(std::string how = "") const {
    if (how.size() == last_ - first_) return cost(how);
    double best = std::numeric_limits<double>::infinity();
    for (const char option : options(first_ + how.size())) best = std::min(best, cheapest(how + option));
    return best;
  }

 private:
  bool divides(std::int64_t parts) const { return parts > 0 && parts % static_cast<int>(n_) == 0; }
  double reduce(double x) const { return 1 + 0.1 * 2 * (n_ - 1) / n_ * x + 0.01; }
  double move(char from, char to, double x) const {
    if (from == to || from == 'R') return 0;
    if (to == 'R') return 1 + 0.1 * (n_ - 1) / n_ * x + 0.1;
    return 1 + 0.1 * (n_ - 1) / n_ / n_ * x * (n_ / 2) + 0.001;
  }

  const OperatorGraph& g_;
  std::size_t first_, last_;
  double n_, b_;
};

std::string letters(const std::vector<Division>& shardings) {
  std::string text;
  for (const auto& division : shardings) text += "RBCW"[static_cast<std::size_t>(division.along[0])];
  return text;
}

TEST(Division, IsTheCheapestOfAllForAWholeModelOfOneLayer) {
  // One sequence at a time: no batch. Vocabularies that divide by 4, by 2 and not at all.
  for (const int vocabulary : {100, 102, 101}) {
    for (const bool tied : {true, false}) {
      for (const int gpus : {2, 4}) {
        Transformer model = small_model(1, tied);
        model.heads = model.kv_heads = 4;
        model.vocabulary = vocabulary;
        const OperatorGraph operators = build_operator_graph(model);
        const auto plan = divide_operators(request_for(operators, {gpus, 1}, 1));
        const ByHand by_hand(operators, 0, boost::num_vertices(operators), gpus, 1);
        EXPECT_TRUE(plan.optimal);
        EXPECT_NEAR(plan.cost, by_hand.cheapest(), 1e-6 * plan.cost) << vocabulary << " " << gpus;
        EXPECT_NEAR(by_hand.cost(letters(plan.shardings)), plan.cost, 1e-9 * plan.cost);
      }
    }
  }
}

TEST(Division, IsTheCheapestOfAllForBlocksWhoseSequencesMayBeDivided) {
  std::set<std::string> found;
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{1, 8}, {8, 13}, {12, 16}}) {
    for (const int hidden : {16, 64}) {
      for (const double sequences : {2.0, 4.0, 16.0, 64.0}) {
        Transformer model = small_model(1);
        model.heads = model.kv_heads = 4;
        model.hidden = hidden;
        const OperatorGraph operators = build_operator_graph(model);
        IntraOperatorRequest request = request_for(operators, {4, 1}, sequences);
        request.first = first;
        request.last = last;
        const auto plan = divide_operators(request);
        const ByHand by_hand(operators, first, last, 4, sequences);
        EXPECT_NEAR(plan.cost, by_hand.cheapest(), 1e-6 * plan.cost) << first << " " << hidden << " " << sequences;
        EXPECT_NEAR(by_hand.cost(letters(plan.shardings)), plan.cost, 1e-9 * plan.cost);
        found.insert(letters(plan.shardings));
      }
    }
  }
  EXPECT_GT(found.size(), 4);  // else the cases do not tell divisions apart
}

Transformer gpt(std::int64_t hidden, std::int64_t layers, std::int64_t sequence, std::int64_t vocabulary) {
  Transformer model = small_model(static_cast<int>(layers));
  model.hidden = hidden;
  model.heads = model.kv_heads = 16;
  model.intermediate = 4 * hidden;
  model.sequence = sequence;
  model.vocabulary = vocabulary;
  return model;
}

std::string named(const OperatorGraph& operators, const std::vector<Division>& shardings, int layer) {
  std::string text;
  for (std::size_t v = 0; v < shardings.size(); ++v) {
    if (operators[v].layer == layer)
      text += std::string(name_of(operators[v].role)) + " " + name_of(shardings[v]) + "\n";
  }
  return text;
}

TEST(Division, OfABlockOnOneSequenceIsMegatrons) {
  const OperatorGraph operators = build_operator_graph(gpt(1024, 2, 1024, 50304));
  for (const int gpus : {2, 4, 8}) {
    const auto plan = divide_operators(request_for(operators, {gpus, 1}, 1));
    for (const int layer : {0, 1}) {
      EXPECT_EQ(named(operators, plan.shardings, layer),
                "norm 1 replicated\nqkv column\nscores column\nsoftmax column\nvalues column\nprojection row\n"
                "residual 1 replicated\n"
                "norm 2 replicated\nmlp up column\ngelu column\nmlp down row\nresidual 2 replicated\n")
          << gpus << " GPUs";
    }
    EXPECT_EQ(named(operators, plan.shardings, -1), "embedding row\n");
    EXPECT_EQ(named(operators, plan.shardings, 2), "final norm replicated\nhead column\nloss column\n");

    // Two all-reduces forward and two backward per layer.
    Scenario scenario = small_scenario(1, gpus);
    std::vector<int> mesh(static_cast<std::size_t>(gpus));
    for (int i = 0; i < gpus; ++i) mesh[i] = i;
    Stage stage{0, plan.shardings.size(), mesh, plan.shardings, std::vector<double>(mesh.size(), 1.0 / gpus)};
    const StageProgram program = stage_program(operators, stage, 1, Recompute::kNone, scenario);
    const auto all_reduces = [](const std::vector<Segment>& segments, auto in_layer_0) {
      return std::count_if(segments.begin(), segments.end(), [&](const Segment& s) {
        return s.then && s.then->collective == Collective::kAllReduce && in_layer_0(s);
      });
    };
    // A stretch begins in the layer before where that ends without a collective.
    EXPECT_EQ(all_reduces(program.forward, [](const Segment& s) { return s.last_layer == 0; }), 2);
    EXPECT_EQ(all_reduces(program.backward, [](const Segment& s) { return s.first_layer == 0; }), 2);
  }
}

TEST(Division, OfManySequencesAndFewParametersIsDataParallelism) {
  const OperatorGraph operators = build_operator_graph(gpt(128, 3, 1024, 512));
  for (const int gpus : {2, 4, 8}) {
    const auto plan = divide_operators(request_for(operators, {gpus, 1}, 64));
    for (const auto& division : plan.shardings) EXPECT_EQ(division, kB);
  }
}

TEST(Division, AlongTwoAxesPutsSequencesOnTheFirst) {
  const OperatorGraph operators = build_operator_graph(gpt(1024, 2, 1024, 50304));
  const auto plan = divide_operators(request_for(operators, {2, 2}, 2));
  EXPECT_EQ(named(operators, plan.shardings, 0),
            "norm 1 batch\nqkv batch x column\nscores batch x column\nsoftmax batch x column\nvalues batch x column\n"
            "projection batch x row\nresidual 1 batch\n"
            "norm 2 batch\nmlp up batch x column\ngelu batch x column\nmlp down batch x row\nresidual 2 batch\n");
}

TEST(Division, LeavesWholeWhatDoesNotDivide) {
  // 6 heads and 101 words over 4 GPUs; the width of 96 divides.
  Transformer model = small_model(1);
  model.hidden = 96;
  model.heads = model.kv_heads = 6;
  model.intermediate = 384;
  model.vocabulary = 101;
  const OperatorGraph operators = build_operator_graph(model);
  const auto plan = divide_operators(request_for(operators, {4, 1}, 1));
  for (std::size_t v = 0; v < plan.shardings.size(); ++v) {
    const auto& [name, s] = std::pair{std::string(name_of(operators[v].role)), plan.shardings[v].along[0]};
    if (name == "scores" || name == "values") {
      EXPECT_EQ(s, Sharding::kReplicated);
    }
    if (name == "head") {
      EXPECT_EQ(s, Sharding::kRow);  // by its width
    }
    if (name == "embedding") {
      EXPECT_EQ(s, Sharding::kColumn);  // the same part of the table
    }
    if (name == "mlp up") {
      EXPECT_EQ(s, Sharding::kColumn);
    }
  }
}

TEST(Division, KeyValueHeadsLimitTheDivisionOfAttention) {
  Transformer model = small_model(1);
  model.heads = 4;
  model.kv_heads = 2;
  const OperatorGraph operators = build_operator_graph(model);
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
    if (operators[v].role != Role::kScores) continue;
    EXPECT_EQ(valid_divisions(operators[v], {2, 1}, 1).size(), 2);  // whole, or by heads
    EXPECT_EQ(valid_divisions(operators[v], {4, 1}, 1).size(), 1);
  }
}

TEST(Division, OneGpuDividesNothing) {
  const OperatorGraph operators = build_operator_graph(small_model(1));
  for (const auto& division : divide_operators(request_for(operators, {1, 1}, 4)).shardings)
    EXPECT_EQ(division, Division());
}

TEST(Division, OfLayersThatRepeatIsPlannedOnceAndAsGoodAsOfTheWhole) {
  for (const MeshShape shape : {MeshShape{4, 1}, MeshShape{2, 2}}) {
    for (const double sequences : {1.0, 8.0}) {
      for (const int layers : {1, 2, 3, 4}) {
        const OperatorGraph operators = build_operator_graph(gpt(256, layers, 128, 1000));
        const auto request = request_for(operators, shape, sequences);
        const auto once = division_program(request, true), each = division_program(request, false);
        const double whole = solve(each.program, Seconds{60}).cost;
        EXPECT_EQ(each.program.cost.size(), boost::num_vertices(operators));
        EXPECT_LE(once.program.cost.size(), 16);
        EXPECT_NEAR(*reduced_minimum(each.program), whole, 1e-6 * whole);
        const auto plan = divide_operators(request);
        EXPECT_TRUE(plan.optimal);
        EXPECT_NEAR(plan.cost, whole, 1e-6 * whole);
      }
    }
  }
}

TEST(Division, IsTheSameEachTime) {
  const OperatorGraph operators = build_operator_graph(gpt(256, 3, 128, 1000));
  const auto request = request_for(operators, {2, 2}, 4);
  EXPECT_EQ(divide_operators(request).shardings, divide_operators(request).shardings);
}

TEST(TimeCosts, AreThoseOfTheSlowestGpuWhateverItsName) {
  // A sequence of the chain's layer takes 1 s forward and 2 s backward at 200 B/s, twice that on the GPU with 100 B/s.
  Scenario scenario = small_scenario(1, 2);
  scenario.platform.devices[1].gpu.memory_bandwidth = BytesPerSecond{100};
  const Network network(scenario.platform);
  const PlanningCosts costs = time_costs(scenario, network, {0, 1}, {2, 1}, 2, 1);
  const OperatorGraph operators = chain(1);
  const ComputationCost cost = costs.compute(operators[0], Sharding::kBatch);
  EXPECT_DOUBLE_EQ(cost.forward, 2);
  EXPECT_DOUBLE_EQ(cost.backward, 4);
}

}  // namespace
}  // namespace slmsim::division_test
