#include "sim/compute/kernel.h"

#include <gtest/gtest.h>

namespace slmsim::product_test {
namespace {

// The prologue is 32 steps; a 128 x 128 tile takes (1 + 8 (1/128 + 1/128)) / (1 + 8 (1/256 + 1/128)) of its FLOPs' time.
constexpr double kSquare = 1.125 / 1.09375;

TEST(TileEfficiency, IsOneButForThePrologueWhereTheLargestTilesFillTheirWaves) {
  // 8 x 16 tiles of 256 x 128 on 128 multiprocessors.
  EXPECT_DOUBLE_EQ(tile_efficiency({1, 2048, 2048, 992}, 128), 992.0 / 1024);
  EXPECT_DOUBLE_EQ(tile_efficiency({2, 2048, 2048, 992}, 128), 992.0 / 1024);  // two waves
  EXPECT_DOUBLE_EQ(tile_efficiency({1, 2048, 2048, 99968}, 128), 99968.0 / 1e5);
}

TEST(TileEfficiency, TakesSmallerTilesWhereTheLargestLeaveMultiprocessorsIdle) {
  // 64 tiles of 128 x 128 fill 64 multiprocessors, 32 of 256 x 128 do not.
  EXPECT_DOUBLE_EQ(tile_efficiency({1, 1024, 1024, 992}, 64), 992.0 / 1024 / kSquare);
}

TEST(TileEfficiency, LosesHalfOfWhatTheLastWaveLeavesIdle) {
  // On 96 multiprocessors 128 tiles are 1 1/3 waves: 1 2/3 in place of 2. Larger parts of the sum cannot be cut: k is short.
  const double whole = tile_efficiency({1, 2048, 2048, 96}, 128), part = tile_efficiency({1, 2048, 2048, 96}, 96);
  EXPECT_LT(part, whole);
  EXPECT_GE(part, whole * (4.0 / 3) / (5.0 / 3) * (1 - 1e-12));
}

TEST(TileEfficiency, SplitsALongInnerSumOverIdleMultiprocessors) {
  // One tile of 256 x 128 on 8 multiprocessors: the sum in eight parts, each with two prologues.
  EXPECT_GE(tile_efficiency({1, 256, 128, 8192}, 8), 1024.0 / (1024 + 64) * (1 - 1e-12));
  // Too short to split: eight tiles of 64 x 64, of which each takes (1 + 8 (1/64 + 1/64)) / (1 + 8 (1/256 + 1/128)) of the
  // time of its FLOPs, and a prologue.
  EXPECT_DOUBLE_EQ(tile_efficiency({1, 256, 128, 96}, 8), 96.0 / 128 * 1.09375 / 1.25);
}

// A larger product never takes less time, whatever tiles it gets.
TEST(TileEfficiency, MakesNoProductFasterThanAPartOfIt) {
  const auto time = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const MatrixShape shape{1, m, n, k};
    return shape.flops() / tile_efficiency(shape, 80);
  };
  for (std::int64_t size = 64; size < 3000; size += 61) {
    EXPECT_LE(time(size, 777, 512), time(size + 61, 777, 512) * (1 + 1e-12)) << size;
    EXPECT_LE(time(777, size, 512), time(777, size + 61, 512) * (1 + 1e-12)) << size;
    EXPECT_LE(time(777, 512, size), time(777, 512, size + 61) * (1 + 1e-12)) << size;
  }
}

TEST(Alignment, IsThatOfTheRowsOfAllThreeMatrices) {
  const auto halves = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return row_alignment({1, m, n, k}, Precision::kBf16);
  };
  EXPECT_EQ(halves(1024, 50304, 768), 16);
  EXPECT_EQ(halves(1023, 50304, 768), 16);  // rows may be of any number
  EXPECT_EQ(halves(1024, 50257, 768), 2);   // the logits
  EXPECT_EQ(halves(1024, 768, 50257), 2);   // their gradient
  EXPECT_EQ(halves(1024, 50258, 768), 4);
  EXPECT_EQ(halves(9124, 5124, 2048), 8);
  EXPECT_EQ(halves(48000, 1024, 1530), 4);
  const auto tf32 = [](std::int64_t n) { return row_alignment({1, 1024, n, 768}, Precision::kTf32); };
  EXPECT_EQ(tf32(50257), 4);
  EXPECT_EQ(tf32(50258), 8);
  EXPECT_EQ(tf32(50260), 16);
}

TEST(Alignment, HasItsRateByArchitectureAndPrecision) {
  Gpu gpu;
  gpu.peak = {FlopsPerSecond{1000}, FlopsPerSecond{1000}, FlopsPerSecond{500}, FlopsPerSecond{60}};
  const auto rate = [&](double aligned, Precision precision, int bytes) {
    return unaligned_rate(FlopsPerSecond{aligned}, gpu, precision, bytes).value;
  };
  gpu.architecture = "Hopper";
  EXPECT_DOUBLE_EQ(rate(700, Precision::kBf16, 2), 120);
  EXPECT_DOUBLE_EQ(rate(700, Precision::kFp16, 4), 260);
  EXPECT_DOUBLE_EQ(rate(700, Precision::kFp16, 8), 260);
  EXPECT_DOUBLE_EQ(rate(700, Precision::kBf16, 16), 700);
  EXPECT_DOUBLE_EQ(rate(300, Precision::kTf32, 8), 125);
  EXPECT_DOUBLE_EQ(rate(300, Precision::kTf32, 16), 300);
  EXPECT_DOUBLE_EQ(rate(50, Precision::kFp32, 4), 50);
  EXPECT_DOUBLE_EQ(rate(100, Precision::kBf16, 2), 100);  // no faster than when aligned
  gpu.left.cores = 0.5;
  EXPECT_DOUBLE_EQ(rate(350, Precision::kBf16, 2), 60);
  gpu.architecture = "Ampere";
  EXPECT_DOUBLE_EQ(rate(700, Precision::kBf16, 2), 350);
  EXPECT_DOUBLE_EQ(rate(700, Precision::kBf16, 4), 700);  // DeepBench, V100 and T4: at the rate of others
  EXPECT_DOUBLE_EQ(rate(300, Precision::kTf32, 4), 300);
}

TEST(TileEfficiency, IsAtMostOne) {
  for (std::int64_t m = 1; m < 5000; m = m * 3 + 1) {
    for (std::int64_t k = 1; k < 50000; k = k * 5 + 2) {
      EXPECT_LE(tile_efficiency({1, m, 1000, k}, 108), 1.0);
      EXPECT_GT(tile_efficiency({1, m, 1000, k}, 108), 0.0);
    }
  }
}

}  // namespace
}  // namespace slmsim::product_test
