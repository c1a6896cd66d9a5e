// A breakdown of an iteration: what a pipeline waits for; and one whose neighbours take longer or less.
#include <gtest/gtest.h>

#include "sim/predict/measure.h"
#include "tests/small_world.h"

namespace slmsim::breakdown_test {
namespace {

double sum(const Breakdown& b) {
  return (b.compute + b.exposed_communication + b.pipeline_bubble + b.optimizer + b.overhead).value;
}

const Breakdown kTwoWaits{Seconds{1}, Seconds{0.5}, Seconds{1.5}, Seconds{0.25}, Seconds{0.125}};

TEST(Breakdown, SharesLongerAndShorterWaitingInProportion) {
  for (const double more : {-1.0, 0.0, 2.0}) {
    Breakdown parts = kTwoWaits;
    wait_instead(parts, Seconds{more});
    EXPECT_NEAR(sum(parts), sum(kTwoWaits) + more, 1e-12);
    EXPECT_NEAR(parts.exposed_communication.value, 0.25 * (2 + more), 1e-12);
    EXPECT_NEAR(parts.pipeline_bubble.value, 0.75 * (2 + more), 1e-12);
    EXPECT_EQ(parts.compute, kTwoWaits.compute);
    EXPECT_EQ(parts.overhead, kTwoWaits.overhead);
  }
}

TEST(Breakdown, TakesFromOverheadWhatIsNoWaiting) {
  Breakdown parts = kTwoWaits;
  wait_instead(parts, Seconds{-2.0625});
  EXPECT_EQ(parts.exposed_communication.value, 0);
  EXPECT_EQ(parts.pipeline_bubble.value, 0);
  EXPECT_NEAR(parts.overhead.value, 0.0625, 1e-12);

  Breakdown busy{Seconds{1}, {}, {}, {}, Seconds{0.5}};
  wait_instead(busy, Seconds{-0.25});
  EXPECT_EQ(busy.exposed_communication.value, 0);
  EXPECT_EQ(busy.overhead.value, 0.25);
  wait_instead(busy, Seconds{1});
  EXPECT_EQ(busy.exposed_communication.value, 1);
}

TEST(Breakdown, TakesFromComputingWhatIsNoOverhead) {
  Breakdown parts{Seconds{1}, Seconds{0.5}, {}, Seconds{0.25}, Seconds{0.125}};
  wait_instead(parts, Seconds{-0.75});
  EXPECT_EQ(parts.exposed_communication.value, 0);
  EXPECT_EQ(parts.overhead.value, 0);
  EXPECT_EQ(parts.compute.value, 0.875);
  EXPECT_EQ(parts.optimizer.value, 0.25);
}

TEST(Breakdown, OfAPipelineCallsWaitingABubbleOnlyWhileAnotherGpuComputes) {
  // Stages of 1 + 2 s, 10 s between the second and the third. The first one computes from 0 to 1 and from 27 to 29 s, the second
  // from 1 to 2 and from 25 to 27 s, the third from 12 to 15 s; else a message of others is under way.
  Scenario scenario = small_scenario(3, 1);
  for (auto& link : scenario.platform.links) {
    if (link.from + link.to == 3) link.forward.delay = link.backward.delay = Seconds{10};
  }
  const TaskGraph graph = lowered(pipeline(3, 1), chain(3), scenario);
  const Timeline timeline = simulate(graph);
  EXPECT_NEAR(timeline.end.value, 29, kClock);
  const Breakdown first = break_down(graph, timeline, true, 0), second = break_down(graph, timeline, true, 1);
  EXPECT_NEAR(first.compute.value, 3, kClock);
  EXPECT_NEAR(first.pipeline_bubble.value, 6, kClock);
  EXPECT_NEAR(first.exposed_communication.value, 20, kClock);
  // The second one's own messages are under way from 2 to 12 and from 15 to 25 s.
  EXPECT_NEAR(second.pipeline_bubble.value, 6, kClock);
  EXPECT_NEAR(second.exposed_communication.value, 20, kClock);
}

}  // namespace
}  // namespace slmsim::breakdown_test
