// Distances from loss to loss have the sum, the spread and the chance of random ones.
#include "sim/engine/loss_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace slmsim::loss_distance_test {
namespace {

constexpr double kSegment = 1448, kLoss = 1e-4, kMean = kSegment / kLoss;

TcpWindow lossy(std::uint64_t sequence, double loss = kLoss) {
  TcpWindow path;
  path.segment = Bytes{kSegment};
  path.loss = loss;
  path.loss_sequence = sequence;
  return path;
}

std::vector<double> distances(std::uint64_t sequence, int from, int to) {
  std::vector<double> out;
  for (int i = from; i <= to; ++i) out.push_back(distance_to_loss(lossy(sequence), i) / kMean);
  return out;
}

// -ln(1 - u) is above ln 2 for half of all, and its means over 16 equal parts have the variance 1 less that within parts. The
// last part begins at ln 16 and has the mean ln 16 + 1.
TEST(LossDistance, SixteenHaveTheMeanAndTheTailOfAnExponentialDistribution) {
  for (const std::uint64_t sequence : {0, 1, 7}) {
    for (const int from : {1, 17, 161}) {
      std::vector<double> some = distances(sequence, from, from + 15);
      std::ranges::sort(some);
      double sum = 0;
      for (const double one : some) sum += one;
      EXPECT_NEAR(sum, 16, 1e-12);
      EXPECT_NEAR(some.back(), std::log(16) + 1, 1e-12);
      EXPECT_LT(some[7], std::log(2));
      EXPECT_GT(some[8], std::log(2));
      for (std::size_t i = 0; i + 1 < some.size(); ++i) {  // each within its part
        EXPECT_GT(some[i], -std::log(1 - static_cast<double>(i) / 16));
        EXPECT_LT(some[i], -std::log(1 - static_cast<double>(i + 1) / 16));
      }
    }
  }
}

// Neighbours of independent ones have no correlation; of sixteen in a random order they have -1/15.
TEST(LossDistance, AreInNoOrder) {
  constexpr int kCount = 16'000;
  const std::vector<double> all = distances(3, 1, kCount + 1);
  double product = 0, square = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    product += (all[i] - 1) * (all[i + 1] - 1);
    square += (all[i] - 1) * (all[i] - 1);
  }
  EXPECT_NEAR(product / square, -1.0 / 16, 0.03);
}

TEST(LossDistance, DifferFromWayToWayAndFromBlockToBlock) {
  EXPECT_NE(distances(1, 1, 16), distances(2, 1, 16));
  EXPECT_NE(distances(1, 1, 16), distances(1, 17, 32));
  EXPECT_EQ(distances(1, 1, 16), distances(1, 1, 16));
}

TEST(LossDistance, TheFirstIsNearTheMean) {
  double sum = 0;
  constexpr int kWays = 4000;
  for (int way = 0; way < kWays; ++way) {
    const double first = distance_to_loss(lossy(static_cast<std::uint64_t>(way)), 0) / kMean;
    EXPECT_GE(first, 0.5);
    EXPECT_LE(first, 1.5);
    sum += first;
  }
  EXPECT_NEAR(sum / kWays, 1, 0.02);
}

TEST(LossDistance, WithoutLossThereIsNone) { EXPECT_EQ(distance_to_loss(lossy(1, 0), 0), INFINITY); }

}  // namespace
}  // namespace slmsim::loss_distance_test
