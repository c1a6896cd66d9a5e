// A breakdown of an iteration whose neighbours take longer or less.
#include <gtest/gtest.h>

#include "sim/predict/measure.h"

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

}  // namespace
}  // namespace slmsim::breakdown_test
