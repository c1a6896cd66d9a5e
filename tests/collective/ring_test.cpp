// Ring collectives: how much they send and, on uniform rings, how long they take.
#include <gtest/gtest.h>

#include "tests/collective/ring_of_gpus.h"

namespace slmsim::ring_test {
namespace {

constexpr Collective kAll[] = {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter};

RingRules rules(int channels, double chunk, Detail detail = Detail::kSteps) {
  return {channels, 1, Bytes{chunk}, detail};
}

TEST(Ring, AnAllReduceTakesTwiceAsManyStepsAsTheOthers) {
  EXPECT_EQ(step_count(Collective::kAllReduce, 4), 6);      // 2 x 3
  EXPECT_EQ(step_count(Collective::kAllGather, 4), 3);      // n - 1
  EXPECT_EQ(step_count(Collective::kReduceScatter, 4), 3);  // n - 1
  EXPECT_EQ(step_count(Collective::kAllReduce, 1), 0);
}

TEST(Ring, ARankSendsTheTextbooksShareOfTheBuffer) {
  EXPECT_EQ(sent_per_rank(Collective::kAllReduce, 4, Bytes{800}).value, 1200);     // 2 x 3/4
  EXPECT_EQ(sent_per_rank(Collective::kAllGather, 4, Bytes{800}).value, 600);      // 3/4
  EXPECT_EQ(sent_per_rank(Collective::kReduceScatter, 4, Bytes{800}).value, 600);  // 3/4
  EXPECT_EQ(sent_per_rank(Collective::kAllReduce, 1, Bytes{800}).value, 0);
}

TEST(Ring, EveryRankSendsOnceEveryStepOfEveryLoop) {
  // 4 ranks x 2 channels x 100 B = 800 B per loop; 2400 B are 3 loops.
  const auto counts = [](Collective collective) {
    return collect(uniform(4), collective, 2400, rules(2, 100)).counts();
  };
  const auto each = [](int count) { return std::map<int, int>{{0, count}, {1, count}, {2, count}, {3, count}}; };
  EXPECT_EQ(counts(Collective::kAllReduce), each(18));  // 3 x 6
  EXPECT_EQ(counts(Collective::kAllGather), each(9));   // 3 x 3
  EXPECT_EQ(counts(Collective::kReduceScatter), each(9));
}

TEST(Ring, EveryRankSendsItsShareWhateverTheLoops) {
  for (const Collective collective : kAll) {
    for (const int n : {2, 3, 4, 8}) {
      for (const double chunk : {10.0, 70.0, 1000.0}) {
        const double size = 100.0 * n * n;  // pieces of whole bytes
        const double steps = collective == Collective::kAllReduce ? 2.0 * (n - 1) : n - 1.0;
        for (const Detail detail : {Detail::kSteps, Detail::kAggregated}) {
          const GroupRun run = collect(uniform(n), collective, size, rules(1, chunk, detail));
          ASSERT_EQ(run.bytes().size(), static_cast<std::size_t>(n));
          for (const auto& [rank, bytes] : run.bytes()) EXPECT_EQ(bytes, size * steps / n);
        }
      }
    }
  }
}

TEST(Ring, TheFlowsOfTheSimulationCarryWhatTheTransfersAsk) {
  const GroupRun run = collect(uniform(4), Collective::kAllReduce, 2400, rules(2, 100));
  double flown = 0;
  for (const auto& flow : run.timeline.flows) flown += flow.bytes;
  EXPECT_EQ(flown, 4 * 3600);  // 2 x 3/4 x 2400 B per rank
}

TEST(Ring, AnAllReduceOnAUniformRingByHand) {
  // 4 ranks, one loop: 6 steps of 100 B at 100 B/s with 0.5 s latency: 6 x 1.5 s.
  const GroupRun run = collect(uniform(4, 0.5), Collective::kAllReduce, 400, rules(1, 100));
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(run.at(rank), 9, kRingClock);
}

TEST(Ring, EveryLoopPaysTheLatencyAnew) {
  // As above with 1200 B: 3 loops, 27 s. Without loops it would be 6 x (3 + 0.5) = 21 s.
  const GroupRun run = collect(uniform(4, 0.5), Collective::kAllReduce, 1200, rules(1, 100));
  EXPECT_NEAR(run.timeline.end.value, 27, kRingClock);
}

TEST(Ring, TheLastChunkOfALoopIsReadAlone) {
  // As above, and each loop ends with reading 100 B at 50 B/s: 27 + 3 x 2 s.
  RingRules copied = rules(1, 100);
  copied.last_copy.assign(4, BytesPerSecond{50});
  EXPECT_NEAR(collect(uniform(4, 0.5), Collective::kAllReduce, 1200, copied).timeline.end.value, 33, kRingClock);
  // All-gathers too: 3 x (3 x 1.5 + 2) s. In aggregate 300 B per rank.
  EXPECT_NEAR(collect(uniform(4, 0.5), Collective::kAllGather, 1200, copied).timeline.end.value, 19.5, kRingClock);
  copied.detail = Detail::kAggregated;
  EXPECT_NEAR(collect(uniform(4, 0.5), Collective::kAllReduce, 1200, copied).timeline.end.value, 33, kRingClock);
}

TEST(Ring, ASliceIsSentOnWhileTheNextArrives) {
  // As above with two slices of 50 B, 0.5 s, in each chunk.
  RingRules sliced = rules(1, 100);
  sliced.slices = 2;
  const auto end = [&](double latency, Collective collective) {
    return collect(uniform(4, latency), collective, 1200, sliced).timeline.end.value;
  };
  // 0.5 s of latency: the second slice is sent when the first is there, so each of the 6 steps takes 1 s, and a loop ends
  // 0.5 s later. Gathering alone has 3 steps.
  EXPECT_NEAR(end(0.5, Collective::kAllReduce), 3 * (6 * 1 + 0.5), kRingClock);
  EXPECT_NEAR(end(0.5, Collective::kAllGather), 3 * (3 * 1 + 0.5), kRingClock);
  // 1.5 s: a step takes the 0.5 s of the first slice and its latency; the second one follows it by 0.5 s.
  EXPECT_NEAR(end(1.5, Collective::kAllReduce), 3 * (6 * 2 + 0.5), kRingClock);
  // Without whole chunks there are no slices: 6 steps of 100 B and the latency.
  const Platform platform = uniform(4, 0.5);
  const Network network(platform);
  TaskGraph graph(network.links(), 4);
  Ring ring(graph, network, {0, 1, 2, 3}, sliced);
  ring.run(Collective::kAllReduce, Bytes{1200}, Bytes{100}, false, graph.tag({.name = "lines"}),
           std::vector<TaskId>(4, graph.delay({0}, 0, {})));
  EXPECT_NEAR(simulate(graph).end.value, 3 * 6 * 1.5, kRingClock);
}

TEST(Ring, ALargerChunkOrMoreChannelsSaveLoops) {
  // 1200 B in one loop: 6 steps of 300 B.
  EXPECT_NEAR(collect(uniform(4, 0.5), Collective::kAllReduce, 1200, rules(1, 300)).timeline.end.value, 21, kRingClock);
  EXPECT_NEAR(collect(uniform(4, 0.5), Collective::kAllReduce, 1200, rules(3, 100)).timeline.end.value, 21, kRingClock);
}

TEST(Ring, ALastLoopThatIsNotFullSendsOnlyWhatIsLeft) {
  // 2 ranks, chunk 100 B: 200 B per loop. 300 B: steps of 100 B, then steps of 50 B; an all-reduce has 2 per
  // loop: 2 x (1 + 0.5) + 2 x (0.5 + 0.5) s.
  const GroupRun run = collect(uniform(2, 0.5), Collective::kAllReduce, 300, rules(1, 100));
  EXPECT_NEAR(run.timeline.end.value, 5, kRingClock);
}

TEST(Ring, UniformRingsFollowTheClosedForm) {
  for (const Collective collective : kAll) {
    for (const int n : {1, 2, 3, 5, 8}) {
      for (const int channels : {1, 2}) {
        for (const double latency : {0.0, 0.25, 4.0}) {
          const RingRules r = rules(channels, 50);
          const double size = 3.0 * channels * n * 50;  // three full loops
          const GroupRun run = collect(uniform(n, latency), collective, size, r);
          EXPECT_NEAR(run.timeline.end.value, closed_form(collective, n, size, r, latency), 1e-6)
              << n << " ranks, " << channels << " channels, latency " << latency;
        }
      }
    }
  }
}

TEST(Ring, OneRankHasItsResultAtOnceAndSendsNothing) {
  const GroupRun run = collect(uniform(1), Collective::kAllReduce, 800, rules(1, 100), {3});
  EXPECT_TRUE(run.bytes().empty());
  EXPECT_NEAR(run.at(0), 3, kRingClock);
}

TEST(Ring, TwoRanksSwapTheirHalves) {
  // All-gather: each sends 400 of 800 B, 4 s. All-reduce: reduces a half, then passes the sum on: 8 s.
  EXPECT_NEAR(collect(uniform(2), Collective::kAllGather, 800, rules(1, 400)).timeline.end.value, 4, kRingClock);
  EXPECT_NEAR(collect(uniform(2), Collective::kAllReduce, 800, rules(1, 400)).timeline.end.value, 8, kRingClock);
}

TEST(Ring, ASecondCollectiveFollowsTheFirstOverTheSameConnections) {
  const Platform platform = uniform(4);
  const Network network(platform);
  TaskGraph graph(network.links(), 4);
  const std::vector<TaskId> begin(4, graph.delay({0}, 0, {}));
  Ring ring(graph, network, {0, 1, 2, 3}, rules(1, 100));
  const auto first = ring.run(Collective::kReduceScatter, Bytes{400}, graph.tag({.name = "first"}), begin);
  ring.run(Collective::kAllGather, Bytes{400}, graph.tag({.name = "second"}), first);
  EXPECT_EQ(graph.connections().size(), 4u);
  EXPECT_NEAR(simulate(graph).end.value, 6, kRingClock);  // 3 steps of 1 s, twice: what an all-reduce takes
}

TEST(Ring, TheRingFollowsTheOrderOfItsDevices) {
  const Platform platform = uniform(3);
  const Network network(platform);
  TaskGraph graph(network.links(), 3);
  Ring ring(graph, network, {2, 0, 1}, rules(4, 100));
  ASSERT_EQ(graph.connections().size(), 3u);
  EXPECT_EQ(graph.connections()[0].from, 2);
  EXPECT_EQ(graph.connections()[0].to, 0);
  EXPECT_EQ(graph.connections()[2].from, 1);
  EXPECT_EQ(graph.connections()[2].to, 2);       // closes the ring
  EXPECT_EQ(graph.connections()[0].sockets, 4);  // one per channel
  EXPECT_EQ(ring.size(), 3);
}

TEST(Ring, TheAggregatedFormAgreesWithTheStepsOnUniformRings) {
  for (const Collective collective : kAll) {
    for (const int n : {2, 3, 4, 8}) {
      for (const double latency : {0.0, 0.25, 4.0}) {
        for (const int slices : {1, 2}) {
          const double size = 3.0 * n * 50;
          const auto end = [&](Detail detail) {
            RingRules r = rules(1, 50, detail);
            r.slices = slices;
            return collect(uniform(n, latency), collective, size, r).timeline.end.value;
          };
          const double steps = end(Detail::kSteps);
          EXPECT_NEAR(end(Detail::kAggregated), steps, 1e-6 * steps)
              << n << " ranks, latency " << latency << ", " << slices << " slices";
        }
      }
    }
  }
}

}  // namespace
}  // namespace slmsim::ring_test
