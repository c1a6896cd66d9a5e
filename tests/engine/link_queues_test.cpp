// Acknowledgements behind the other direction's data, by hand.
#include "sim/engine/link_queues.h"

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::link_queues_test {
namespace {

LinkQueues of_ten_bytes_per_second(int links = 1) {
  return {std::vector<Link>(static_cast<std::size_t>(links), {.name = "link", .bandwidth = BytesPerSecond{10}}), 1e9};
}

TEST(LinkQueues, GrowWhileBytesComeFasterThanTheyLeave) {
  // 2 B that come at 20 B/s are there at 0.1 s, when 1 B has left; the other one leaves until 0.2 s.
  LinkQueues queues = of_ten_bytes_per_second();
  queues.add(0, 2, 20, 0);
  for (const auto& [date, wait] : {std::pair{0.0, 0.0}, {0.05, 0.05}, {0.1, 0.1}, {0.15, 0.05}, {0.2, 0.0}, {9.0, 0.0}})
    EXPECT_NEAR(queues.wait({0}, date, date), wait, 1e-12) << date;
  EXPECT_NEAR(queues.wait({0}, 0, 0.3), 0.1, 1e-12);  // the most of it
  EXPECT_NEAR(queues.wait({0}, 0.02, 0.08), 0.08, 1e-12);
  EXPECT_NEAR(queues.wait({0}, 0.12, 0.3), 0.08, 1e-12);
}

TEST(LinkQueues, AddUpWhatComesTogether) {
  // Each of 6 B/s leaves no queue. Together 2 B/s are too much, for 1/6 s.
  LinkQueues queues = of_ten_bytes_per_second();
  queues.add(0, 1, 6, 0);
  queues.add(0, 1, 6, 0);
  EXPECT_NEAR(queues.wait({0}, 0, 1), 2.0 / 6 / 10, 1e-12);
  queues.add(0, 1, 6, 2);
  EXPECT_EQ(queues.wait({0}, 2, 3), 0);
}

TEST(LinkQueues, OfSeveralLinksAreWaitedForOneAfterTheOther) {
  LinkQueues queues = of_ten_bytes_per_second(2);
  queues.add(0, 1, INFINITY, 0);
  queues.add(1, 2, INFINITY, 0);
  EXPECT_NEAR(queues.wait({0, 1}, 0.05, 0.05), 0.05 + 0.15, 1e-12);
  EXPECT_NEAR(queues.wait({1}, 0.05, 0.05), 0.15, 1e-12);
}

TEST(LinkQueues, HoldWhatRoutersKeep) {
  // 250 ms at 10 B/s: 2.5 B, whatever comes.
  LinkQueues queues = of_ten_bytes_per_second();
  queues.add(0, 100, INFINITY, 0);
  EXPECT_DOUBLE_EQ(queues.wait({0}, 0, 0), 0.25);
  queues.add(0, 100, 20, 1);  // until 6 s
  EXPECT_NEAR(queues.wait({0}, 6, 6), 0.25, 1e-12);
  EXPECT_NEAR(queues.wait({0}, 6.1, 6.1), 0.15, 1e-12);
}

TEST(LinkQueues, TellNothingOfWhatIsTooLongAgo) {
  LinkQueues queues({{.name = "link", .bandwidth = BytesPerSecond{10}}}, 1);
  queues.add(0, 2, INFINITY, 0);
  queues.add(0, 2, INFINITY, 5);
  EXPECT_EQ(queues.wait({0}, 4.5, 4.6), 0);
  EXPECT_NEAR(queues.wait({0}, 4.5, 5.5), 0.2, 1e-12);
}

// Windows of 100 B at 1000 B/s with 0.1 s of latency each way: one there at 0 and, once it is acknowledged at 0.2 s, another;
// both take 0.1 s to leave.
struct DuplexFlows {
  explicit DuplexFlows(bool paired) : graph({1000, 1000}, paired) {
    there = graph.connect_windowed(100, 100, 0.2, 0, 1, 0.1, 0);
    back = graph.connect_windowed(100, 100, 0.2, 0, 1, 0.1, 1);
  }
  SmallGraph graph;
  int there = 0, back = 0;
};

TEST(LinkQueues, HoldUpAcknowledgementsWhereBothWaysAreFull) {
  // 50 ms late, 100 B come the other way, all at once. The first window's acknowledgements come from 0.1 s, when 50 B are before
  // them, to 0.2 s; so those of its first bytes are back at 0.25 s in place of 0.2 s, and all others follow at the distance at
  // which they left. The second window leaves from 0.25 to 0.35 s, and its last byte arrives at 0.45 s.
  DuplexFlows flows(true);
  const TaskId sent = flows.graph.send(flows.there, 200);
  const TaskId answered = flows.graph.send(flows.back, 100, {flows.graph.wait(0.05)});
  const Timeline timeline = flows.graph.run();
  EXPECT_NEAR(timeline.finish[sent], 0.45, kClock);
  EXPECT_NEAR(timeline.finish[answered], 0.25, kClock);
}

TEST(LinkQueues, HoldUpAcknowledgementsByTheMostThatComesWhileTheyDo) {
  // At 0.15 s, when half of the acknowledgements have come: 100 B. Those behind it are back 0.1 s later, at 0.35 s for the last one,
  // so that the second window begins to leave at 0.3 s.
  for (const double moment : {-1e-9, 0.0, 1e-9}) {
    DuplexFlows flows(true);
    const TaskId sent = flows.graph.send(flows.there, 200);
    flows.graph.send(flows.back, 100, {flows.graph.wait(0.15 + moment)});
    EXPECT_NEAR(flows.graph.run().finish[sent], 0.5, kClock) << moment;
  }
}

TEST(LinkQueues, HoldUpAcknowledgementsWithoutAJumpWhereABurstComesAsTheyEnd) {
  // Sockets copy 4000 B/s. From 0.2 s on, when the last acknowledgement has come, the other way's data holds up none; a
  // microsecond before that it holds up the last one by 3000 B/s x 1 us / (1000 B/s).
  for (const double moment : {-1e-6, 0.0, 1e-6}) {
    SmallGraph graph({1000, 1000}, true);
    const int there = graph.connect_windowed_over({0}, 100, 100, 0.2, 0, 1, 0.1, 4000);
    const int back = graph.connect_windowed_over({1}, 100, 100, 0.2, 0, 1, 0.1, 4000);
    const TaskId sent = graph.send(there, 200);
    graph.send(back, 100, {graph.wait(0.2 + moment)});
    EXPECT_NEAR(graph.run().finish[sent], 0.4 + 3 * std::max(0.0, -moment), kClock) << moment;
  }
}

TEST(LinkQueues, HoldUpAcknowledgementsWhicheverLinkOfTheWayIsSlowest) {
  // As in the first of these, over a path (links 0 and 1) and the NIC of the far end (2 out, 3 in). Returning data queue before
  // the NIC, or before the path by what the NIC is faster: at 0.1 s, 50 ms after its last byte was sent, the path has carried 50 B
  // of it, and 50 B are at one place or the other.
  for (const double nic : {999.999, 1000.0, 1000.001, 2000.0, 4000.0, 1e12}) {
    SmallGraph graph({1000, 1000, nic, nic}, true);
    const int there = graph.connect_windowed_over({0, 3}, 100, 100, 0.2, 0, 1, 0.1);
    const int back = graph.connect_windowed_over({2, 1}, 100, 100, 0.2, 0, 1, 0.1);
    const TaskId sent = graph.send(there, 200);
    graph.send(back, 100, {graph.wait(0.05)});
    EXPECT_NEAR(graph.run().finish[sent], 0.45, 1e-5) << nic;
  }
}

TEST(LinkQueues, GrowFromNothingAsSocketsBecomeFasterThanTheLink) {
  // The other way's 100 B come from 0.05 s on, in 100 B / sockets, and leave in 0.1 s: the last one waits for the difference.
  for (const double sockets : {900.0, 1000.0, 1000.001, 1100.0, 2000.0}) {
    SmallGraph graph({1000, 1000}, true);
    const int there = graph.connect_windowed_over({0}, 100, 100, 0.2, 0, 1, 0.1);
    const int back = graph.connect_windowed_over({1}, 100, 100, 0.2, 0, 1, 0.1, sockets);
    const TaskId sent = graph.send(there, 200);
    graph.send(back, 100, {graph.wait(0.05)});
    EXPECT_NEAR(graph.run().finish[sent], 0.4 + std::max(0.0, 0.1 - 100 / sockets), kClock) << sockets;
  }
}

TEST(LinkQueues, CostNothingWhereTheWindowOutlastsThem) {
  // Windows of 400 B take 0.4 s to leave. The first acknowledgements would be back at 0.2 s, and are at 0.25 s: in time.
  SmallGraph graph({1000, 1000}, true);
  const TaskId sent = graph.send(graph.connect_windowed(400, 400, 0.2, 0, 1, 0.1, 0), 800);
  graph.send(graph.connect_windowed(100, 100, 0.2, 0, 1, 0.1, 1), 100, {graph.wait(0.05)});
  EXPECT_NEAR(graph.run().finish[sent], 0.9, kClock);
}

TEST(LinkQueues, AreThoseOfAllThatIsTcpWhetherOrNotItsWindowBinds) {
  // Both ways' windows cover what the path carries in a round trip, 200 B. By itself neither limits anything.
  for (const bool windowed : {false, true}) {
    TaskGraph graph({{.name = "there", .bandwidth = BytesPerSecond{1000}, .back = 1},
                     {.name = "back", .bandwidth = BytesPerSecond{1000}, .back = 0}},
                    2);
    const TagId tag = graph.tag({.name = "send"});
    std::vector<TaskId> sent;
    for (const int way : {0, 1}) {
      Route route;
      route.links = {way};
      route.latency = Seconds{0.1};
      route.windowed = windowed;
      route.window = {Bytes{200}, Bytes{200}, Seconds{0.2}, Seconds{0}};
      sent.push_back(graph.transfer(graph.add_connection({way, 1 - way, 1, route}), Bytes{400}, tag, {}));
    }
    // Both windows leave until 0.2 s. From 0.1 s on acknowledgements find 100 B before them: they are back at 0.3 s.
    EXPECT_NEAR(simulate(graph).finish[sent[0]], 0.6, kClock) << windowed;
    EXPECT_NEAR(simulate(graph).finish[sent[1]], 0.6, kClock) << windowed;
  }
}

TEST(LinkQueues, OfLinksThatAreFullBothWaysAreNoLongerWhateverTheStateBefore) {
  // 10 Mbit/s both ways, 50 ms, windows of 4 MiB, 67 times the bytes of a round trip: 25 MB each way take 20 s. Data that
  // wait for more than 250 ms are dropped, so that acknowledgements never hold up a window that lasts 3.4 s.
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
  DuplexFlows alone(true);
  const TaskId sent = alone.graph.send(alone.there, 200);
  EXPECT_NEAR(alone.graph.run().finish[sent], 0.4, kClock);
  DuplexFlows apart(false);
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
}  // namespace slmsim::link_queues_test
