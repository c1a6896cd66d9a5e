// Rings whose ranks are not ready at once or not equally fast. A rank sends nothing before it is ready: its
// kernel does not run yet.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/collective/ring_of_gpus.h"

namespace slmsim::late_rank_test {
namespace {

constexpr RingRules kOneLoop{1, 1, Bytes{100}, Detail::kSteps};

TEST(LateRank, ALateRankDelaysEveryone) {
  // 4 ranks, 400 B, 6 steps of 1 s. Rank 0 comes at 10 s: nobody has a result before its data went around.
  const GroupRun run = collect(uniform(4), Collective::kAllReduce, 400, kOneLoop, {10});
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_GE(run.at(rank), 13 - kRingClock);  // 3 hops to the last
  EXPECT_NEAR(run.timeline.end.value, 16, kRingClock);                                    // as if all had begun at 10 s
}

TEST(LateRank, AnAllGatherIsDoneWhenTheLateRanksDataWentAround) {
  const GroupRun run = collect(uniform(4), Collective::kAllGather, 400, kOneLoop, {10});
  EXPECT_NEAR(run.at(3), 13, kRingClock);  // 3 hops from rank 0
  EXPECT_NEAR(run.timeline.end.value, 13, kRingClock);
}

TEST(LateRank, TheLateRankItselfHasNoResultBeforeItIsReady) {
  for (const auto collective : {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter}) {
    for (const int n : {2, 3, 4}) {
      const GroupRun run = collect(uniform(n), collective, 100.0 * n, kOneLoop, {10});
      EXPECT_GE(run.at(0), 10) << n << " ranks";
    }
  }
}

TEST(LateRank, ARankSendsNothingBeforeItIsReady) {
  for (const auto collective : {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter}) {
    for (const int n : {2, 3, 4, 6}) {
      for (const int loops : {1, 4}) {
        const GroupRun run = collect(uniform(n), collective, 100.0 * n * loops, kOneLoop, {10});
        for (const auto& flow : run.timeline.flows) {
          if (run.graph.connections()[flow.connection].from != 0) continue;
          EXPECT_GE(flow.start, 10) << n << " ranks, " << loops << " loops";
          break;
        }
      }
    }
  }
}

TEST(LateRank, ALateRankWithASlowLinkSendsAllOfItsStepsThroughIt) {
  // Rank 0 sends at 10 B/s, 10 s per step; the others' links are so fast that they take no time. Rank 0 is
  // ready at 100 s and has 6 steps to send: 160 s.
  const GroupRun run = collect(one_vm({10, 1e12, 1e12, 1e12}, 0), Collective::kAllReduce, 400, kOneLoop, {100});
  EXPECT_GE(run.timeline.end.value, 160 - kRingClock);
}

TEST(LateRank, ChunksOfALateRankLeaveInTheOrderOfTheirSteps) {
  // All of rank 0's early steps become ready at once; the first must go first, since step 4 waits for it.
  const GroupRun run = collect(uniform(4), Collective::kAllReduce, 400, kOneLoop, {10});
  double last = 0;
  for (TaskId task = 0; task < run.graph.tasks().size(); ++task) {
    if (run.graph.tasks()[task].kind != TaskKind::kTransfer || run.from(run.graph.tasks()[task]) != 0) continue;
    EXPECT_GE(run.timeline.start[task], last);
    last = run.timeline.start[task];
  }
}

TEST(LateRank, TheSlowestLinkSetsTheTimeOfARing) {
  // Rank 2 sends at 50 B/s, so step by step everyone waits for it: no faster than its own 6 x 100 B at 50
  // B/s, no slower than 6 steps of 2 s.
  const GroupRun run = collect(one_vm({100, 100, 50, 100}, 0), Collective::kAllReduce, 400, kOneLoop);
  EXPECT_NEAR(run.timeline.end.value, 12, kRingClock);
}

TEST(LateRank, AnAggregatedRingDelaysEveryoneToo) {
  // Its transfers of 600 B start when their rank is ready: rank 0's ends at 10 + 6 s, and nobody is done
  // before.
  RingRules rules = kOneLoop;
  rules.detail = Detail::kAggregated;
  const GroupRun run = collect(uniform(4), Collective::kAllReduce, 400, rules, {10});
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(run.at(rank), 16, kRingClock);
}

}  // namespace
}  // namespace slmsim::late_rank_test
