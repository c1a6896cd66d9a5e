// A collective by itself, against hand calculation.
#include "sim/collective/alone.h"

#include <gtest/gtest.h>

#include "tests/small_world.h"

namespace slmsim::alone_test {
namespace {

// Four GPUs at 100 B/s: an all-reduce of 400 B takes 6 steps of 100 B.
std::optional<Alone> four(const std::optional<Beside>& beside = {}) {
  const Scenario scenario = small_scenario(1, 4, 100);
  const Network network(scenario.platform);
  return run_alone(network, scenario.nccl_setup(), {0, 1, 2, 3}, {Collective::kAllReduce, Bytes{400}}, beside);
}

TEST(Alone, AnAllReduceTakesItsSteps) {
  const auto alone = four();
  ASSERT_TRUE(alone);
  EXPECT_NEAR(alone->length.value, 6, kClock);
  ASSERT_EQ(alone->inside.exchanges.size(), 1U);
  EXPECT_EQ(alone->inside.exchanges.front().length, alone->length.value);
  ASSERT_EQ(alone->inside.transferring.size(), 1U);  // one step after the other
  EXPECT_NEAR(alone->inside.transferring.front().length, 6, kClock);
  EXPECT_TRUE(alone->inside.computing.empty());
}

TEST(Alone, EveryConnectionCarriesItsPart) {
  const auto alone = four();
  ASSERT_TRUE(alone);
  std::vector<double> bytes(alone->crossed.size());
  for (const Inside::Transfer& one : alone->inside.transfers) bytes[one.connection] += one.bytes;
  EXPECT_EQ(bytes, std::vector<double>(4, 600));  // 2 x 3/4 x 400 B
}

TEST(Alone, TheLaterOfBothCounts) {
  // Memory bounds it, so that it does not miss the multiprocessors that the collective holds.
  const auto shorter = four(Beside{Seconds{2}, {}}), longer = four(Beside{Seconds{9}, {}});
  ASSERT_TRUE(shorter && longer);
  EXPECT_NEAR(shorter->length.value, 6, kClock);
  EXPECT_NEAR(longer->length.value, 9, kClock);
  ASSERT_EQ(longer->inside.computing.size(), 1U);
  EXPECT_NEAR(longer->inside.computing.front().length, 9, kClock);
}

}  // namespace
}  // namespace slmsim::alone_test
