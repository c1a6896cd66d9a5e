// The queues in front of the emulated NIC, by hand.
#include "tests/wan/queue.h"

#include <gtest/gtest.h>

namespace slmsim::wan::queue_test {
namespace {

constexpr std::size_t kSize = 1500;
constexpr Nanoseconds kMilli = 1'000'000;

Packet packet(Slots& slots, Nanoseconds came) { return {came, slots.take(), kSize}; }

TEST(Fifo, DropsThePacketThatFindsItFullAndKeepsTheOrder) {
  Slots slots(kSize);
  const auto queue = make_fifo(slots, 2);
  for (Nanoseconds time : {1, 2, 3}) queue->put(0, packet(slots, time));
  EXPECT_EQ(queue->dropped(), 1);
  EXPECT_EQ(queue->take(9)->due, 1);
  EXPECT_EQ(queue->take(9)->due, 2);
  EXPECT_FALSE(queue->take(9));
}

TEST(FairQueue, FlowsTakeTurnsHoweverManyPacketsEachHas) {
  Slots slots(kSize);
  const auto queue = make_fair(slots);
  for (int i = 0; i < 100; ++i) queue->put(1, packet(slots, 1));
  for (int i = 0; i < 10; ++i) queue->put(2, packet(slots, 2));
  int of_second = 0;
  for (int i = 0; i < 20; ++i) of_second += queue->take(3)->due == 2;
  EXPECT_NEAR(of_second, 10, 1);
  EXPECT_EQ(queue->dropped(), 0);
}

TEST(FairQueue, DropsOnlyWhenAQueueStandsForAnInterval) {
  Slots slots(kSize);
  const auto queue = make_fair(slots);
  // A packet comes and one goes every millisecond, each after 20 ms of waiting: above the target of 5 ms.
  for (Nanoseconds time = 0; time < 20; ++time) queue->put(1, packet(slots, time * kMilli));
  for (Nanoseconds time = 20; time < 120; ++time) {
    queue->put(1, packet(slots, time * kMilli));
    ASSERT_TRUE(queue->take(time * kMilli));
  }
  EXPECT_EQ(queue->dropped(), 0);
  for (Nanoseconds time = 120; time < 130; ++time) {
    queue->put(1, packet(slots, time * kMilli));
    ASSERT_TRUE(queue->take(time * kMilli));
  }
  EXPECT_EQ(queue->dropped(), 1);
}

}  // namespace
}  // namespace slmsim::wan::queue_test
