// An iteration in which links change, by hand.
#include <array>

#include <gtest/gtest.h>

#include "sim/predict/job/link_day.h"
#include "sim/scenario/scenario.h"

namespace slmsim::step_change_test {
namespace {

// Two machines with a link of `bytes_per_second` between them, without TCP's windows.
Platform two_sites(double bytes_per_second, double delay) {
  Platform out = load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml").platform;
  for (WanDirection* way : {&out.links[0].forward, &out.links[0].backward}) {
    way->bandwidth = BytesPerSecond{bytes_per_second};
    way->delay = Seconds{delay};
    way->loss = 0;
  }
  return out;
}

class StepChange : public testing::Test {
 protected:
  // 10 s on one GPU, then 1 MB to the other site.
  TaskGraph compute_then_send(const Network& network) const {
    TaskGraph graph(network.links(), 4);
    const TagId tag = graph.tag({"x", TaskClass::kForward});
    const TaskId computed = graph.compute(0, Seconds{10}, tag, {});
    Route route = network.route(0, 2);
    route.windowed = false;  // of TCP here only the rate
    route.socket_rate = {};
    route.latency = Seconds{0};
    const int connection = graph.add_connection({.from = 0, .to = 2, .route = route});
    graph.transfer(connection, Bytes{1e6}, tag, std::array{computed});
    return graph;
  }

  const Network fast_{two_sites(1e6, 0)}, slow_{two_sites(0.25e6, 0)};
};

// Windows come back with the network that is moved to: these tests look at what a link's rate alone makes of it.
double end_of(const TaskGraph& graph) { return simulate(graph).end.value; }

TEST_F(StepChange, AfterTheEndChangesNothing) {
  const TaskGraph graph = compute_then_send(fast_);
  EXPECT_DOUBLE_EQ(end_of(graph), 11);
  EXPECT_DOUBLE_EQ(time_across(graph, slow_, {}, Seconds{12}).value, 11);
}

// While the GPU computes a change of the link costs what the whole transfer costs more, not its share.
TEST_F(StepChange, WhileAGpuComputesIsNotProportional) {
  const TaskGraph graph = compute_then_send(fast_);
  TaskGraph moved = graph;
  moved.move_to(slow_);
  const double slow = end_of(moved);
  for (const double when : {0.5, 5.0, 9.9})
    EXPECT_NEAR(time_across(graph, slow_, {}, Seconds{when}).value, slow, 1e-9) << when;
}

// From 2 s to 5 s four of ten multiprocessors are held: 6 s of computing take 7.2 s, whenever anything else changes.
TEST_F(StepChange, LeavesWhatKernelsHaveSlowedAsItWas) {
  TaskGraph graph(fast_.links(), 2);
  const TagId tag = graph.tag({"work", TaskClass::kForward});
  const TaskId from = graph.delay(Seconds{2}, tag, {}), until = graph.delay(Seconds{5}, tag, {});
  graph.hold(0, {4, 10}, tag, std::array{from});
  graph.release(0, {4, 10}, tag, std::array{until});
  graph.compute(0, Seconds{6}, tag, {}, {Flops{1}, 1});
  for (const double when : {1.0, 3.0, 6.0}) EXPECT_NEAR(time_across(graph, slow_, {}, Seconds{when}).value, 7.2, 1e-9);
}

// Half of the bytes have left after 10.5 s; the rest takes as long as half of the bytes by the other rate.
TEST_F(StepChange, InATransferLeavesTheBytesThatHaveNotLeft) {
  TaskGraph graph = compute_then_send(fast_);
  EXPECT_NEAR(time_across(graph, fast_, {}, Seconds{10.5}).value, 11, 0.3);  // fast_'s own windows from there on
  const double rest = time_across(graph, slow_, {}, Seconds{10.5}).value - 10.5;
  EXPECT_GE(rest, 0.5e6 / 0.25e6);
  EXPECT_LT(rest, 0.5e6 / 0.25e6 + 0.3);
}

// Four of five changes fall into computing: none of the transfer is done by then. The proportional time of a change at a share
// f is 11 f + T (1 - f), where T is the slow iteration; the true one is T until 10 s.
TEST_F(StepChange, HasTheExcessOfItsMean) {
  const TaskGraph graph = compute_then_send(fast_);
  TaskGraph moved = graph;
  moved.move_to(slow_);
  const Seconds slow{end_of(moved)};
  double sum = 0;
  for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) sum += slow.value - 11 * share - slow.value * (1 - share);
  EXPECT_NEAR(excess_of_change(graph, slow_, {}, Seconds{11}, slow, 5).value, sum / 5, 1e-9);
}

}  // namespace
}  // namespace slmsim::step_change_test
