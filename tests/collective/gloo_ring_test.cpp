// The ring by Gloo's rules, by hand: two pieces under way, each sent on the receiver's word.
//
// On uniform edges of latency L, a piece of p seconds: a rank's word takes L; the two pieces behind it arrive at 2 L + p
// and 2 L + 2 p; the first of them lets the next word go. So each pair of pieces takes 2 L + p, and the last p more.
#include <gtest/gtest.h>

#include "tests/collective/gloo_rules.h"
#include "tests/collective/ring_of_gpus.h"

namespace slmsim::gloo_ring_test {
namespace {

constexpr double kLatency = 3, kPiece = 2;  // s
constexpr double kPieceBytes = kPiece * kRate;

double pairs_take(double pieces) { return pieces / 2 * (2 * kLatency + kPiece) + kPiece; }

TEST(GlooRing, AnAllGatherMovesTwoHalvesOfAShareAtOnce) {
  for (const int n : {2, 3, 4, 8}) {
    const GroupRun run = collect(uniform(n, kLatency), Collective::kAllGather, 2 * kPieceBytes * n, gloo_all_gather());
    for (int rank = 0; rank < n; ++rank) EXPECT_NEAR(run.at(rank), pairs_take(2.0 * (n - 1)), kRingClock) << n;
  }
}

TEST(GlooRing, AnAllReduceHasTwoPhasesOneAfterTheOther) {
  RingRules rules = gloo_all_reduce();
  rules.chunk = Bytes{kPieceBytes};
  for (const int n : {2, 4}) {
    for (const int segments : {2, 4, 6}) {
      const GroupRun run = collect(uniform(n, kLatency), Collective::kAllReduce, kPieceBytes * segments * n, rules);
      EXPECT_NEAR(run.timeline.end.value, 2 * pairs_take(static_cast<double>(segments) * (n - 1)), kRingClock) << n;
    }
  }
}

TEST(GlooRing, SegmentsAreAsGlooCutsThem) {
  // gloo/allreduce.cc: at least two per rank, at most 1 MiB each, equally many for all ranks.
  const RingRules rules = gloo_all_reduce();
  EXPECT_EQ(loop_count(4, Bytes{1e6}, rules), 2);
  EXPECT_EQ(loop_count(4, Bytes{8 * kMebi}, rules), 2);
  EXPECT_EQ(loop_count(4, Bytes{8 * kMebi + 4}, rules), 3);
  EXPECT_EQ(loop_count(4, Bytes{64e6}, rules), 16);  // 62 of 1 MiB, rounded up to 4 x 16
  EXPECT_EQ(loop_count(4, Bytes{64e6}, gloo_all_gather()), 2);
}

TEST(GlooRing, ASendWaitsForTheReceiversWord) {
  const double late = 100;
  const GroupRun run =
      collect(uniform(2, kLatency), Collective::kAllGather, 4 * kPieceBytes, gloo_all_gather(), {0, late});
  EXPECT_NEAR(run.at(1), late + pairs_take(2), kRingClock);  // rank 0 was ready long before
}

TEST(GlooRing, SendsTheSameBytesAsAnyRing) {
  for (const Collective collective : {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter}) {
    const GroupRun run = collect(uniform(4), collective, 4800, gloo_all_reduce());
    for (const auto& [rank, bytes] : run.bytes()) EXPECT_EQ(bytes, sent_per_rank(collective, 4, Bytes{4800}).value);
  }
}

}  // namespace
}  // namespace slmsim::gloo_ring_test
