#include "calibrate/netprobe/schedule.h"

#include <gmock/gmock.h>

#include "calibrate/netprobe/statistics.h"

namespace slmsim::calibrate::netprobe::schedule_test {
namespace {

using testing::ElementsAre;

TEST(Spread, IsThatOfTheSortedValues) {
  const Spread odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.count, 3);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.most, 5);
  EXPECT_EQ(spread_of({4, 1, 2, 8}).median, 3);  // between 2 and 4
  // Nearest rank: of ten the ninth, of eleven the tenth (0.9 x 11 = 9.9), of one the only.
  EXPECT_EQ(spread_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).p90, 9);
  EXPECT_EQ(spread_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).p90, 10);
  EXPECT_EQ(spread_of({7}).p90, 7);
  EXPECT_EQ(spread_of({}).count, 0);
}

TEST(UpperBound, OfWhatWasNotSeenIsThreeOverTheTrials) {
  // (1 - 3/300)^300 = 0.049: so rare an event is missed with 5 %.
  EXPECT_DOUBLE_EQ(upper_bound_of_none(300), 0.01);
  EXPECT_EQ(upper_bound_of_none(1), 1);
  EXPECT_EQ(upper_bound_of_none(0), 1);
}

TEST(Sizes, GoFrom64KilobytesToTheLargest) {
  EXPECT_THAT(curve_sizes(1e9), ElementsAre(64e3, 256e3, 1e6, 4e6, 16e6, 64e6, 256e6, 1e9));
  EXPECT_THAT(curve_sizes(16e6), ElementsAre(64e3, 256e3, 1e6, 4e6, 16e6));
  EXPECT_THAT(curve_sizes(5e6), ElementsAre(64e3, 256e3, 1e6, 4e6, 5e6));
  EXPECT_THAT(curve_sizes(64e3), ElementsAre(64e3));
}

TEST(Expected, GoesOnAtTheRateOfTheLastBytes) {
  // From 1 to 4 MB 3 s more: 1 MB/s, so 16 MB take 12 s more than 4 MB.
  EXPECT_DOUBLE_EQ(expected_seconds({1e6, 4e6}, {2, 5}, 16e6, 0.1), 17);
  // Nothing but the last is known: in proportion.
  EXPECT_DOUBLE_EQ(expected_seconds({1e6}, {2}, 4e6, 0.1), 8);
  EXPECT_DOUBLE_EQ(expected_seconds({}, {}, 64e3, 0.1), 0.4);
  // A latency that is paid once is not multiplied, and a faster larger message not extrapolated to nothing.
  EXPECT_DOUBLE_EQ(expected_seconds({1e6, 4e6}, {2, 1}, 16e6, 0.1), 1);
}

TEST(Repeats, ShareWhatIsLeft) {
  EXPECT_EQ(repeats_for(1, 12, 3, 5), 3);  // a quarter of 12 s
  EXPECT_EQ(repeats_for(1, 100, 3, 5), 5);
  EXPECT_EQ(repeats_for(10, 12, 3, 5), 1);  // more than its share, but it fits
  EXPECT_EQ(repeats_for(13, 12, 3, 5), 0);
  EXPECT_EQ(repeats_for(1, -1, 3, 5), 0);
}

TEST(WarmUp, IsTheLargestMessageWithinASecondOrTwentyRoundTrips) {
  const std::vector<double> sizes = {1, 2, 3}, seconds = {0.5, 1.5, 4};
  EXPECT_EQ(warm_up_bytes(sizes, seconds, 0.01), 1);
  EXPECT_EQ(warm_up_bytes(sizes, seconds, 0.1), 2);
  EXPECT_EQ(warm_up_bytes(sizes, seconds, 0.2), 3);
  EXPECT_EQ(warm_up_bytes({7}, {100}, 0.1), 7);  // some warm-up there must be
}

TEST(Budget, HandsOnWhatIsNotUsed) {
  Budget budget(100, 60, 3);
  EXPECT_DOUBLE_EQ(budget.next(100, 1), 20);
  EXPECT_DOUBLE_EQ(budget.next(110, 1), 25);  // 50 s for two parts
  EXPECT_DOUBLE_EQ(budget.next(150, 1), 10);
  EXPECT_DOUBLE_EQ(Budget(0, 60, 2).next(100, 1), 0);  // overdrawn
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe::schedule_test
