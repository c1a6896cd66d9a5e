#include "sim/cost/roofline.h"

#include <gtest/gtest.h>

namespace slmsim {
namespace {

// 1 TFLOP/s and `bandwidth`, one multiprocessor (so that waves are always full), everything reached.
Gpu gpu_with(BytesPerSecond bandwidth, int multiprocessors = 1) {
  Gpu gpu;
  gpu.architecture = "Made up";
  gpu.multiprocessors = multiprocessors;
  gpu.memory_bandwidth = bandwidth;
  gpu.peak[static_cast<std::size_t>(Precision::kFp16)] = FlopsPerSecond{1e12};
  gpu.peak[static_cast<std::size_t>(Precision::kFp32)] = FlopsPerSecond{1e11};
  return gpu;
}

const Gpu kSlowMemory = gpu_with({1e9});
const Gpu kFastMemory = gpu_with({1e15});

Software software(double matrix = 1, double memory = 1, Seconds launch = {}) {
  return {.matrix = {{"Made up", matrix}}, .memory = memory, .launch = launch};
}

Operator linear(std::int64_t m, std::int64_t n, std::int64_t k) {
  Operator op;
  op.matrix = {1, m, n, k};
  op.weights = op.parameters = static_cast<double>(n * k);
  op.flops = op.matrix.flops();
  return op;
}

Operator attention(std::int64_t heads, std::int64_t sequence, std::int64_t head_size) {
  Operator op;
  op.matrix = {heads, sequence, sequence, head_size};
  op.flops = op.matrix.flops();
  return op;
}

OperatorTime time_of(const Operator& op, const Share& share, const Gpu& gpu, const Software& reached = efficiency(),
                     Precision precision = Precision::kFp16) {
  return operator_time(op, share, gpu, precision, reached);
}

TEST(Roofline, TakesAMatrixProductsFlopsAtThePeak) {
  // 2 x 1000^3 FLOP at 1 TFLOP/s
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kFastMemory).forward.value, 2e-3);
}

TEST(Roofline, TakesAMatrixProductsBytesWhereMemoryIsSlower) {
  // Three matrices of 1000 x 1000 fp16 are 6 MB: 6 ms at 1 GB/s, longer than the 2 ms of work.
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kSlowMemory).forward.value, 6e-3);
}

TEST(Roofline, DoesTwoProductsBackward) {
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kFastMemory).backward.value, 4e-3);
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kSlowMemory).backward.value, 12e-3);
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 500, 250), {}, kFastMemory).backward.value,
                   0.5e-3);  // 2 x 2.5e8 FLOP
}

TEST(Roofline, AddsALaunchPerKernel) {
  // 2 ms + 1 ms forward, twice that backward.
  const OperatorTime time = time_of(linear(1000, 1000, 1000), {}, kFastMemory, efficiency(1, 1, {1e-3}));
  EXPECT_DOUBLE_EQ(time.forward.value, 3e-3);
  EXPECT_DOUBLE_EQ(time.backward.value, 6e-3);
}

TEST(Roofline, ReachesAShareOfThePeakAndOfTheBandwidth) {
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kFastMemory, efficiency(0.5)).forward.value, 4e-3);
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kSlowMemory, efficiency(1, 0.5)).forward.value, 12e-3);
}

TEST(Roofline, FallsBackToFp32WhereTheGpuLacksThePrecision) {
  // fp32 runs at 0.1 TFLOP/s, and so does bf16, which this GPU does not have.
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kFastMemory, efficiency(), Precision::kFp32).forward.value,
                   20e-3);
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kFastMemory, efficiency(), Precision::kBf16).forward.value,
                   20e-3);
}

TEST(Roofline, GrowsWithTheSequences) {
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {.sequences = 4}, kFastMemory).forward.value, 8e-3);
  // 10 heads, 2 x 10 x 100 x 100 x 50 = 10^7 FLOP per sequence
  EXPECT_DOUBLE_EQ(time_of(attention(10, 100, 50), {.sequences = 4}, kFastMemory).forward.value, 40e-6);
}

TEST(Roofline, ReadsWeightsOnceForAllSequencesButAttentionsFactorsForEach) {
  // Weights: rows grow to 4000: 4000 x 1000 + 1000 x 1000 + 4000 x 1000 = 9e6 elements of 2 bytes, at 1 GB/s.
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {.sequences = 4}, kSlowMemory).forward.value, 18e-3);
  // Attention: 4 x 10 products of 100 x 50 + 50 x 100 + 100 x 100 = 20000 elements.
  EXPECT_DOUBLE_EQ(time_of(attention(10, 100, 50), {.sequences = 4}, kSlowMemory).forward.value, 1.6e-3);
}

TEST(Roofline, HasNothingToDoForNoSequence) {
  const OperatorTime time = time_of(linear(1000, 1000, 1000), {.sequences = 0}, kFastMemory, efficiency(1, 1, {1}));
  EXPECT_EQ(time.forward.value, 0.0);
  EXPECT_EQ(time.backward.value, 0.0);
}

TEST(Roofline, HalvesAProductsWorkByColumnsAndByRows) {
  for (const Share share : {Share{.columns = 2}, Share{.rows = 2}}) {
    const OperatorTime half = time_of(linear(1000, 1000, 1000), share, kFastMemory);
    EXPECT_DOUBLE_EQ(half.forward.value, 1e-3);
    EXPECT_DOUBLE_EQ(half.backward.value, 2e-3);
  }
}

TEST(Roofline, HalvesAttentionByHeads) {
  const Share half{.columns = 2};
  EXPECT_DOUBLE_EQ(time_of(attention(10, 100, 50), half, kFastMemory).forward.value, 5e-6);  // 10^7 / 2 FLOP
}

TEST(Roofline, LeavesAWholeProductToEveryGpuThatIsReplicated) {
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 1000, 1000), {}, kFastMemory).forward.value, 2e-3);
}

TEST(Roofline, RoundsUpWhatDoesNotDivide) {
  // 10 columns over 4 GPUs: the busiest has 3. 2 x 1000 x 3 x 1000 FLOP
  const Share quarter{.columns = 4};
  EXPECT_DOUBLE_EQ(time_of(linear(1000, 10, 1000), quarter, kFastMemory).forward.value, 6e-6);
}

TEST(Roofline, ReadsInputsAndWritesOutputsOfWhatIsNoProduct) {
  Operator op;
  op.kind = OperatorKind::kActivation;
  op.inputs = op.outputs = 1e6;
  op.saved_elements = 5e5;
  op.saved_bytes = 1e6;
  const OperatorTime time = time_of(op, {}, kSlowMemory);
  EXPECT_DOUBLE_EQ(time.forward.value, 4e-3);   // (1e6 + 1e6) x 2 B at 1 GB/s
  EXPECT_DOUBLE_EQ(time.backward.value, 6e-3);  // (1e6 + 1e6 + 5e5) x 2 B + 1e6 B
  const OperatorTime half = time_of(op, {.columns = 2}, kSlowMemory);
  EXPECT_DOUBLE_EQ(half.forward.value, 2e-3);
  EXPECT_DOUBLE_EQ(half.backward.value, 3e-3);
}

TEST(Roofline, ComputesWhatIsNoProductAtTheFp32Rate) {
  Operator op;
  op.kind = OperatorKind::kNorm;
  op.flops = 1e8;
  EXPECT_DOUBLE_EQ(time_of(op, {}, kFastMemory).forward.value, 1e-3);   // 0.1 TFLOP/s
  EXPECT_DOUBLE_EQ(time_of(op, {}, kFastMemory).backward.value, 2e-3);  // twice the work
}

TEST(Roofline, MakesSmallProductsSlowerPerFlop) {
  // 100 multiprocessors. 1280 x 1280 is 10 x 10 tiles, a full wave; 128 x 128 is one tile, a hundredth of it.
  const Gpu gpu = gpu_with({1e15}, 100);
  const double large = time_of(linear(1280, 1280, 1024), {}, gpu).forward.value / linear(1280, 1280, 1024).flops;
  const double small = time_of(linear(128, 128, 1024), {}, gpu).forward.value / linear(128, 128, 1024).flops;
  EXPECT_NEAR(large, 1e-12, 1e-24);  // the peak; tolerance: rounding
  EXPECT_NEAR(small / large, 100.0, 1e-9);
}

TEST(WaveEfficiency, IsOneWhereTheTilesFillTheirWaves) {
  EXPECT_EQ(wave_efficiency({1, 1280, 1280, 128}, 100), 1.0);  // 100 tiles, one wave
  EXPECT_EQ(wave_efficiency({2, 1280, 1280, 128}, 100), 1.0);  // 200 tiles, two waves
}

TEST(WaveEfficiency, FallsWhereTheLastWaveIsNotFull) {
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 1280, 1280, 128}, 80),
                   0.625);                                           // 100 tiles in 2 waves of 80: 100 / 160
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 128, 128, 128}, 100), 0.01);  // 1 tile of 100
  EXPECT_DOUBLE_EQ(wave_efficiency({3, 128, 128, 128}, 4), 0.75);    // 3 tiles of 4
}

TEST(WaveEfficiency, CountsBegunTilesWhole) {
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 129, 1, 128}, 4), 0.5);    // 2 x 1 tiles of 4
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 129, 129, 128}, 4), 1.0);  // 2 x 2 tiles of 4
}

TEST(WaveEfficiency, SplitsALongInnerSumOverIdleMultiprocessors) {
  // 2 tiles on 8 multiprocessors leave room to split in 4, where each part keeps at least 8 tiles of 128.
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 256, 128, 1024}, 8), 0.25);  // too short to split: 2 / 8
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 256, 128, 2048}, 8), 0.5);   // in two: 4 / 8
  EXPECT_DOUBLE_EQ(wave_efficiency({1, 256, 128, 8192}, 8), 1.0);   // in four, no more: 8 / 8
}

TEST(Adam, Moves28BytesPerParameterInMixedPrecision) {
  // Read: gradient 2, master 4, moments 8. Written: master 4, moments 8, weights 2. A million, at 1 GB/s.
  EXPECT_DOUBLE_EQ(adam_time(1e6, kSlowMemory, Precision::kFp16, Precision::kFp16, efficiency()).value, 28e-3);
}

TEST(Adam, ReadsTwoBytesMoreOfFp32Gradients) {
  EXPECT_DOUBLE_EQ(adam_time(1e6, kSlowMemory, Precision::kFp16, Precision::kFp32, efficiency()).value, 30e-3);
}

TEST(Adam, HasNoSecondCopyOfTheWeightsInFp32) {
  // Read: 4 + 4 + 8; written: 4 + 8.
  EXPECT_DOUBLE_EQ(adam_time(1e6, kSlowMemory, Precision::kFp32, Precision::kFp32, efficiency()).value, 28e-3);
}

TEST(Adam, ReachesItsShareOfTheBandwidthAfterALaunch) {
  // 28 ms / 0.5 + 1 ms
  EXPECT_DOUBLE_EQ(adam_time(1e6, kSlowMemory, Precision::kFp16, Precision::kFp16, efficiency(1, 0.5, {1e-3})).value,
                   57e-3);
}

}  // namespace
}  // namespace slmsim
