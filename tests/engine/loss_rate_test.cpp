// Transfers that meet many losses take as long as their parts, whose losses are simulated one by one.
#include "sim/engine/loss_rate.h"

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"

namespace slmsim::loss_rate_test {
namespace {

constexpr double kSegment = 1448;
constexpr int kParts = 60;

Route lossy(double loss, CongestionControl congestion_control = CongestionControl::kReno) {
  Route route;
  route.links = {0};
  route.latency = Seconds{0.025};
  route.windowed = true;
  route.window = {.initial = Bytes{10 * kSegment}, .steady = Bytes{6e6}, .rtt = Seconds{0.05}};
  route.window.segment = Bytes{kSegment};
  route.window.loss = loss;
  route.window.congestion_control = congestion_control;
  return route;
}

// A first transfer, which meets the losses after slow start one by one, and then as much in equal parts, one after the other.
TaskGraph sent_in(int parts, double part, const Route& route) {
  TaskGraph graph({{"link", BytesPerSecond{1e8}}}, 2);
  const int connection = graph.add_connection({0, 1, 1, route});
  const auto tag = graph.tag({.name = "send"});
  for (int i = 0; i < kParts; ++i) graph.transfer(connection, Bytes{part}, tag, {});
  for (int i = 0; i < parts; ++i) graph.transfer(connection, Bytes{part * kParts / parts}, tag, {});
  return graph;
}

double second_half(const TaskGraph& graph) {
  const Timeline timeline = simulate(graph);
  return timeline.finish.back() - timeline.finish[kParts - 1];
}

// Parts in which 3.4 segments are lost are too small for a mean.
TEST(LossRate, OneTransferTakesAsLongAsItsPartsWhoseLossesAreSimulated) {
  for (const auto algorithm : {CongestionControl::kReno, CongestionControl::kCubic}) {
    for (const double loss : {0.005, 0.01, 0.02, 0.05, 0.1}) {
      const Route route = lossy(loss, algorithm);
      const double part = 3.4 / loss * kSegment;
      ASSERT_GT(losses_of(route.window, kParts * part), 0);
      ASSERT_EQ(losses_of(route.window, part), 0);
      // In a part, the last window is not full.
      EXPECT_NEAR(second_half(sent_in(1, part, route)) / second_half(sent_in(kParts, part, route)), 1, 0.05) << loss;
    }
  }
}

TEST(LossRate, IsTheSameWhereTheLinkMightBeShared) {
  const TaskGraph alone = sent_in(3, 1e5, lossy(0.05));
  TaskGraph graph = alone;
  graph.add_connection({0, 1, 1, lossy(0.05)});  // unused
  EXPECT_NEAR(second_half(alone), second_half(graph), 1e-9 * second_half(graph));
}

// 4 MB are 2762 segments of 1448 B, of which 276.2 are lost at 10 %.
TEST(LossRate, CountsLosses) { EXPECT_NEAR(losses_of(lossy(0.1).window, 4e6), 276.2, 0.1); }

TEST(LossRate, FewLossesAreSimulated) {
  EXPECT_EQ(losses_of(lossy(1e-3).window, 1e12), 0);
  EXPECT_EQ(losses_of(lossy(0.1, CongestionControl::kBbr).window, 4e6), 0);
  EXPECT_EQ(losses_of(lossy(0.05).window, 3 * kSegment), 0);  // less than a window of 5.5 segments
}

}  // namespace
}  // namespace slmsim::loss_rate_test
