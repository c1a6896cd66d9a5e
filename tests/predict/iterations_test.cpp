// A job's time follows from a few simulated iterations exactly.
#include "sim/predict/iterations.h"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/predict.h"
#include "sim/technique/common/lower.h"
#include "sim/technique/common/technique.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::iterations_test {
namespace {

struct Job {
  Scenario scenario;
  OperatorGraph operators;
  Network network;
  Plan plan;

  Job(const std::string& slice, const Technique* technique, std::size_t group, double loss = 0)
      : scenario(load_scenario(std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios" / (slice + ".yaml"),
                               overrides(slice, loss))),
        operators(build_operator_graph(scenario.models.front())),
        network(scenario.platform) {
    for (const auto& options : scenario.techniques) {
      if (options.technique == technique)
        plan = *make_plan({scenario, scenario.models.front(), operators, scenario.groups[group], options}).plan;
    }
  }

  static Overrides overrides(const std::string& slice, double loss) {
    if (slice == "tacc-tacc") return {"models=gpt2m"};  // one site
    return {"models=gpt2m", fmt::format("platform.links.wan.loss={}", loss)};
  }

  TaskGraph graph(int iterations = 1) const { return repeated(lowered(plan, operators, scenario), iterations); }
};

void expect_k_iterations_equal_the_extrapolation(const std::string& slice, const Technique* technique,
                                                 std::size_t group, int k) {
  const Job job(slice, technique, group);
  const double together = simulate(job.graph(k)).end.value;
  const double extrapolated = simulate_iterations(job.graph(1)).total(k).value;
  EXPECT_NEAR(together / extrapolated, 1.0, 1e-9) << slice << " " << technique->name;
}

TEST(Iterations, SimulatedTogetherEqualTheExtrapolation) {
  constexpr std::size_t kAllVms = 0, kFirstVm = 1;
  for (const Technique* technique : {named("Data"), named("ZeRO2"), named("Pipeshard")}) {
    for (const char* slice : {"tacc-tacc", "utah-mass", "bris-star", "gat-amst"})
      expect_k_iterations_equal_the_extrapolation(slice, technique, kAllVms, 7);
    expect_k_iterations_equal_the_extrapolation("gat-amst", technique, kFirstVm, 7);
  }
  expect_k_iterations_equal_the_extrapolation("gat-amst", named("Shard"), kAllVms, 4);
}

TEST(Iterations, RepeatOnEverySliceSoThatNothingIsAssumed) {
  for (const char* slice : {"tacc-tacc", "utah-gpn", "utah-mass", "bris-star", "gat-amst"}) {
    for (const Technique* technique : {named("Data"), named("ZeRO2"), named("Shard"), named("Pipeshard")}) {
      EXPECT_TRUE(simulate_iterations(Job(slice, technique, 0).graph(1)).repeats) << slice << " " << technique->name;
    }
  }
}

// Where segments are lost no iteration is like another; their mean is known to 1/2 % of itself, the first one exactly.
TEST(Iterations, SettleWhereSegmentsAreLost) {
  for (const Technique* technique : {named("Data"), named("Pipeshard")}) {
    const Job job("gat-amst", technique, 0, 1e-5);
    const IterationTimes times = simulate_iterations(job.graph(1));
    EXPECT_FALSE(times.repeats);
    EXPECT_GE(times.spread, 0.005);
    EXPECT_NEAR(simulate(job.graph(20)).end.value / times.total(20).value, 1.0, 0.02) << technique->name;
  }
}

// Where they differ in how far the next loss is alone, an iteration is that before it: each of them simulated tells the same.
TEST(Iterations, AreThoseThatAreSimulatedOneAfterTheOther) {
  for (const double loss : {1e-3, 1e-4, 1e-5, 1.2e-6}) {
    for (const Technique* technique : {named("Data"), named("Pipeshard")}) {
      const TaskGraph graph = Job("gat-amst", technique, 0, loss).graph();
      const IterationTimes times = simulate_iterations(graph);
      Timeline last;
      for (const Seconds time : times.times) {
        last = simulate(graph, last.connections);
        EXPECT_NEAR(time / last.end, 1, 1e-9) << technique->name << " " << loss;
      }
      ASSERT_EQ(times.last.connections.size(), last.connections.size());
      for (std::size_t i = 0; i < last.connections.size(); ++i) {
        const TcpState &a = times.last.connections[i].tcp, &b = last.connections[i].tcp;
        EXPECT_NEAR(a.since_loss, b.since_loss, 1e-9 * b.since_loss);
        EXPECT_NEAR(a.window, b.window, 1e-9 * b.window);
      }
    }
  }
}

// Slow start leaves 16.8 MB, which fill the path; one segment of 200,000 is lost, less than one in an iteration, and leaves some
// 2 MB. Until windows have come down so far the link's rate is all that iterations take, so that several agree.
TEST(Iterations, AreNotSettledWhileWindowsFall) {
  for (const double rate : {60e6, 80e6, 100e6}) {
    TaskGraph graph({{"link", BytesPerSecond{rate}}}, 8);
    Route route;
    route.links = {0};
    route.latency = Seconds{0.0287};
    route.windowed = true;
    route.window = {.initial = Bytes{14480}, .steady = Bytes{16.8e6}, .rtt = Seconds{0.0574}};
    route.window.segment = Bytes{1448};
    route.window.loss = 5e-6;
    route.window.congestion_control = CongestionControl::kCubic;
    graph.transfer(graph.add_connection({0, 1, 1, route}), Bytes{185e6}, graph.tag({.name = "send"}), {});
    constexpr int kMany = 80;
    double sum = 0;
    Timeline one;
    for (int i = 0; i < kMany; ++i) {
      one = simulate(graph, one.connections);
      sum += one.end.value;
    }
    const IterationTimes times = simulate_iterations(graph);
    EXPECT_GT(sum / kMany, 1.5 * times.first().value);
    EXPECT_LE(sum / kMany, times.steady().value * (1 + times.spread)) << rate;
    EXPECT_GE(sum / kMany, times.steady().value * (1 - times.spread)) << rate;
  }
}

// One loss in thousands of iterations is none, also while windows grow.
TEST(Iterations, AreThoseWithoutLossWhereHardlyAnySegmentIsLost) {
  const auto iteration = [](const char* loss) {
    const Scenario scenario = load_scenario(std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios/gat-amst.yaml",
                                            {"models=gpt2m", "groups=all", "techniques={OneBitAdam: {warm_up: 10}}",
                                             std::string("platform.links.wan.loss=") + loss});
    return predict(scenario).front().iteration.value;
  };
  EXPECT_NEAR(iteration("1e-12") / iteration("0"), 1, 1e-9);
}

// 4 MB are 2762 segments of 1448 B, of which 276.2 are lost at 10 %: 1 / sqrt(276.2) = 6.0 %. Where the GPU computes first for
// nine times as long, a tenth of that.
TEST(Iterations, VaryByAsManyRandomLosses) {
  Route route;
  route.links = {0};
  route.latency = Seconds{0.025};
  route.windowed = true;
  route.window = {.initial = Bytes{14480}, .steady = Bytes{6e6}, .rtt = Seconds{0.05}};
  route.window.segment = Bytes{1448};
  route.window.loss = 0.1;
  const auto times = [&](double computation) {
    TaskGraph graph({{"link", BytesPerSecond{1e8}}}, 2);
    const TaskId before = graph.compute(0, Seconds{computation}, graph.tag({.name = "compute"}), {});
    graph.transfer(graph.add_connection({0, 1, 1, route}), Bytes{4e6}, graph.tag({.name = "send"}), std::array{before});
    return simulate_iterations(graph);
  };
  const IterationTimes alone = times(0);
  EXPECT_FALSE(alone.repeats);
  EXPECT_NEAR(alone.spread, 0.060, 0.001);
  EXPECT_NEAR(times(9 * alone.steady().value).spread, 0.0060, 0.0005);
}

// Times that follow each other as 0.9 of what the last one was off: the mean of n varies by 19 / n of the variance of one
// (1 + 0.9) / (1 - 0.9). Times in any order vary by 1 / n.
TEST(Iterations, AnErrorCountsWhatFollowsALossOnce) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto told = [&](double kept) {
    constexpr int kCount = 4000, kRuns = 200;
    double sum = 0;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<Seconds> times;
      double off = normal(random);
      for (int i = 0; i < kCount; ++i) {
        times.push_back(Seconds{100 + off});
        off = kept * off + std::sqrt(1 - kept * kept) * normal(random);
      }
      sum += std::pow(error_of_mean(times), 2) / kRuns;
    }
    return std::sqrt(sum) / 2 * 100 * std::sqrt(kCount);
  };
  EXPECT_NEAR(told(0), 1, 0.1);
  EXPECT_NEAR(told(0.9), std::sqrt(19), 0.4);
}

TEST(Iterations, TheFirstOneIsColdOverAWan) {
  const Job job("utah-mass", named("Pipeshard"), 0);
  const IterationTimes times = simulate_iterations(job.graph(1));
  EXPECT_GE(times.first(), times.steady());
  EXPECT_GE(times.times.size(), 2u);
}

TEST(Iterations, AreAllAlikeWithoutAWan) {
  const Job job("tacc-tacc", named("Data"), 0);
  const IterationTimes times = simulate_iterations(job.graph(1));
  EXPECT_EQ(times.times.size(), 1u);
  EXPECT_EQ(times.spread, 0);
}

TEST(Iterations, TotalOfACycleIsItsSum) {
  // 5 s once, then 1 s and 2 s in turn: 5 1 2 1 2 1 ...
  IterationTimes times;
  times.times = {Seconds{5}, Seconds{1}, Seconds{2}};
  times.cycle_start = 1;
  EXPECT_DOUBLE_EQ(times.total(1).value, 5);
  EXPECT_DOUBLE_EQ(times.total(3).value, 8);
  EXPECT_DOUBLE_EQ(times.total(4).value, 9);
  EXPECT_DOUBLE_EQ(times.total(101).value, 5 + 50 * 3);
  EXPECT_DOUBLE_EQ(times.steady().value, 1.5);
}

}  // namespace
}  // namespace slmsim::iterations_test
