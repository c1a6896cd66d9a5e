// A contraction goes on from any state of its connections as the graph does.
#include "sim/engine/contraction.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/engine/small_graph.h"

namespace slmsim::contraction_test {
namespace {

// 12 computations of 0.5 s, a transfer of 400 B at 100 B/s whose window holds 200 B (2 s, and 1 s of latency), 20 computations of
// 0.25 s, and 200 B on a connection without a window (2 s, and 0.5 s of latency).
TEST(Contraction, IsWhatIsBetweenTransfersWithWindows) {
  SmallGraph graph({100.0, 100.0});
  graph.connect_windowed(200, 200, 2, 0, 1, 1, 0);
  graph.connect({1}, 0.5);
  std::vector<TaskId> last;
  for (int i = 0; i < 12; ++i) last = {graph.compute(0, 0.5, last)};
  last = {graph.send(0, 400, last)};
  for (int i = 0; i < 20; ++i) last = {graph.compute(1, 0.25, last)};
  graph.send(1, 200, last);
  const std::optional<TaskGraph> small = contracted(graph.graph(), graph.run());
  ASSERT_TRUE(small);
  ASSERT_EQ(small->tasks().size(), 3u);
  EXPECT_NEAR(small->tasks()[0].amount, 6, 1e-9);
  EXPECT_EQ(small->tasks()[1].kind, TaskKind::kTransfer);
  EXPECT_EQ(small->tasks()[1].amount, 400);
  EXPECT_NEAR(small->tasks()[2].amount, 20 * 0.25 + 2 + 0.5, 1e-9);
  EXPECT_EQ(small->predecessors(2)[0], 1u);
}

TEST(Contraction, IsNotTriedWhereMostTransfersHaveWindows) {
  SmallGraph graph({100.0});
  graph.connect_windowed(200, 200, 2);
  std::vector<TaskId> last;
  for (int i = 0; i < 5; ++i) last = {graph.send(0, 100, {graph.compute(0, 1, last)})};
  EXPECT_FALSE(contracted(graph.graph(), graph.run()));
}

// Devices compute in turns, wait for each other, and send over connections without windows of which several transfers may wait
// at a time; every sixtieth task is sent over one of three lossy connections.
SmallGraph random_graph(unsigned seed) {
  constexpr int kDevices = 4, kLossy = 3, kPlain = 4, kTasks = 1200;
  std::mt19937 random(seed);
  const auto pick = [&](int until) { return std::uniform_int_distribution<int>(0, until - 1)(random); };
  SmallGraph graph(std::vector<double>(kLossy + kPlain, 1e5));
  for (int i = 0; i < kLossy; ++i) graph.connect_lossy(2e4, 0.25, 0.002, i);
  for (int i = 0; i < kPlain; ++i) graph.connect({kLossy + i}, 0.01 * i);
  std::vector<TaskId> last(kDevices, kNoTask);
  for (int task = 0; task < kTasks; ++task) {
    const int device = pick(kDevices), other = pick(kDevices);
    const bool waits = pick(6) == 0;
    const std::vector<TaskId> after = {last[device], waits ? last[other] : kNoTask};
    if (task % 60 == 0) {
      last[device] = graph.send(pick(kLossy), 1000 * (1 + pick(40)), after);
    } else if (pick(5) == 0) {
      const TaskId sent = graph.send(kLossy + device, 100 * pick(30), {last[device]});
      if (pick(2)) last[other] = graph.wait(0, {last[other], sent});
    } else {
      last[device] = graph.compute(device, 0.01 * pick(10), after);
    }
  }
  return graph;
}

TEST(Contraction, OfRandomGraphsGoesOnAsTheGraphDoes) {
  int losses = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const SmallGraph graph = random_graph(seed);
    Timeline whole = graph.run();
    const std::optional<TaskGraph> small = contracted(graph.graph(), whole);
    ASSERT_TRUE(small) << seed;
    for (int iteration = 0; iteration < 10; ++iteration) {
      const Timeline few = simulate(*small, whole.connections);
      whole = graph.run(whole.connections);
      ASSERT_NEAR(few.end / whole.end, 1, 1e-9) << seed << " " << iteration;
      for (std::size_t i = 0; i < whole.connections.size(); ++i) {
        const TcpState &a = few.connections[i].tcp, &b = whole.connections[i].tcp;
        EXPECT_NEAR(a.window, b.window, 1e-6 * b.window);
        EXPECT_EQ(a.losses, b.losses);
      }
    }
    losses += whole.connections[0].tcp.losses;
  }
  EXPECT_GT(losses, 100);
}

}  // namespace
}  // namespace slmsim::contraction_test
