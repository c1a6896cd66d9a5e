// The chain of tasks an iteration's end waited for, on graphs by hand.
#include <array>

#include <gmock/gmock.h>

#include "sim/explain/limits.h"
#include "tests/small_world.h"

namespace slmsim::critical_path_test {
namespace {

using testing::ElementsAre;

// Two devices joined by connections that move 100 B/s and take 1 s.
struct World {
  World() : graph({{"there", BytesPerSecond{100}}, {"back", BytesPerSecond{100}}}, 2) {
    Route route;
    route.latency = Seconds{1};
    route.links = {0};
    route.socket_rate = BytesPerSecond{1e9};
    there = graph.add_connection({0, 1, 1, route});
    route.links = {1};
    route.socket_rate = BytesPerSecond{0};
    back = graph.add_connection({1, 0, 1, route});
  }
  TaskGraph graph;
  int there = 0, back = 0;
};

TEST(CriticalPath, FollowsTheLaterOfTwoPredecessors) {
  World w;
  const TaskId quick = w.graph.compute(0, Seconds{1}, w.graph.tag({"work", TaskClass::kForward}), {});
  const TaskId slow = w.graph.compute(1, Seconds{2}, w.graph.tag({"work", TaskClass::kForward}), {});
  const TaskId last = w.graph.delay({0}, 0, std::array{quick, slow});
  EXPECT_THAT(critical_path(w.graph, simulate(w.graph)), ElementsAre(slow, last));
}

TEST(CriticalPath, CountsTheLatencyOfWhatWasWaitedFor) {
  World w;
  const TaskId there = w.graph.transfer(w.there, Bytes{100}, 0, {});
  const TaskId back = w.graph.transfer(w.back, Bytes{100}, 0, std::array{there});
  const Timeline timeline = simulate(w.graph);
  const auto path = critical_path(w.graph, timeline);
  EXPECT_THAT(path, ElementsAre(there, back));
  const PathLatencies latencies = latencies_of(w.graph, timeline, path);
  EXPECT_EQ(latencies.between_vms, 1);  // the one with sockets
  EXPECT_EQ(latencies.inside_vms, 1);
  EXPECT_EQ(latencies.sum.value, 2);
}

TEST(CriticalPath, DoesNotCountALatencyThatTheNextMessageDidNotWaitFor) {
  World w;
  const TaskId first = w.graph.transfer(w.there, Bytes{300}, 0, {});
  const TaskId second = w.graph.transfer(w.there, Bytes{100}, 0, {});  // queues behind it
  const Timeline timeline = simulate(w.graph);
  const auto path = critical_path(w.graph, timeline);
  EXPECT_THAT(path, ElementsAre(first, second));
  EXPECT_EQ(latencies_of(w.graph, timeline, path).between_vms, 1);
  EXPECT_EQ(latencies_of(w.graph, timeline, path).sum.value, 1);
}

TEST(CriticalPath, OfNothingIsEmpty) { EXPECT_TRUE(critical_path(TaskGraph({}, 1), {}).empty()); }

TEST(WhatIfGraph, TakesAwayLatencyOrComputation) {
  World w;
  const TaskId there = w.graph.transfer(w.there, Bytes{100}, 0, {});
  const TaskId work = w.graph.compute(1, Seconds{4}, w.graph.tag({"work", TaskClass::kForward}), std::array{there});
  w.graph.compute(1, Seconds{8}, w.graph.tag({"adam", TaskClass::kOptimizer}), std::array{work});
  EXPECT_NEAR(simulate(w.graph).end.value, 14, kClock);
  w.graph.scale(TaskClass::kForward, 0.5);
  EXPECT_NEAR(simulate(w.graph).end.value, 12, kClock);
  w.graph.remove_latency();
  EXPECT_NEAR(simulate(w.graph).end.value, 11, kClock);
}

TEST(WhatIfGraph, TellsKernelsFromLatencies) {
  World w;
  const TaskId kernels = w.graph.delay(Seconds{3}, w.graph.tag({"kernels", TaskClass::kKernels}), {});
  const TaskId latency = w.graph.delay(Seconds{5}, w.graph.tag({.name = "way"}), std::array{kernels});
  const Timeline timeline = simulate(w.graph);
  EXPECT_NEAR(timeline.end.value, 8, kClock);
  EXPECT_EQ(latencies_of(w.graph, timeline, {kernels, latency}).sum.value, 5);
  w.graph.remove_latency();
  EXPECT_NEAR(simulate(w.graph).end.value, 3, kClock);
  w.graph.scale(TaskClass::kKernels, 0);
  EXPECT_EQ(simulate(w.graph).end.value, 0);
}

}  // namespace
}  // namespace slmsim::critical_path_test
