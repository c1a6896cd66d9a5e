// Acknowledgements behind the other direction's data, by hand.
#include "sim/engine/link_queues.h"

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim {
namespace {

TEST(LinkQueues, AreTakenAsTheirMean) {
  // 2 B drain at 10 B/s in 0.2 s: 0.2 B s under the triangle. Then nothing until 0.5 s, when 1 B comes.
  LinkQueues queues({{.name = "link", .bandwidth = BytesPerSecond{10}}});
  const auto first = queues.look(0, 0);
  queues.add(0, 2, 0);
  EXPECT_DOUBLE_EQ(queues.wait(0, first, 0), 0.2);  // of no time, what is there
  EXPECT_DOUBLE_EQ(queues.wait(0, first, 0.1), 0.15);
  EXPECT_DOUBLE_EQ(queues.wait(0, first, 0.2), 0.1);
  EXPECT_DOUBLE_EQ(queues.wait(0, first, 0.4), 0.05);
  const auto second = queues.look(0, 0.5);
  queues.add(0, 1, 0.5);
  EXPECT_NEAR(queues.wait(0, second, 0.55), 0.075, 1e-12);
  EXPECT_NEAR(queues.wait(0, second, 0.7), 0.1 / 4, 1e-12);
}

TEST(LinkQueues, HoldWhatRoutersKeep) {
  // 250 ms at 10 B/s: 2.5 B, whatever comes.
  LinkQueues queues({{.name = "link", .bandwidth = BytesPerSecond{10}}});
  queues.add(0, 100, 0);
  EXPECT_DOUBLE_EQ(queues.wait(0, queues.look(0, 0), 0), 0.25);
}

TEST(LinkQueues, AreNoOtherWhetherABurstComesAMomentBeforeOrAfter) {
  const auto wait = [](double burst) {
    LinkQueues queues({{.name = "link", .bandwidth = BytesPerSecond{10}}});
    if (burst < 1) queues.add(0, 2, burst);
    const auto first = queues.look(0, 1);
    if (burst >= 1) queues.add(0, 2, burst);
    return queues.wait(0, first, 1.1);
  };
  EXPECT_NEAR(wait(1 - 1e-9), wait(1), 1e-8);
  EXPECT_NEAR(wait(1 + 1e-9), wait(1), 1e-8);
  EXPECT_DOUBLE_EQ(wait(1), 0.15);
}

// Windows of 100 B at 1000 B/s with 0.1 s of latency each way: one there at 0 and, once it is acknowledged at 0.2 s, another;
// both take 0.1 s to leave.
struct TwoWays {
  explicit TwoWays(bool paired) : graph({1000, 1000}, paired) {
    there = graph.connect_windowed(100, 100, 0.2, 0, 1, 0.1, 0);
    back = graph.connect_windowed(100, 100, 0.2, 0, 1, 0.1, 1);
  }
  SmallGraph graph;
  int there = 0, back = 0;
};

TEST(LinkQueues, HoldUpAcknowledgementsWhereBothWaysAreFull) {
  // 50 ms late, 100 B come the other way. The first window's acknowledgements come from 0.1 s, when 50 B are before them, to
  // 0.2 s; those 50 B leave within 50 ms, and are 12.5 B as a mean over these 0.1 s. So the second window leaves at 0.2125 s, and
  // its last byte arrives at 0.4125 s.
  TwoWays ways(true);
  const TaskId sent = ways.graph.send(ways.there, 200);
  const TaskId answered = ways.graph.send(ways.back, 100, {ways.graph.wait(0.05)});
  const Timeline timeline = ways.graph.run();
  EXPECT_NEAR(timeline.finish[sent], 0.4125, kClock);
  EXPECT_NEAR(timeline.finish[answered], 0.25, kClock);
}

TEST(LinkQueues, HoldUpAcknowledgementsNoOtherwiseWhereABurstComesAMomentLater) {
  // At 0.1 s the first acknowledgement and the other way's burst come together: 100 B that leave within these 0.1 s, 50 B as a
  // mean, so 50 ms, and no other by more than the moment.
  for (const double moment : {-1e-9, 0.0, 1e-9}) {
    TwoWays ways(true);
    const TaskId sent = ways.graph.send(ways.there, 200);
    ways.graph.send(ways.back, 100, {ways.graph.wait(0.1 + moment)});
    EXPECT_NEAR(ways.graph.run().finish[sent], 0.45, kClock) << moment;
  }
}

TEST(LinkQueues, HoldUpAcknowledgementsWhicheverLinkOfTheWayIsSlowestByAHair) {
  // As above, over a path (links 0 and 1) and the NIC of the far end (2 out, 3 in): what is sent back queues before the NIC or
  // before the path, and so do acknowledgements, at a tie as on either side of it.
  for (const double nic : {999.999, 1000.0, 1000.001}) {
    SmallGraph graph({1000, 1000, nic, nic}, true);
    const int there = graph.connect_windowed_over({0, 3}, 100, 100, 0.2, 0, 1, 0.1);
    const int back = graph.connect_windowed_over({2, 1}, 100, 100, 0.2, 0, 1, 0.1);
    const TaskId sent = graph.send(there, 200);
    graph.send(back, 100, {graph.wait(0.05)});
    EXPECT_NEAR(graph.run().finish[sent], 0.4125, 1e-5) << nic;
  }
}

TEST(LinkQueues, OfLinksThatAreFullBothWaysAreNoLongerWhateverTheStateBefore) {
  // 10 Mbit/s both ways, 50 ms, windows of 4 MiB, 67 times what the path carries in a round trip: 25 MB each way take 20 s. What
  // waits for more than 250 ms is not kept, so that acknowledgements never hold up a window that lasts 3.4 s.
  const auto end = [](const std::vector<ConnectionState>& before) {
    SmallGraph graph({1.25e6, 1.25e6}, true);
    constexpr double kWindow = 4 << 20;
    for (const int link : {0, 1}) {
      const int connection = graph.connect_windowed(14600, kWindow, 0.05, 0, 1, 0.025, link);
      for (int i = 0; i < 10; ++i) graph.send(connection, 2.5e6);
    }
    return graph.run(before);
  };
  const Timeline first = end({});
  const Timeline second = end(first.connections);
  EXPECT_NEAR(second.end.value, 20.025, 0.2);
  EXPECT_NEAR(first.end.value / second.end.value, 1, 0.05);  // a slow start of some round trips of 50 to 300 ms
}

TEST(LinkQueues, HoldUpNothingWhereTheOtherWayIsEmptyOrAnotherWire) {
  TwoWays alone(true);
  const TaskId sent = alone.graph.send(alone.there, 200);
  EXPECT_NEAR(alone.graph.run().finish[sent], 0.4, kClock);
  TwoWays apart(false);
  const TaskId other = apart.graph.send(apart.there, 200);
  apart.graph.send(apart.back, 100, {apart.graph.wait(0.05)});
  EXPECT_NEAR(apart.graph.run().finish[other], 0.4, kClock);
}

TEST(LinkQueues, HoldUpNothingOfConnectionsThatSocketsLimit) {
  // The other way carries no more than 500 of 1000 B/s, so nothing queues there.
  SmallGraph graph({1000, 1000}, true);
  const TaskId sent = graph.send(graph.connect_windowed(100, 100, 0.2, 0, 1, 0.1, 0), 200);
  graph.send(graph.connect({1}, 0.1, 500), 100, {graph.wait(0.05)});
  EXPECT_NEAR(graph.run().finish[sent], 0.4, kClock);
}

}  // namespace
}  // namespace slmsim
