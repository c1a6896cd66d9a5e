#include "calibrate/netprobe/watch.h"

#include <gmock/gmock.h>

#include "calibrate/netprobe/failure.h"
#include "tests/calibrate/fake_wire.h"

namespace slmsim::calibrate::netprobe::watch_test {
namespace {

using testing::HasSubstr;
using testing::Not;

WatchSample sample(const std::string& hour, double rtt, double forward, double reverse) {
  return {"2026-03-01T" + hour + ":00Z", rtt, forward, reverse};
}

TEST(Watch, LooksForSomeSeconds) {
  FakePath path;
  const double before = path.clock;
  const WatchSample seen = sample_at(path.wire(), "2026-03-01T00:00:00Z", false);
  EXPECT_DOUBLE_EQ(seen.rtt, 0.02);
  EXPECT_DOUBLE_EQ(seen.forward, 50e6);  // eight windows of 10 MB/s each are more than the path has
  EXPECT_DOUBLE_EQ(seen.reverse, 50e6);
  EXPECT_EQ(path.streams, 2);
  EXPECT_LT(path.clock - before, 20);
  EXPECT_EQ(sample_at(path.wire(), "2026-03-01T00:00:00Z", true).reverse, 0);
}

TEST(Watch, ReadsWhatItWrote) {
  const std::vector<WatchSample> samples = {sample("01:30", 0.1032, 49e6, 50e6), sample("13:00", 0.11, 12.5e6, 0)};
  const auto read = samples_of(to_hours(samples, "wan", "slmsim-netprobe client h --watch 24h"));
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read[0].time, samples[0].time);
  EXPECT_NEAR(read[0].rtt, 0.1032, 1e-6);
  EXPECT_NEAR(read[0].forward, 49e6, 100);
  EXPECT_NEAR(read[0].reverse, 50e6, 100);
  EXPECT_EQ(read[1].reverse, 0);
  EXPECT_EQ(samples_of("").size(), 0);
}

TEST(Watch, MakesHoursOfMediansAndOfTheSlowerWay) {
  const std::string text = to_hours({sample("01:10", 0.10, 50e6, 40e6), sample("01:30", 0.12, 50e6, 20e6),
                                     sample("01:50", 0.11, 50e6, 30e6), sample("13:00", 0.2, 10e6, 12e6)},
                                    "wan", "c");
  EXPECT_THAT(text, HasSubstr("    wan:\n      hours:\n"
                              "        - {from: 0 h, rtt: 200 ms, bandwidth: 80 Mbps}\n"
                              "        - {from: 1 h, rtt: 110 ms, bandwidth: 240 Mbps}\n"
                              "        - {from: 13 h, rtt: 200 ms, bandwidth: 80 Mbps}\n"));
}

TEST(Watch, MakesNoDayOfOneHour) {
  const std::string text = to_hours({sample("01:10", 0.10, 50e6, 40e6)}, "wan", "c");
  EXPECT_THAT(text, HasSubstr("Fewer than two hours"));
  EXPECT_THAT(text, Not(HasSubstr("\njob:")));
}

TEST(Watch, RefusesFilesOfAnotherForm) {
  EXPECT_THROW(samples_of("name: lab-cloud\n"), UsageError);
  EXPECT_THROW(samples_of("# look 2026-03-01T00:00:00Z rtt_s fast forward_Bps 1\n"), UsageError);
  EXPECT_THROW(samples_of("# look yesterday rtt_s 0.1 forward_Bps 1\n"), UsageError);
  EXPECT_EQ(seconds_of("1970-01-02T00:00:10Z"), 86410);
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe::watch_test
