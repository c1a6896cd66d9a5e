// GPUs that reach each other through host memory exchange and compute in turn, those that reach each other directly at once.
#include <gtest/gtest.h>

#include "tests/small_world.h"

namespace slmsim::turns_test {
namespace {

struct Times {
  double all, computation, exchange;
};

Times times(const std::string& technique, bool peer_to_peer) {
  const auto end = [&](double rate, std::initializer_list<TaskClass> left_out) {
    Scenario scenario = small_scenario(1, 2, rate);
    scenario.platform.vms.front().type.peer_to_peer = peer_to_peer;
    scenario.platform.vms.front().type.pcie_share = 1;
    scenario.training.batch = 8;
    const Transformer model = small_model(4);
    const OperatorGraph operators = build_operator_graph(model);
    TaskGraph graph = lowered(plan_of(scenario, model, operators, written(technique)), operators, scenario);
    for (const TaskClass of : left_out) graph.scale(of, 0);
    return simulate(graph).end.value;
  };
  return {end(20, {}), end(1e15, {}),
          end(20, {TaskClass::kForward, TaskClass::kBackward, TaskClass::kOptimizer, TaskClass::kBuffer})};
}

TEST(Turns, AreTakenThroughHostMemory) {
  for (const char* technique : {"{DDP: {bucket: 4 KiB}}", "ZeRO-1", "ZeRO-2", "ZeRO-3", "FSDP"}) {
    const Times t = times(technique, false);
    EXPECT_GT(t.exchange, 0.1 * t.computation) << technique;
    EXPECT_NEAR(t.all, t.computation + t.exchange, 1e-3 * t.all) << technique;
  }
}

TEST(Turns, AreNotTakenBetweenPeers) {
  for (const char* technique : {"{DDP: {bucket: 4 KiB}}", "ZeRO-3", "FSDP"}) {
    const Times t = times(technique, true);
    EXPECT_LT(t.all, 0.95 * (t.computation + t.exchange)) << technique;
  }
}

}  // namespace
}  // namespace slmsim::turns_test
