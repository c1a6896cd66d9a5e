#include "calibrate/gpu/loop.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "fake_timer.h"

namespace slmsim::calibrate::loop_test {
namespace {

TEST(Summary, TakesTheMedianAndItsInterval) {
  // Ranks of the 95 % interval of a median, from tables of the binomial distribution (Conover, table A3; n = 9: the
  // 2nd and 8th value, 96.1 %; n = 20: the 6th and 15th, 95.9 %).
  EXPECT_EQ(interval_rank(5), 1);
  EXPECT_EQ(interval_rank(6), 1);
  EXPECT_EQ(interval_rank(9), 2);
  EXPECT_EQ(interval_rank(20), 6);
  const Summary summary = summary_of({9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(summary.median, 5);
  EXPECT_EQ(summary.low, 2);
  EXPECT_EQ(summary.high, 8);
  EXPECT_EQ(summary.least, 1);
  EXPECT_EQ(summary.most, 9);
}

TEST(Summary, KnowsTheIntervalOfManyValuesToo) {
  // n = 2500: (2500 - 1.96 x 50) / 2 = 1201
  EXPECT_EQ(interval_rank(2500), 1201);
  EXPECT_NEAR(interval_rank(1000), interval_rank(1001), 1);
}

TEST(Summary, CoversTheTrueMedianInNineteenOfTwentyCases) {
  std::mt19937 random(7);
  std::exponential_distribution<double> skewed(1);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 25; ++i) values.push_back(skewed(random));
    const Summary summary = summary_of(values);
    covered += summary.low <= std::log(2.0) && std::log(2.0) <= summary.high;
  }
  // At least 95 %; three standard deviations of 2000 trials are 1.5 %.
  EXPECT_GE(covered, kTrials * 0.935);
}

TEST(Summary, CountsOutliersAndKeepsThem) {
  // Median 10, absolute deviations 0, 1 and 90: median 1, so that beyond 5 x 1.4826 is far out.
  const Summary summary = summary_of({9, 10, 11, 9, 10, 11, 10, 11, 100});
  EXPECT_EQ(summary.outliers, 1);
  EXPECT_EQ(summary.most, 100);
  EXPECT_EQ(summary.count, 9);
}

TEST(Summary, NoticesDrift) {
  std::vector<double> steady;
  for (int i = 0; i < 100; ++i) steady.push_back(1 + 0.01 * (i * 37 % 100));
  EXPECT_FALSE(summary_of(steady).drift);
  // The same values in order: the halves' medians are 0.5 apart, the interval (ranks 40 and 61) is 0.21 wide.
  std::vector<double> slow;
  for (int i = 0; i < 100; ++i) slow.push_back(1 + 0.01 * i);
  EXPECT_TRUE(summary_of(slow).drift);
}

TEST(Loop, StopsAsSoonAsTheMedianIsKnown) {
  FakeTimer timer([](int) { return 1e-3; });
  const Measurement measured = measure(timer, {});
  EXPECT_DOUBLE_EQ(measured.seconds.median, 1e-3);
  EXPECT_EQ(measured.launches, 1);
  EXPECT_EQ(measured.seconds.count, Rules{}.least_samples);
  EXPECT_TRUE(measured.precise);
}

TEST(Loop, LaunchesShortKernelsManyTimesPerSample) {
  FakeTimer timer([](int) { return 2e-6; });
  // 200 us per sample
  EXPECT_EQ(measure(timer, {}).launches, 100);
}

TEST(Loop, LeavesOutTheFirstLaunchesThatLoadAndWarmUp) {
  // The first launch takes half a second; the next 100 twice as long as the others.
  FakeTimer timer([](int launch) { return launch == 0 ? 0.5 : launch <= 100 ? 2e-5 : 1e-5; });
  const Measurement measured = measure(timer, {.time_limit = 10});
  EXPECT_DOUBLE_EQ(measured.seconds.median, 1e-5);
  EXPECT_DOUBLE_EQ(measured.seconds.most, 1e-5);
}

TEST(Loop, GoesOnUntilTheIntervalIsNarrow) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.1);
  FakeTimer timer([&](int) { return 1e-3 * noise(random); });
  const Measurement measured = measure(timer, {.precision = 0.02, .time_limit = 100});
  EXPECT_TRUE(measured.precise);
  // The median of n values of 10 % spread has a standard error of 0.1 x 1.25 / sqrt(n); 1.96 of them within 2 % take
  // n = 150. Luck may end it earlier or later.
  EXPECT_GT(measured.seconds.count, 50);
  EXPECT_LT(measured.seconds.count, 450);
  EXPECT_NEAR(measured.seconds.median, 1e-3, 4e-5);
}

TEST(Loop, EndsAtItsTimeLimitAndSaysThatItIsImprecise) {
  int turn = 0;
  FakeTimer timer([&](int) { return ++turn % 2 == 0 ? 1e-3 : 3e-3; });
  const Measurement measured = measure(timer, {.time_limit = 0.1});
  EXPECT_FALSE(measured.precise);
  EXPECT_GE(timer.now(), 0.1);
  EXPECT_LE(timer.now(), 0.11);
}

TEST(Loop, MeasuresOnceWhatTakesLongerThanTheLimit) {
  FakeTimer timer([](int) { return 5.0; });
  const Measurement measured = measure(timer, {.time_limit = 1});
  EXPECT_EQ(measured.seconds.count, 1);
  EXPECT_DOUBLE_EQ(measured.seconds.median, 5);
  EXPECT_FALSE(measured.precise);
}

TEST(Loop, NoticesThatTheClockIsThrottled) {
  int turn = 0;
  FakeTimer timer([&](int) { return ++turn % 2 == 0 ? 1e-3 : 2e-3; });
  timer.clock_at = [](double time) { return time < 0.2 ? Clock{1980, 0} : Clock{1200, 0x4 | 0x20}; };
  const Measurement measured = measure(timer, {.time_limit = 0.5});
  EXPECT_EQ(measured.clock_least, 1200);
  EXPECT_EQ(measured.clock_most, 1980);
  EXPECT_EQ(throttle_text(measured.throttle), "power cap, heat");
  EXPECT_EQ(throttle_text(0x1), "none");
}

}  // namespace
}  // namespace slmsim::calibrate::loop_test
