// Gloo over the emulated path on this machine: bounds are loose, so that a slow or busy one passes too.
#include <gtest/gtest.h>

#include "tests/wan/collective.h"

namespace slmsim::wan::collective_live_test {
namespace {

CollectiveCase small(const char* collective, int ranks) {
  return {collective,
          ranks,
          {.rtt = 20.2, .rate = 100, .congestion = "reno", .wmem = 4 << 20, .rmem = 6 << 20, .bytes = 400'000}};
}

// The ranks check their results themselves: a wrong one throws.
void run(const CollectiveCase& what, double least) {
  try {
    const ColdAndWarm both = collective(what, 1);
    EXPECT_GE(both.path_rtt, 0.0202);
    for (const CollectiveSample* sample : {&both.cold, &both.warm}) {
      EXPECT_GE(sample->seconds, least);
      EXPECT_LE(sample->seconds, 10);
      EXPECT_LE(sample->first_rank, sample->seconds);
      EXPECT_LE(sample->forward.front(), sample->forward.back());
    }
  } catch (const Forbidden& reason) {
    GTEST_SKIP() << "needs network namespaces and TUN devices: " << reason.what();
  }
}

// A word of the receiver and the message: a round trip.
TEST(LiveCollective, ASendTakesARoundTripAndItsBytes) { run(small("sendrecv", 2), 0.0202 + 0.032); }

// Each of six steps crosses the path, after a word.
TEST(LiveCollective, AnAllReduceOfFourRanksTakesSixRoundTrips) { run(small("allreduce", 4), 6 * 0.0202); }

TEST(LiveCollective, GathersAndScatters) {
  run(small("allgather", 4), 3 * 0.0202);
  run(small("reducescatter", 4), 0.0202);
}

TEST(LiveCollective, RefusesAnOddNumberOfRanks) {
  EXPECT_THROW(collective(small("allreduce", 3), 1), std::runtime_error);
}

}  // namespace
}  // namespace slmsim::wan::collective_live_test
