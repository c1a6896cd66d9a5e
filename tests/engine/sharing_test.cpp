// How long transfers, computations and delays take, and how transfers share links.
#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::sharing_test {
namespace {

TEST(Sharing, ATransferTakesItsBytesOverTheRatePlusOneLatency) {
  SmallGraph graph({100});
  graph.send(graph.connect({0}, 2), 1000);
  EXPECT_NEAR(graph.end(), 12, kClock);  // 1000 B / 100 B/s + 2 s
}

TEST(Sharing, ATransferOverSeveralLinksGoesAtTheSlowest) {
  SmallGraph graph({100, 50, 200});
  graph.send(graph.connect({0, 1, 2}), 1000);
  EXPECT_NEAR(graph.end(), 20, kClock);  // 1000 / 50
}

TEST(Sharing, TwoEqualFlowsShareALinkInHalves) {
  SmallGraph graph({100});
  graph.send(graph.connect({0}), 1000);
  graph.send(graph.connect({0}), 1000);
  EXPECT_NEAR(graph.end(), 20, kClock);  // 50 B/s each
}

TEST(Sharing, TheLongerFlowGetsTheWholeLinkOnceTheShorterEnds) {
  SmallGraph graph({100});
  const TaskId small = graph.send(graph.connect({0}), 500);
  const TaskId large = graph.send(graph.connect({0}), 1000);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[small], 10, kClock);  // 50 B/s
  EXPECT_NEAR(timeline.finish[large], 15, kClock);  // 10 s at 50 B/s, the other 500 B at 100 B/s
}

TEST(Sharing, LatencyDoesNotChangeAFlowsShare) {
  SmallGraph graph({100});
  const TaskId near = graph.send(graph.connect({0}, 0), 1000);
  const TaskId far = graph.send(graph.connect({0}, 5), 1000);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[near], 20, kClock);  // both at 50 B/s
  EXPECT_NEAR(timeline.finish[far], 25, kClock);   // and 5 s on the way
}

TEST(Sharing, ThreeFlowsOnTwoLinksShareMaxMinFairly) {
  // Link 0: 100 B/s, link 1: 300 B/s. A over both, B over link 0, C over link 1.
  // Link 0 is the bottleneck of A and B: 50 each. C gets what A leaves of link 1: 250.
  SmallGraph graph({100, 300});
  const TaskId a = graph.send(graph.connect({0, 1}), 500);
  const TaskId b = graph.send(graph.connect({0}), 1000);
  const TaskId c = graph.send(graph.connect({1}), 2750);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[a], 10, kClock);  // 500 / 50
  EXPECT_NEAR(timeline.finish[b], 15, kClock);  // 500 B in 10 s, then 100 B/s for 500 B
  // 2500 B in 10 s, then 300 B/s for 250 B.
  EXPECT_NEAR(timeline.finish[c], 10 + 250.0 / 300.0, kClock);
}

TEST(Sharing, ASocketsRateCapsAFlowAndLeavesTheRestToOthers) {
  SmallGraph graph({100});
  const TaskId capped = graph.send(graph.connect({0}, 0, 20), 400);
  const TaskId open = graph.send(graph.connect({0}), 1600);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[capped], 20, kClock);  // 400 / 20
  EXPECT_NEAR(timeline.finish[open], 20, kClock);    // 1600 / 80
}

TEST(Sharing, ACapIsPerConnectionNotSharedByEqualCaps) {
  SmallGraph graph({100});
  graph.send(graph.connect({0}, 0, 20), 400);
  graph.send(graph.connect({0}, 0, 20), 400);
  EXPECT_NEAR(graph.end(), 20, kClock);  // both at 20 B/s; one cap of 20 for both would give 40 s
}

TEST(Sharing, SocketsMultiplyTheCap) {
  SmallGraph graph({100});
  graph.send(graph.connect({0}, 0, 20, 3), 600);
  EXPECT_NEAR(graph.end(), 10, kClock);  // 3 x 20 B/s
}

TEST(Sharing, ACapAboveTheLinkDoesNotBind) {
  SmallGraph graph({100});
  graph.send(graph.connect({0}, 0, 1000), 600);
  EXPECT_NEAR(graph.end(), 6, kClock);
}

TEST(Sharing, AConnectionCarriesItsTransfersOneAfterTheOther) {
  SmallGraph graph({100});
  const int connection = graph.connect({0}, 3);
  const TaskId late = graph.wait(1);
  const TaskId first = graph.send(connection, 1000);
  const TaskId second = graph.send(connection, 500, {late});
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[first], 13, kClock);   // alone on the link although the second is ready at 1 s
  EXPECT_NEAR(timeline.start[second], 10, kClock);   // leaves when the first has left, not when it arrived
  EXPECT_NEAR(timeline.finish[second], 18, kClock);  // 10 + 5 + 3
}

TEST(Sharing, TransfersThatAreReadyAtOnceGoInTheOrderInWhichTheyWereAdded) {
  SmallGraph graph({100});
  const int connection = graph.connect({0});
  const TaskId start = graph.wait(1);
  std::vector<TaskId> sent;
  for (int i = 0; i < 4; ++i) sent.push_back(graph.send(connection, 100, {start}));
  const Timeline timeline = graph.run();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(timeline.finish[sent[i]], 2 + i, kClock);  // 1 + 100 / 100 each
}

TEST(Sharing, TransfersWithoutPredecessorsGoInTheOrderInWhichTheyWereAdded) {
  SmallGraph graph({100});
  const int connection = graph.connect({0});
  const TaskId first = graph.send(connection, 100);
  const TaskId second = graph.send(connection, 100);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[first], 1, kClock);
  EXPECT_NEAR(timeline.finish[second], 2, kClock);
}

TEST(Sharing, ComputationAndDelayTakeTheirTimeAfterAllTheyWaitFor) {
  SmallGraph graph({100});
  const TaskId forward = graph.compute(0, 2);
  const TaskId other = graph.compute(1, 3);
  const TaskId sent = graph.send(graph.connect({0}), 100, {forward});  // 2 to 3
  const TaskId joined = graph.wait(0, {sent, other});                  // 3
  const TaskId last = graph.compute(1, 4, {joined});                   // 3 to 7
  const TaskId pause = graph.wait(0.5, {last});                        // 7 to 7.5
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.start[sent], 2, kClock);
  EXPECT_NEAR(timeline.finish[joined], 3, kClock);
  EXPECT_NEAR(timeline.start[last], 3, kClock);
  EXPECT_NEAR(timeline.finish[pause], 7.5, kClock);
  EXPECT_NEAR(timeline.end.value, 7.5, kClock);
}

// Link 1 has to be shared, so that SimGrid runs; link 0 has not, with or without it.
TEST(Sharing, AFlowThatSharesNothingTakesAsLongBesideOthersAsAlone) {
  const auto ends = [](bool beside_others) {
    SmallGraph graph({100, 50});
    const int windowed = graph.connect_windowed(64, 512, 0.5);
    const TaskId first = graph.send(windowed, 1000), second = graph.send(windowed, 700, {graph.wait(3, {first})});
    if (beside_others) {
      for (const int connection : {graph.connect({1}), graph.connect({1})}) graph.send(connection, 500);
    }
    const Timeline timeline = graph.run();
    return std::pair{timeline.finish[first], timeline.finish[second]};
  };
  EXPECT_NEAR(ends(true).first, ends(false).first, kClock);
  EXPECT_NEAR(ends(true).second, ends(false).second, kClock);
}

TEST(Sharing, AnEmptyTransferTakesOnlyTheLatency) {
  SmallGraph graph({100});
  const int connection = graph.connect({0}, 2);
  const TaskId empty = graph.send(connection, 0);
  const TaskId after = graph.send(connection, 100, {empty});
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[empty], 2, kClock);
  EXPECT_NEAR(timeline.finish[after], 5, kClock);  // 2 + 1 + 2
  EXPECT_EQ(timeline.flows.size(), 1u);
}

TEST(Sharing, AnEmptyTransferWaitsForItsTurnOnTheConnection) {
  SmallGraph graph({100});
  const int connection = graph.connect({0});
  const TaskId full = graph.send(connection, 1000);
  const TaskId empty = graph.send(connection, 0, {graph.wait(1)});
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[full], 10, kClock);
  EXPECT_NEAR(timeline.finish[empty], 10, kClock);
}

TEST(Sharing, AGraphWithoutTasksEndsAtOnce) { EXPECT_EQ(SmallGraph({100}).end(), 0); }

TEST(Sharing, TransfersAreRoundedToWholeBytes) {
  SmallGraph graph({100});
  graph.send(graph.connect({0}), 100.4);
  EXPECT_NEAR(graph.end(), 1, kClock);
}

// Only a graph that breaks TaskGraph's own rule could leave a task unfinished.
TEST(Sharing, ATaskThatWaitsForALaterOneIsABrokenInvariant) {
  const auto simulate_broken = [] {
    SmallGraph graph({100});
    const TaskId later = 1;
    graph.wait(1, {later});
    graph.wait(1);
    return graph.end();
  };
  const auto simulate_ring = [] {
    SmallGraph graph({100});
    const TaskId itself = 0;
    graph.wait(1, {itself});
    return graph.end();
  };
#ifdef SLMSIM_ASSERTS
  EXPECT_DEATH(simulate_broken(), "added before it");
  EXPECT_DEATH(simulate_ring(), "added before it");
#else
  EXPECT_NEAR(simulate_broken(), 2, kClock);
  EXPECT_THROW(simulate_ring(), std::logic_error);
#endif
}

}  // namespace
}  // namespace slmsim::sharing_test
