// The order and amount of the measurements, against a path that takes no time.
#include "calibrate/netprobe/measure.h"

#include <gmock/gmock.h>

#include "tests/calibrate/fake_wire.h"

namespace slmsim::calibrate::netprobe::measure_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const Progress kSilent = [](const std::string&, double) {};

TEST(Measure, FindsThePathsFigures) {
  FakePath path;
  const Measurement m = measure(path.wire(), {}, kSilent);
  EXPECT_DOUBLE_EQ(m.rtt.median, 0.02);
  EXPECT_DOUBLE_EQ(m.rtt.most, 0.06);
  EXPECT_EQ(m.rtt.count, 100);  // 2 s of them
  EXPECT_DOUBLE_EQ(m.kernel_rtt, 0.0198);
  ASSERT_TRUE(m.reverse);
  for (const DirectionResult* result : {&m.forward, &*m.reverse}) {
    ASSERT_EQ(result->steady.size(), 4);
    // 10 MB/s each, until the path's 50 MB/s are full.
    EXPECT_DOUBLE_EQ(result->steady[0].rate.median, 10e6);
    EXPECT_DOUBLE_EQ(result->steady[1].rate.median, 20e6);
    EXPECT_DOUBLE_EQ(result->steady[2].rate.median, 40e6);
    EXPECT_DOUBLE_EQ(result->steady[3].rate.median, 50e6);
    EXPECT_DOUBLE_EQ(result->steady[3].growth, 1);
    EXPECT_EQ(best_rate(*result).connections, 8);
    EXPECT_EQ(result->path_mtu, 1052);
    ASSERT_FALSE(result->cold.empty());
    EXPECT_DOUBLE_EQ(result->cold[0].seconds.median, 0.01 + 64e3 / 10e6);
    EXPECT_EQ(result->cold[0].initial_window, 10);
    ASSERT_FALSE(result->idle.empty());
    EXPECT_DOUBLE_EQ(result->idle[0].pause, 5 * 0.22);
  }
}

TEST(Measure, TakesLossFromStreamsAtHalfTheRateOnly) {
  FakePath path;
  path.lost_share = 0.001;
  // The full streams lose a tenth, which is their own congestion.
  const Measurement m = measure(path.wire(), {}, kSilent);
  EXPECT_DOUBLE_EQ(m.forward.loss.pace, 25e6);
  EXPECT_DOUBLE_EQ(m.forward.loss.share(), 0.001);
}

TEST(Loss, DoesNotCountWhatTheReceiverHadAlready) {
  EXPECT_DOUBLE_EQ((Loss{1, 1, 1000, 5, 3}.share()), 0.002);
  EXPECT_EQ((Loss{1, 1, 1000, 3, 5}.share()), 0);
  EXPECT_EQ((Loss{1, 1, 0, 0, 0}.share()), 0);
}

TEST(Measure, StaysNearTheTimeLimitAndTellsWhatItLeftOut) {
  FakePath path;
  path.window = 20e3;  // 1 MB/s: 1 GB would take 1000 s
  Request request;
  request.time_limit = 120;
  const double start = path.clock;
  const Measurement m = measure(path.wire(), request, kSilent);
  EXPECT_LE(path.clock - start, 1.1 * request.time_limit);
  EXPECT_GE(path.clock - start, 0.6 * request.time_limit);
  EXPECT_THAT(m.forward.left_out, Contains(HasSubstr("1 GB cold")));
  EXPECT_THAT(m.forward.left_out, Contains(HasSubstr("256 MB cold")));
}

TEST(Measure, LeavesNothingOutWhereThereIsTime) {
  FakePath path;
  path.rate = path.window = 1e12;
  const Measurement m = measure(path.wire(), {}, kSilent);
  EXPECT_THAT(m.forward.left_out, IsEmpty());
  EXPECT_EQ(m.forward.cold.size(), 8);
  EXPECT_EQ(m.forward.idle.size(), 8);
  EXPECT_EQ(m.forward.cold[0].seconds.count, 5);
  EXPECT_EQ(m.forward.steady[0].rate.count, 3);
}

TEST(Measure, NeverGoesWithoutARate) {
  FakePath path;
  path.rtt = 0.7;
  path.rate = 1e4;  // a message of 64 kB takes 6 s
  Request request;
  request.time_limit = 20;
  const Measurement m = measure(path.wire(), request, kSilent);
  EXPECT_DOUBLE_EQ(best_rate(m.forward).rate.median, 1e4);
  ASSERT_EQ(m.forward.cold.size(), 1);
  EXPECT_EQ(m.forward.cold[0].seconds.count, 1);
}

TEST(Measure, LooksOnlyOneWayWhereThatIsAsked) {
  FakePath path;
  Request request;
  request.one_way = true;
  EXPECT_FALSE(measure(path.wire(), request, kSilent).reverse);
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe::measure_test
