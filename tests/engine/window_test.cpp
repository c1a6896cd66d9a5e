// TCP's window by hand. Links are so fast (1e12 B/s) that only round trips count, unless a test says so.
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::window_test {
namespace {

constexpr double kFast = 1e12;  // B/s: thousands of bytes in nanoseconds, below kClock

TEST(Window, SlowStartDoublesTheWindowEveryRoundTrip) {
  // Windows of 1000, 2000 and 4000 B at 0, 1 and 2 s; the last byte arrives a latency of 0.5 s later.
  SmallGraph graph({kFast});
  graph.send(graph.connect_windowed(1000, 1e6, 1, 0, 1, 0.5), 7000);
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.end.value, 2.5, kClock);
  std::map<long, double> sent;  // bytes by the round trip in which they left
  for (const auto& flow : timeline.flows) sent[std::lround(flow.start)] += flow.bytes;
  EXPECT_EQ(sent, (std::map<long, double>{{0, 1000}, {1, 2000}, {2, 4000}}));
}

TEST(Window, OneByteMoreThanThreeWindowsCostsAnotherRoundTrip) {
  SmallGraph graph({kFast});
  graph.send(graph.connect_windowed(1000, 1e6, 1, 0, 1, 0.5), 7001);
  EXPECT_NEAR(graph.end(), 3.5, kClock);
}

TEST(Window, OneInitialWindowPaysNoRoundTrip) {
  SmallGraph graph({kFast});
  graph.send(graph.connect_windowed(1000, 1e6, 1, 0, 1, 0.5), 1000);
  EXPECT_NEAR(graph.end(), 0.5, kClock);
}

TEST(Window, ASteadyWindowLimitsToOneWindowPerRoundTrip) {
  // 10 windows of 1000 B at 0, 1, ... 9 s.
  SmallGraph graph({kFast});
  graph.send(graph.connect_windowed(1000, 1000, 1), 10'000);
  EXPECT_NEAR(graph.end(), 9, kClock);
}

TEST(Window, SlowStartStopsAtTheSteadyWindow) {
  // 1000, 2000, then 3000 per round trip: 1000 + 2000 + 3 x 3000 = 12000 B, the last window at 4 s.
  SmallGraph graph({kFast});
  graph.send(graph.connect_windowed(1000, 3000, 1), 12'000);
  EXPECT_NEAR(graph.end(), 4, kClock);
}

TEST(Window, AWindowWiderThanThePathIsNoLimit) {
  // The path holds 1000 B/s x 1 s = 1000 B; a window of 4000 B covers it four times, so the link is the
  // limit: 20000 B at 1000 B/s.
  SmallGraph graph({1000});
  graph.send(graph.connect_windowed(4000, 4000, 1), 20'000);
  EXPECT_NEAR(graph.end(), 20, kClock);
}

TEST(Window, AWindowOfHalfThePathHalvesTheRate) {
  // The path holds 1000 B; a window of 500 B leaves in 0.5 s of every second: 10000 B are 20 windows, the
  // last one leaves from 19 to 19.5 s. Bytes that leave in pieces of a quarter window wait for their piece's
  // last byte, 0.125 s per round trip: that much tolerance.
  SmallGraph graph({1000});
  graph.send(graph.connect_windowed(500, 500, 1), 10'000);
  EXPECT_NEAR(graph.end(), 19.5, 20 * 0.125);
}

TEST(Window, SocketsMultiplyTheWindow) {
  // Two sockets: windows of 2000, 4000 and 8000 B: 14000 B in two round trips.
  SmallGraph graph({kFast});
  const TaskId sent = graph.send(graph.connect_windowed(1000, 1e6, 1, 0, 2), 14'000);
  graph.wait(2, {sent});  // until all is acknowledged
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[sent], 2, kClock);
  EXPECT_EQ(timeline.connections[0].tcp.window, 8000);  // per socket: (2000 + 14000) / 2
}

TEST(Window, AGrownWindowServesTheNextTransfer) {
  // After 7000 B, all acknowledged at 3 s, the window is 8000 B: 8000 B leave at once at 5 s.
  SmallGraph graph({kFast});
  const int connection = graph.connect_windowed(1000, 1e6, 1);
  const TaskId first = graph.send(connection, 7000);       // until 2
  graph.send(connection, 8000, {graph.wait(3, {first})});  // 5
  EXPECT_NEAR(graph.end(), 5, kClock);
}

TEST(Window, TransfersInARowShareTheWindow) {
  // 500 B and 500 B fill the first window, the third transfer waits for their acknowledgements at 1 s.
  SmallGraph graph({kFast});
  const int connection = graph.connect_windowed(1000, 1e6, 1);
  const TaskId a = graph.send(connection, 500);
  const TaskId b = graph.send(connection, 500, {a});
  const TaskId c = graph.send(connection, 500, {b});
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[b], 0, kClock);
  EXPECT_NEAR(timeline.finish[c], 1, kClock);
}

// Four transfers of 100 B at 1000 B/s, and one of 1200 B later, from a window of 200 B. a and b fill the window; c leaves as a is
// acknowledged, and its last byte as b is, whatever the round trip is; d takes b's place. So 200 B were on their way at most, and
// slow start ends at twice that: 400 B at 2.5 s, and 800 B a round trip later.
TEST(Window, WhatIsAcknowledgedAsAnotherPieceHasLeftMakesRoomFirst) {
  for (int i = 0; i < 50; ++i) {
    const double rtt = 1 + 1e-3 * i;
    SmallGraph graph({1000});
    const int connection = graph.connect_windowed(200, 1e6, rtt);
    graph.connect_windowed(200, 1e6, rtt);  // unused; without it nobody shares the link
    for (int transfer = 0; transfer < 4; ++transfer) graph.send(connection, 100);
    graph.send(connection, 1200, {graph.wait(2.5)});
    for (const SimulationOptions& way : {SimulationOptions{}, {.record_flows = true}, {.always_engine = true}})
      EXPECT_NEAR(graph.run({}, way).end.value, 2.5 + rtt + 0.8, kClock) << rtt;
  }
}

// A connection that nobody may share a link with sends a whole transfer at once, others piece by piece.
TEST(Window, SendsTheSameAloneAndWhereTheLinkMightBeShared) {
  constexpr int kConnections = 6, kRounds = 40;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto graph_of = [&](bool alone) {
      std::mt19937 random(seed);
      const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
      SmallGraph graph(std::vector<double>(kConnections, 100.0));
      for (int c = 0; c < kConnections; ++c) graph.connect_windowed(100, c % 2 ? 800 : 400, 2, 5, 1, 1, c);
      for (int c = 0; c < kConnections && !alone; ++c) graph.connect({c});  // unused
      std::vector<std::vector<TaskId>> last(kConnections);
      for (int i = 0; i < kConnections * kRounds; ++i) {
        const int c = i % kConnections;
        last[c] = {graph.compute(c, 0.25 * pick(1, 12), last[c])};
        graph.send(c, 100.0 * pick(0, 9), last[c]);
      }
      return graph;
    };
    std::vector<ConnectionState> state;
    for (int iteration = 0; iteration < 3; ++iteration) {
      const Timeline alone = graph_of(true).run(state), shared = graph_of(false).run(state);
      for (std::size_t task = 0; task < alone.finish.size(); ++task) {
        ASSERT_NEAR(alone.start[task], shared.start[task], kClock) << seed;
        ASSERT_NEAR(alone.finish[task], shared.finish[task], kClock) << seed;
      }
      for (std::size_t c = 0; c < kConnections; ++c)
        EXPECT_NEAR(alone.connections[c].tcp.window, shared.connections[c].tcp.window, kClock);
      state = alone.connections;
      state.resize(kConnections);
    }
  }
}

// An idle connection's window, seen through how much leaves at once: the window is 8000 B after 7000 B.
double end_after_idle(double idle, double idle_limit, double bytes) {
  SmallGraph graph({kFast});
  const int connection = graph.connect_windowed(1000, 1e6, 1, idle_limit);
  const TaskId first = graph.send(connection, 7000);  // the last byte leaves at 2 s
  const TaskId pause = graph.wait(idle, {first});
  const TaskId second = graph.send(connection, bytes, {pause});
  const Timeline timeline = graph.run();
  return timeline.finish[second] - timeline.finish[pause];
}

TEST(Window, AnIdleTimeOutHalvesTheWindow) {
  // 15 s idle with a time-out of 10 s: once halved, 8000 to 4000 B.
  EXPECT_NEAR(end_after_idle(15, 10, 4000), 0, kClock);
  EXPECT_NEAR(end_after_idle(15, 10, 4001), 1, kClock);
}

TEST(Window, EachFurtherTimeOutHalvesItAgainDownToTheInitialWindow) {
  EXPECT_NEAR(end_after_idle(25, 10, 2000), 0, kClock);  // twice: 2000 B
  EXPECT_NEAR(end_after_idle(25, 10, 2001), 1, kClock);
  EXPECT_NEAR(end_after_idle(35, 10, 1000), 0, kClock);  // three times: 1000 B
  EXPECT_NEAR(end_after_idle(95, 10, 1000), 0, kClock);  // never below the initial window
  EXPECT_NEAR(end_after_idle(95, 10, 1001), 1, kClock);
}

TEST(Window, AShorterPauseOrNoTimeOutKeepsTheWindow) {
  EXPECT_NEAR(end_after_idle(9, 10, 8000), 0, kClock);
  EXPECT_NEAR(end_after_idle(1000, 0, 8000), 0, kClock);  // 0: never
}

TEST(Window, AnEmptyTransferDoesNotCountOneIdleTimeTwice) {
  // 15 s idle halve 8000 B once, to 4000 B, though an empty transfer asks first.
  SmallGraph graph({kFast});
  const int connection = graph.connect_windowed(1000, 1e6, 1, 10);
  const TaskId first = graph.send(connection, 7000);
  const TaskId pause = graph.wait(15, {first});
  const TaskId empty = graph.send(connection, 0, {pause});
  const TaskId second = graph.send(connection, 4000, {empty});
  const Timeline timeline = graph.run();
  EXPECT_NEAR(timeline.finish[second] - timeline.finish[pause], 0, kClock);
}

TEST(Window, AConnectionsStateGoesOnWhereThePreviousIterationLeftIt) {
  SmallGraph graph({kFast});
  graph.send(graph.connect_windowed(1000, 1e6, 1, 10), 8000);
  EXPECT_NEAR(graph.end(), 3, kClock);                                             // new: 1000, 2000, 4000, 1000
  EXPECT_NEAR(graph.run({{{.window = 8000}, Seconds{5}}}).end.value, 0, kClock);   // still wide
  EXPECT_NEAR(graph.run({{{.window = 8000}, Seconds{15}}}).end.value, 1, kClock);  // halved: 4000, 4000
}

TEST(Window, TheStateAfterARunIsTheWindowAndTheTimeSinceTheLastByte) {
  SmallGraph graph({kFast});
  const TaskId sent = graph.send(graph.connect_windowed(1000, 1e6, 1), 3000);  // 1000 at 0, 2000 at 1 s
  graph.connect_windowed(1000, 1e6, 1);                                        // never used
  graph.wait(6, {sent});                                                       // ends at 7 s
  const Timeline timeline = graph.run();
  EXPECT_EQ(timeline.connections[0].tcp.window, 4000);  // 1000 + 3000 acknowledged
  EXPECT_NEAR(timeline.connections[0].idle.value, 6, kClock);
  EXPECT_EQ(timeline.connections[1], ConnectionState{});
}

TEST(Window, AnUnusedConnectionGrowsIdleOverTheIteration) {
  SmallGraph graph({kFast});
  graph.connect_windowed(1000, 1e6, 1);
  graph.wait(6);
  const Timeline timeline = graph.run({{{.window = 4000}, Seconds{2}}});
  EXPECT_EQ(timeline.connections[0].tcp.window, 4000);
  EXPECT_NEAR(timeline.connections[0].idle.value, 8, kClock);  // 2 before and 6 now
}

TEST(Window, TwoIterationsInARowKeepBytesOnTheirWay) {
  // 1000 B per iteration, window 1000 B, round trip 1 s, nothing else: in one graph the second 1000 B wait
  // for the acknowledgement at 1 s. Simulated one by one, the second iteration must meet the same wait.
  SmallGraph both({kFast});
  const int connection = both.connect_windowed(1000, 1000, 1);
  both.send(connection, 1000, {both.send(connection, 1000)});
  EXPECT_NEAR(both.end(), 1, kClock);

  SmallGraph single({kFast});
  single.send(single.connect_windowed(1000, 1000, 1), 1000);
  const Timeline first = single.run();
  const Timeline second = single.run(first.connections);
  EXPECT_NEAR(first.end.value + second.end.value, 1, kClock);
}

}  // namespace
}  // namespace slmsim::window_test
