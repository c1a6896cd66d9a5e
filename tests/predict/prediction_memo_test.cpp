// Predictions with what earlier ones left against predictions that begin anew.
#include "sim/predict/prediction_memo.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/predict.h"
#include "sim/technique/common/technique.h"
#include "tests/small_world.h"

namespace slmsim::prediction_memo_test {
namespace {

Scenario load(const std::string& name, Overrides overrides) {
  overrides.push_back("models=gpt2m");
  return load_scenario(std::string(SLMSIM_SOURCE_DIR "/scenarios/") + name + ".yaml", overrides);
}

void expect_same(const std::vector<Prediction>& a, const std::vector<Prediction>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(std::string(a[i].technique->name) + " on " + group_text(a[i].group));
    EXPECT_EQ(a[i].status, b[i].status);
    EXPECT_EQ(a[i].job, b[i].job);
    EXPECT_EQ(a[i].iteration, b[i].iteration);
    EXPECT_EQ(a[i].breakdown.compute, b[i].breakdown.compute);
    EXPECT_EQ(a[i].breakdown.overhead, b[i].breakdown.overhead);
    EXPECT_EQ(a[i].connections, b[i].connections);
    ASSERT_EQ(a[i].memory.size(), b[i].memory.size());
    for (std::size_t gpu = 0; gpu < a[i].memory.size(); ++gpu) {
      EXPECT_EQ(a[i].memory[gpu].device, b[i].memory[gpu].device);
      EXPECT_EQ(a[i].memory[gpu].limit, b[i].memory[gpu].limit);
      EXPECT_EQ(a[i].memory[gpu].total(), b[i].memory[gpu].total());
    }
  }
}

// Distances, rates and losses with which graphs are kept, and other values with which they are not.
const std::vector<Overrides> kValues = {
    {},
    {"platform.links.wan.rtt=10ms"},
    {"platform.links.wan.rtt=0.1ms", "platform.links.wan.bandwidth=1Gbps"},
    {"platform.links.wan.rtt=57ms", "platform.links.wan.loss=0.001"},
    {"training.batch=16", "platform.links.wan.rtt=57ms"},
    {"platform.links.wan.rtt=80ms", "nccl.NCCL_MIN_NCHANNELS=4"},
    {"platform.links.wan.rtt=80ms",
     "techniques={Shard: {planner: slmsim}, Pipeshard: {planner: slmsim, stages: auto}}"},
    {"platform.links.wan.rtt=1ms", "techniques={Shard: {planner: slmsim}, Pipeshard: {planner: slmsim, stages: auto}}"},
    {"training.control_round_trips=0", "training.iteration_overhead=0s"},
    {"platform.links.wan.rtt=10ms"},
};

TEST(PredictionMemo, ChangesNoPrediction) {
  for (const char* name : {"gat-amst", "bris-star", "utah-gpn"}) {
    PredictionMemo memo;
    for (std::size_t i = 0; i < kValues.size(); ++i) {
      SCOPED_TRACE(std::string(name) + " with values " + std::to_string(i));
      const Scenario scenario = load(name, kValues[i]);
      expect_same(predict(scenario, {.memo = &memo}), predict(scenario));
    }
  }
}

TEST(PredictionMemo, ChangesNoPredictionWhereTcpsSettingsDiffer) {
  PredictionMemo memo;
  for (const char* value :
       {"tcp_wmem=1MiB", "tcp_wmem=64MiB", "tcp_slow_start_after_idle=no", "tcp_congestion_control=bbr"}) {
    SCOPED_TRACE(value);
    const std::string key = std::string(".type.tcp.net.ipv4.") + value;
    const Scenario scenario = load("gat-amst", {"platform.vms.gat" + key, "platform.vms.amst" + key});
    const auto& kept = memo.lowered_plans(scenario);
    EXPECT_EQ(kept.front().tasks() > 0, std::string(value) != "tcp_wmem=1MiB");
    expect_same(predict(scenario, {.memo = &memo}), predict(scenario));
  }
}

// a and b, and c and d, are far apart, then a and c, and b and d: the shortest cycle changes.
TEST(PredictionMemo, ChangesNoPredictionWhereRingsFollowDistances) {
  PredictionMemo memo;
  for (const int far : {1, 2}) {
    Scenario scenario = small_scenario(4, 1);
    for (auto& link : scenario.platform.links) {
      const bool is_far = link.from == 0 ? link.to == far : link.from + link.to == 6 - far;
      link.forward.delay = link.backward.delay = Seconds{is_far ? 1 : 0.01};
    }
    scenario.models = {small_model(1)};
    scenario.groups = {{{"a", "b", "c", "d"}, {0, 1, 2, 3}}};
    scenario.techniques = {{named("Data")}};
    scenario.training.batch = 4;
    scenario.training.epochs = 1;
    scenario.training.blocks_per_epoch = 4;
    scenario.nccl.ring_order = RingOrder::kByDistance;
    scenario.nccl.buffer = Bytes{1e6};
    const auto anew = predict(scenario);
    ASSERT_EQ(anew.front().status, Status::kOk) << anew.front().reason;
    expect_same(predict(scenario, {.memo = &memo}), anew);
  }
}

// Each plan's tasks have their own record of which are alike.
TEST(PredictionMemo, ChangesNoPredictionWherePlansFollowDistances) {
  PredictionMemo memo;
  std::vector<Plan> plans;
  for (const char* rtt : {"0.01ms", "3ms", "30ms", "300ms", "3ms"}) {
    SCOPED_TRACE(rtt);
    const Scenario scenario = load("gat-amst", {"platform.links.wan.rtt=" + std::string(rtt), "groups=all",
                                                "techniques={Pipeshard: {planner: slmsim, micro_batches: 4}}"});
    const auto with = predict(scenario, {.memo = &memo});
    expect_same(with, predict(scenario));
    plans.push_back(*with.front().plan);
  }
  EXPECT_TRUE(std::ranges::any_of(plans, [&](const Plan& plan) { return plan != plans.front(); }));
}

TEST(PredictionMemo, KeepsTasksWhereOnlyTheWideAreaChanged) {
  PredictionMemo memo;
  const Scenario near = load("bris-star", {"platform.links.wan.rtt=1ms"}), far = load("bris-star", {});
  predict(near, {.memo = &memo});
  const auto& kept = memo.lowered_plans(far);
  EXPECT_THAT(kept, testing::SizeIs(far.groups.size() * far.techniques.size()));
  EXPECT_THAT(kept, testing::Each(testing::Property(&LoweredPlan::tasks, testing::Gt(0u))));
  const auto& other = memo.lowered_plans(load("bris-star", {"training.batch=16"}));
  EXPECT_THAT(other, testing::Each(testing::Property(&LoweredPlan::tasks, 0u)));
  EXPECT_EQ(memo.lowered_plans(far).front().tasks(), memo.lowered_plans(near).front().tasks());
}

TEST(PredictionMemo, LowersTheSameGraphAgain) {
  const Scenario near = load("gat-amst", {"platform.links.wan.rtt=1ms"}), far = load("gat-amst", {});
  for (const Prediction& p : predict(near)) {
    SCOPED_TRACE(std::string(p.technique->name) + " on " + group_text(p.group));
    ASSERT_TRUE(p.plan);
    const OperatorGraph operators = build_operator_graph(near.models.front());
    const Network there(far.platform);
    TaskGraph graph = iteration_graph(near, near.models.front(), *p.plan);
    const LowerRequest request{*p.plan, operators, far, there};
    // A path decides how much of a pipeline's messages sockets keep.
    const bool sends = std::string(p.technique->name) == "Pipeshard" && p.group.size() > 1;
    ASSERT_EQ(p.plan->technique->lower_again(graph, request), !sends);
    if (sends) continue;
    const TaskGraph anew = p.plan->technique->lower(request).graph;
    ASSERT_EQ(graph.tasks().size(), anew.tasks().size());
    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
      ASSERT_EQ(graph.tasks()[id].amount, anew.tasks()[id].amount) << id;
      ASSERT_EQ(graph.tasks()[id].place, anew.tasks()[id].place) << id;
    }
    for (std::size_t i = 0; i < graph.connections().size(); ++i) {
      const Route &a = graph.connections()[i].route, &b = anew.connections()[i].route;
      EXPECT_EQ(a.links, b.links);
      EXPECT_EQ(a.latency, b.latency);
      EXPECT_EQ(a.window, b.window);
      EXPECT_EQ(a.windowed, b.windowed);
    }
    for (std::size_t i = 0; i < graph.links().size(); ++i)
      EXPECT_EQ(graph.links()[i].bandwidth, anew.links()[i].bandwidth);
  }
}

TEST(PredictionMemo, LowersAnewWhereTasksStandForLatencies) {
  const Scenario scenario = load("gat-amst", {});
  const Network network(scenario.platform);
  const OperatorGraph operators = build_operator_graph(scenario.models.front());
  const Prediction p = predict(scenario, {.only = named("Data")}).front();
  TaskGraph graph = iteration_graph(scenario, scenario.models.front(), *p.plan);
  graph.delay(Seconds{0.1}, 0, {});
  EXPECT_FALSE(p.plan->technique->lower_again(graph, {*p.plan, operators, scenario, network}));
}

}  // namespace
}  // namespace slmsim::prediction_memo_test
