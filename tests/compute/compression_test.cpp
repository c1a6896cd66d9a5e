// Sizes of compressed gradients and the bytes that their kernels move, by hand.
#include "sim/compute/compression.h"

#include <gtest/gtest.h>

namespace slmsim::compression_test {
namespace {

// Memory of 100 B/s of which software reaches half; a launch takes 1/8 s; products are for nothing.
struct Machine {
  Gpu gpu;
  Software software;
  Machine() {
    gpu.name = gpu.architecture = "Round";
    gpu.memory_bandwidth = BytesPerSecond{100};
    gpu.peak.fill(FlopsPerSecond{1e30});
    software.memory = 0.5;
    software.launch = Seconds{0.125};
    software.matrix["Round"] = 1;
  }
};

TEST(LowRank, TakesMatricesWhoseFactorsAreLessThanHalf) {
  // 30 x 20 at rank 4: 50 x 4 = 200 < 300. At rank 6 50 x 6 = 300 is not less than half of 600.
  LowRankBucket bucket;
  bucket.add({{{30, 20}}, 7}, 4);
  ASSERT_EQ(bucket.matrices.size(), 1u);
  EXPECT_EQ(bucket.p(), 30 * 4);
  EXPECT_EQ(bucket.q(), 20 * 4);
  EXPECT_EQ(bucket.plain, 7);
  EXPECT_EQ(bucket.elements(), 607);
  LowRankBucket none;
  none.add({{{30, 20}}, 7}, 6);
  EXPECT_TRUE(none.matrices.empty());
  EXPECT_EQ(none.plain, 607);
  // A rank is at most the lesser side: 3 x 1000 at rank 8 is one of rank 3, whose factors are more than the matrix.
  LowRankBucket flat;
  flat.add({{{3, 1000}}, 0}, 8);
  EXPECT_TRUE(flat.matrices.empty());
}

TEST(LowRank, MovesWhatItsKernelsReadAndWrite) {
  // fp32, 30 x 20 at rank 2, and 10 plain numbers: 610 numbers, 2440 B.
  // Before: error 3 x 2440 and copy 2 x 2440, plain numbers together 2 x 40; Q of 20 x 2: norms and divisions 3 x 20 x 4 for
  // each column, and of the first one (3 + 1 + 2 + 3) x 20 x 4 for the second: 1200; P = M Q: 2400 + 100 x 4.
  // Launches: 3 + (2 x 2 + 4) + 1 = 12.
  LowRankBucket bucket;
  bucket.add({{{30, 20}}, 10}, 2);
  const Machine m;
  const LowRankTimes t = low_rank_times(bucket, Precision::kFp32, m.gpu, m.software);
  EXPECT_DOUBLE_EQ(t.before.value, (5 * 2440 + 80 + 1200 + 2800) / 50.0 + 12 * 0.125);
  // Between: plain numbers back 80; P of 30 x 2: 15 x 30 x 4 = 1800; Q = M^T P as before. Launches: 1 + 8 + 1.
  EXPECT_DOUBLE_EQ(t.between.value, (80 + 1800 + 2800) / 50.0 + 10 * 0.125);
  // After: P Q^T, Q's mean 2 x 40 x 4, the error 3 x 2440.
  EXPECT_DOUBLE_EQ(t.after.value, (2800 + 320 + 3 * 2440) / 50.0 + 3 * 0.125);
}

TEST(LowRank, IsBoundByArithmeticAtHighRanks) {
  // 2 n m r = 2 x 1000 x 1000 x 100 FLOPs at 1000 FLOP/s take 2e5 s; 4.8 MB at 50 B/s less.
  Machine m;
  m.gpu.peak.fill(FlopsPerSecond{1000});
  LowRankBucket bucket;
  bucket.add({{{1000, 1000}}, 0}, 100);
  const LowRankTimes t = low_rank_times(bucket, Precision::kFp32, m.gpu, m.software);
  const double others = (2 * 1e5 + 3e6) * 4 / 50 + 2 * 0.125;
  EXPECT_NEAR(t.after.value, 2e5 + 0.125 + others, 1e-6);
}

TEST(TopK, SendsTheShareThatIsLargest) {
  EXPECT_EQ(kept_numbers(1000, 0.01), 10);
  EXPECT_EQ(kept_numbers(1001, 0.01), 11);
  EXPECT_EQ(kept_numbers(1000, 1), 1000);
}

TEST(TopK, MovesWhatItsKernelsReadAndWrite) {
  // 1000 numbers in fp32, 10 kept. Before: error 12000, absolute values 8000, four passes of 4000 B and one that writes 10
  // numbers and places: 4000 + 80; 80 and 10 sectors of 32 B; 40 and 20 sectors. Launches: 1 + 1 + 4 + 1 + 1 + 1.
  const Machine m;
  const TopKTimes t = top_k_times(1000, 0.01, 3, 4, m.gpu, m.software);
  EXPECT_DOUBLE_EQ(t.before.value, (12000 + 8000 + 16000 + 4080 + 400 + 680) / 50.0 + 9 * 0.125);
  // After: zeros 4000; of three ranks 80 B and 20 sectors each.
  EXPECT_DOUBLE_EQ(t.after.value, (4000 + 3 * 720) / 50.0 + 2 * 0.125);
}

TEST(Signs, AreABitEach) { EXPECT_EQ(sign_bytes(800).value, 100); }

TEST(Signs, MoveWhatUnfusedKernelsReadAndWrite) {
  // 800 numbers, 4 ranks, gradients of 2 B: the momentum 18 B each; the signs 100.125; of the sum 30.125 + 4 each, the share
  // 200 x (4 + 100.125); at the end 30.125 + 8.
  const Machine m;
  const SignTimes t = sign_times(800, 4, 2, m.gpu, m.software);
  EXPECT_DOUBLE_EQ(t.momentum.value, 800 * 18 / 50.0 + 2 * 0.125);
  EXPECT_DOUBLE_EQ(t.encode.value, 800 * 100.125 / 50.0 + 15 * 0.125);
  EXPECT_NEAR(t.sum.value, (800 * 34.125 + 200 * 104.125) / 50.0 + 21 * 0.125, 1e-9);
  EXPECT_NEAR(t.decode.value, 800 * 38.125 / 50.0 + 7 * 0.125, 1e-9);
}

TEST(CompressionMemory, KeepsErrorsAndFactors) {
  LowRankBucket all;
  all.add({{{30, 20}}, 10}, 2);  // 610 numbers; P 60, Q 40
  const auto of = [&](Compression c, int ranks = 4) { return compression_memory(c, all, ranks, 4); };
  EXPECT_EQ(of({}).kept.value + of({}).passing.value, 0);
  EXPECT_EQ(of({.by = Compressor::kBf16}).kept.value, 0);
  EXPECT_EQ(of({.by = Compressor::kBf16}).passing.value, 2 * 610);
  EXPECT_DOUBLE_EQ(of({.by = Compressor::kInt8}).passing.value, 2 * 610 * (1 + 4.0 / 2048));
  EXPECT_EQ(of({.by = Compressor::kPowerSgd, .rank = 2}).kept.value, 4 * (610 + 100));
  EXPECT_EQ(of({.by = Compressor::kPowerSgd, .rank = 2}).passing.value, 4 * 610);
  EXPECT_EQ(of({.by = Compressor::kTopK, .density = 0.1}).kept.value, 4 * 610);
  EXPECT_EQ(of({.by = Compressor::kTopK, .density = 0.1}).passing.value, 5 * 61 * 8);
  // Errors of all and of a quarter; signs twice, and fp32.
  EXPECT_EQ(of({.by = Compressor::kOneBit}).kept.value, 4 * 610 * 1.25);
  EXPECT_EQ(of({.by = Compressor::kOneBit}).passing.value, 2 * 610 / 8.0 + 4 * 610);
}

}  // namespace
}  // namespace slmsim::compression_test
