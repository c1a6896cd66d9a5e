// Tasks that are processed in their order give the same bits as events.
#include "sim/engine/in_order.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::in_order_test {
namespace {

constexpr int kConnections = 6, kRounds = 40;

// Transfers of each connection, one after the other, each after a computation of its own. All connections have
// windows, every second one a wider one, and each a link of its own.
struct Transfers {
  std::vector<std::vector<double>> pauses, bytes;  // per connection

  static Transfers equal(unsigned seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    std::vector<double> pauses, bytes;
    for (int i = 0; i < kRounds; ++i) {
      pauses.push_back(0.25 * pick(1, 12));
      bytes.push_back(100.0 * pick(0, 9));
    }
    return {std::vector(kConnections, pauses), std::vector(kConnections, bytes)};
  }

  SmallGraph graph() const {
    SmallGraph graph(std::vector<double>(kConnections, 100.0));
    for (int c = 0; c < kConnections; ++c) graph.connect_windowed(100, c % 2 ? 800 : 400, 2, 5, 1, 1, c);
    std::vector<std::vector<TaskId>> last(kConnections);
    for (std::size_t i = 0; i < kRounds; ++i) {
      for (int c = 0; c < kConnections; ++c) {
        const auto at = static_cast<std::size_t>(c);
        last[at] = {graph.compute(c, pauses[at][i], last[at])};
        graph.send(c, bytes[at][i], last[at]);
      }
    }
    return graph;
  }
};

void expect_as_by_events(const Transfers& transfers) {
  const SmallGraph graph = transfers.graph();
  InOrder simulation(graph.graph());
  std::vector<ConnectionState> state;
  for (int iteration = 0; iteration < 3; ++iteration) {
    ASSERT_TRUE(simulation.run(state));
    const Timeline in_order = simulation.timeline();
    const Timeline by_events = graph.run(state, {.always_events = true});
    EXPECT_EQ(in_order.start, by_events.start);
    EXPECT_EQ(in_order.finish, by_events.finish);
    EXPECT_EQ(in_order.connections, by_events.connections);
    state = by_events.connections;
  }
}

TEST(InOrder, RandomTransfersTakePlaceAsByEvents) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t until) {
      return std::uniform_int_distribution<std::size_t>(0, until - 1)(random);
    };
    Transfers transfers = Transfers::equal(seed);
    for (std::size_t changes = 1 + pick(6); changes > 0; --changes) {
      auto& values = pick(2) ? transfers.pauses : transfers.bytes;
      values[pick(kConnections)][pick(kRounds)] += 50;
    }
    expect_as_by_events(transfers);
  }
}

// Two computations end together. The first transfer waits for one of them, the second one for both.
TEST(InOrder, TheFirstOfTwoTransfersThatBecomeReadyTogetherIsSentFirst) {
  for (const bool alike : {true, false}) {
    SmallGraph graph({100.0});
    graph.connect_windowed(100, 400, 2, 5, 1, 1, 0);
    const TaskId one = graph.compute(0, 1, {}), half = graph.compute(1, 0.5, {});
    const TaskId other = alike ? graph.compute(2, 1, {}) : graph.compute(1, 0.5, {half});
    graph.send(0, 200, {one});
    graph.send(0, 300, {other, one});
    InOrder simulation(graph.graph());
    ASSERT_TRUE(simulation.run({}));
    const Timeline in_order = simulation.timeline(), by_events = graph.run({}, {.always_events = true});
    EXPECT_EQ(in_order.start, by_events.start);
    EXPECT_EQ(in_order.finish, by_events.finish);
    EXPECT_EQ(in_order.connections, by_events.connections);
  }
}

// The second one waits for less than the first one: which one is sent first depends on the order of two equal ends.
TEST(InOrder, TransfersThatDifferentTasksReleaseAtOnceAreLeftToEvents) {
  SmallGraph graph({100.0});
  graph.connect_windowed(100, 400, 2, 5, 1, 1, 0);
  const TaskId one = graph.compute(0, 1, {}), other = graph.compute(1, 1, {});
  graph.send(0, 200, {one, other});
  graph.send(0, 300, {one});
  EXPECT_FALSE(InOrder(graph.graph()).run({}));
}

}  // namespace
}  // namespace slmsim::in_order_test
