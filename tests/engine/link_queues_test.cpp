// Acknowledgements behind the other direction's data, by hand.
#include "sim/engine/link_queues.h"

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim {
namespace {

TEST(LinkQueues, DrainAtTheRateOfTheirLink) {
  LinkQueues queues({{.name = "link", .bandwidth = BytesPerSecond{10}}});
  queues.add(0, 100, 0);
  EXPECT_DOUBLE_EQ(queues.wait(0, 0), 10);
  EXPECT_DOUBLE_EQ(queues.wait(0, 4), 6);
  queues.add(0, 20, 4);
  EXPECT_DOUBLE_EQ(queues.wait(0, 4), 8);
  EXPECT_DOUBLE_EQ(queues.wait(0, 30), 0);
}

// Windows of 100 B at 100 B/s with a second of latency each way: one there at 0 and, once it is acknowledged at 2 s,
// another; both take a second to leave.
struct TwoWays {
  explicit TwoWays(bool paired) : graph({100, 100}, paired) {
    there = graph.connect_windowed(100, 100, 2, 0, 1, 1, 0);
    back = graph.connect_windowed(100, 100, 2, 0, 1, 1, 1);
  }
  SmallGraph graph;
  int there = 0, back = 0;
};

TEST(LinkQueues, HoldUpAcknowledgementsWhereBothWaysAreFull) {
  // Half a second late, 100 B come the other way: at 1 s, when the first window has left and its acknowledgement would,
  // 50 B are before it. So the second window leaves at 2.5 s, and its last byte arrives at 4.5 s.
  TwoWays ways(true);
  const TaskId sent = ways.graph.send(ways.there, 200);
  const TaskId answered = ways.graph.send(ways.back, 100, {ways.graph.wait(0.5)});
  const Timeline timeline = ways.graph.run();
  EXPECT_NEAR(timeline.finish[sent], 4.5, kClock);
  EXPECT_NEAR(timeline.finish[answered], 2.5, kClock);
}

TEST(LinkQueues, HoldUpAcknowledgementsWhicheverLinkOfTheWayIsSlowestByAHair) {
  // As above, over a path (links 0 and 1) and the NIC of the far end (2 out, 3 in): what is sent back queues before the NIC or
  // before the path, and so do acknowledgements, at a tie as on either side of it.
  for (const double nic : {99.9999, 100.0, 100.0001}) {
    SmallGraph graph({100, 100, nic, nic}, true);
    const int there = graph.connect_windowed_over({0, 3}, 100, 100, 2, 0, 1, 1);
    const int back = graph.connect_windowed_over({2, 1}, 100, 100, 2, 0, 1, 1);
    const TaskId sent = graph.send(there, 200);
    graph.send(back, 100, {graph.wait(0.5)});
    EXPECT_NEAR(graph.run().finish[sent], 4.5, 1e-4) << nic;
  }
}

TEST(LinkQueues, HoldUpNothingWhereTheOtherWayIsEmptyOrAnotherWire) {
  TwoWays alone(true);
  const TaskId sent = alone.graph.send(alone.there, 200);
  EXPECT_NEAR(alone.graph.run().finish[sent], 4, kClock);
  TwoWays apart(false);
  const TaskId other = apart.graph.send(apart.there, 200);
  apart.graph.send(apart.back, 100, {apart.graph.wait(0.5)});
  EXPECT_NEAR(apart.graph.run().finish[other], 4, kClock);
}

TEST(LinkQueues, HoldUpNothingOfConnectionsThatSocketsLimit) {
  // The other way carries no more than 50 of 100 B/s, so nothing queues there.
  SmallGraph graph({100, 100}, true);
  const TaskId sent = graph.send(graph.connect_windowed(100, 100, 2, 0, 1, 1, 0), 200);
  graph.send(graph.connect({1}, 1, 50), 100, {graph.wait(0.5)});
  EXPECT_NEAR(graph.run().finish[sent], 4, kClock);
}

}  // namespace
}  // namespace slmsim
