#include <cmath>

#include <gtest/gtest.h>

#include "sim/compute/roofline.h"

namespace slmsim::roofline_test {
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
const Gpu kFastMemory = gpu_with({1e21});

Software software(double matrix = 1, double memory = 1, Seconds launch = {}) {
  Software out;
  out.matrix["Made up"] = matrix;
  out.memory = memory;
  out.launch = launch;
  return out;
}

// A product that the largest tiles, 256 x 128, fill: one multiprocessor computes them one after the other, each with a
// prologue of 32 steps, at 1 TFLOP/s.
double compute(double m, double n, double k) { return 2 * m * n * (k + 32) / 1e12; }

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

OperatorTime time_of(const Operator& op, const Share& share, const Gpu& gpu, const Software& reached = software(),
                     Precision precision = Precision::kFp16) {
  return operator_time(op, share, gpu, precision, reached);
}

TEST(Roofline, TakesAMatrixProductsFlopsAtThePeak) {
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, kFastMemory).forward.value, compute(1024, 1024, 1024));
}

// bf16 that a GPU lacks is computed in fp32 from and to 16 bits, at a share of fp32's peak of its own; TF32 as fp32.
TEST(Roofline, TakesWhatAGpuLacksAtFp32sPeak) {
  Gpu gpu = kFastMemory;
  gpu.architecture = "Not stated";
  gpu.peak = {FlopsPerSecond{1e13}, {}, {}, FlopsPerSecond{1e12}};
  gpu.efficiency[static_cast<std::size_t>(Precision::kBf16)].share = 0.4;
  gpu.efficiency[static_cast<std::size_t>(Precision::kFp32)].share = 0.75;
  EXPECT_DOUBLE_EQ(Software{}.matrix_of(gpu, Precision::kBf16), 0.4);
  EXPECT_DOUBLE_EQ(Software{}.matrix_of(gpu, Precision::kTf32), 0.75);
  EXPECT_DOUBLE_EQ(peak_of(gpu, Precision::kBf16).value, 1e12);
}

TEST(Roofline, TakesWhatIsSustainedOfTensorCoresAlone) {
  Gpu gpu = kFastMemory;
  gpu.architecture = "Not stated";
  gpu.sustained = 0.8;
  for (auto& efficiency : gpu.efficiency) efficiency.share = 0.5;
  EXPECT_DOUBLE_EQ(Software{}.matrix_of(gpu, Precision::kFp16), 0.4);
  EXPECT_DOUBLE_EQ(Software{}.matrix_of(gpu, Precision::kTf32), 0.4);
  EXPECT_DOUBLE_EQ(Software{}.matrix_of(gpu, Precision::kFp32), 0.5);
}

TEST(Roofline, TakesTheGradientsOfAnUnalignedProductAsItsForwardPass) {
  Gpu gpu = kFastMemory;
  gpu.architecture = "Hopper";
  Software reached;
  reached.memory = 1;
  reached.matrix["Hopper"] = 1;
  const Operator odd = linear(1024, 513, 1024), even = linear(1024, 512, 1024);
  // 2 bytes: 0.12 of the peak, in all three products.
  const OperatorTime slow = time_of(odd, {}, gpu, reached), fast = time_of(even, {}, gpu, reached);
  EXPECT_GT(slow.forward.value, fast.forward.value / 0.12);
  EXPECT_GT(slow.backward.value, fast.backward.value / 0.12);
  reached.pads = true;
  EXPECT_LT(time_of(odd, {}, gpu, reached).forward.value, 1.5 * fast.forward.value);
}

TEST(Roofline, TakesTheRootOfTheSquaresOfComputingAndMemory) {
  // Three matrices of 1024 x 1024 fp16 are 6.29 MB: 6.29 ms at 1 GB/s, longer than the 2.2 ms of work.
  const double memory = 3 * 1024 * 1024 * 2 / 1e9;
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, kSlowMemory).forward.value,
                   std::hypot(compute(1024, 1024, 1024), memory));
}

// Memory has a clock of its own.
TEST(Roofline, TakesProductsAtTheClockThatALimitOfPowerLeaves) {
  Gpu gpu = kFastMemory;
  gpu.left.cores = 0.8;
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, gpu).forward.value, compute(1024, 1024, 1024) / 0.8);
  gpu = kSlowMemory;
  gpu.left.cores = 0.8;
  const double memory = 3 * 1024 * 1024 * 2 / 1e9;
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, gpu).forward.value,
                   std::hypot(compute(1024, 1024, 1024) / 0.8, memory));
}

TEST(Roofline, DoesTwoProductsBackward) {
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, kFastMemory).backward.value, 2 * compute(1024, 1024, 1024));
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 512, 256), {}, kFastMemory).backward.value,
                   compute(1024, 256, 512) + compute(256, 512, 1024));
}

TEST(Roofline, AddsALaunchPerKernel) {
  const OperatorTime time = time_of(linear(1024, 1024, 1024), {}, kFastMemory, software(1, 1, {1e-3}));
  EXPECT_DOUBLE_EQ(time.forward.value, compute(1024, 1024, 1024) + 1e-3);
  EXPECT_DOUBLE_EQ(time.backward.value, 2 * compute(1024, 1024, 1024) + 2e-3);
}

TEST(Roofline, ReachesAShareOfThePeakAndOfTheBandwidth) {
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, kFastMemory, software(0.5)).forward.value,
                   2 * compute(1024, 1024, 1024));
  const double memory = 3 * 1024 * 1024 * 2 / 0.5e9;
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, kSlowMemory, software(1, 0.5)).forward.value,
                   std::hypot(compute(1024, 1024, 1024), memory));
}

TEST(Roofline, FallsBackToFp32WhereTheGpuLacksThePrecision) {
  // fp32 runs at 0.1 TFLOP/s, and so does bf16, which this GPU does not have.
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {}, kFastMemory, software(), precision).forward.value,
                     10 * compute(1024, 1024, 1024));
  }
}

TEST(Roofline, GrowsWithTheSequences) {
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {.sequences = 4}, kFastMemory).forward.value,
                   compute(4096, 1024, 1024));
  // 8 heads of 256 x 256 x 64 in each of 4 sequences.
  EXPECT_DOUBLE_EQ(time_of(attention(8, 256, 64), {.sequences = 4}, kFastMemory).forward.value,
                   32 * compute(256, 256, 64));
}

TEST(Roofline, ReadsWeightsOnceForAllSequencesButAttentionsFactorsForEach) {
  // Weights: rows grow to 4096, the 1024 x 1024 weights are read once; at 1 GB/s.
  const double weights = (4096.0 * 1024 + 1024 * 1024 + 4096.0 * 1024) * 2 / 1e9;
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {.sequences = 4}, kSlowMemory).forward.value,
                   std::hypot(compute(4096, 1024, 1024), weights));
  // Attention: 4 x 8 products of 256 x 64, 64 x 256 and 256 x 256.
  const double factors = 32 * (2 * 256 * 64 + 256 * 256) * 2 / 1e9;
  EXPECT_DOUBLE_EQ(time_of(attention(8, 256, 64), {.sequences = 4}, kSlowMemory).forward.value,
                   std::hypot(32 * compute(256, 256, 64), factors));
}

TEST(Roofline, HasNothingToDoForNoSequence) {
  const OperatorTime time = time_of(linear(1024, 1024, 1024), {.sequences = 0}, kFastMemory, software(1, 1, {1}));
  EXPECT_EQ(time.forward.value, 0.0);
  EXPECT_EQ(time.backward.value, 0.0);
}

TEST(Roofline, DividesAProductByColumnsAndByRows) {
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {.columns = 2}, kFastMemory).forward.value,
                   compute(1024, 512, 1024));
  EXPECT_DOUBLE_EQ(time_of(linear(1024, 1024, 1024), {.rows = 2}, kFastMemory).forward.value, compute(1024, 1024, 512));
}

TEST(Roofline, HalvesAttentionByHeads) {
  EXPECT_DOUBLE_EQ(time_of(attention(8, 256, 64), {.columns = 2}, kFastMemory).forward.value,
                   4 * compute(256, 256, 64));
}

TEST(Roofline, RoundsUpWhatDoesNotDivide) {
  // 10 heads over 4 GPUs: the busiest has 3.
  EXPECT_DOUBLE_EQ(time_of(attention(10, 256, 64), {.columns = 4}, kFastMemory).forward.value,
                   3 * compute(256, 256, 64));
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

TEST(Roofline, DoublesTheWorkOfOddSizesIn16BitUnlessTheyArePadded) {
  Software padded = software(), plain = software();
  padded.pads = true;
  const auto ratio = [&](const Operator& op, Precision precision) {
    return time_of(op, {}, kFastMemory, plain, precision).forward /
           time_of(op, {}, kFastMemory, padded, precision).forward;
  };
  EXPECT_NEAR(ratio(linear(1024, 50257, 768), Precision::kFp16), 2.0, 1e-9);
  EXPECT_DOUBLE_EQ(ratio(linear(1024, 50304, 768), Precision::kFp16), 1.0);
  EXPECT_DOUBLE_EQ(ratio(linear(1024, 50257, 768), Precision::kFp32), 1.0);
}

// Elements moved per element and bytes beside them: 2 x 2 B + 1 B of 1e6 elements at 1 GB/s, and a launch.
TEST(Stack, MovesWhatItStatesPerElementOfTheOutput) {
  Software stack = software(1, 0.5, {1e-3});
  stack.kernels[static_cast<std::size_t>(KernelPart::kGelu)] = KernelTraffic{{2, 1, 0}, {3, 0, 0}};
  Operator op{.kind = OperatorKind::kActivation, .role = Role::kGelu};
  op.inputs = op.outputs = 1e6;
  const OperatorTime time = time_of(op, {}, kSlowMemory, stack);
  EXPECT_DOUBLE_EQ(time.forward.value, 5e-3 + 1e-3);  // the stack's figures hold at the data sheet's bandwidth
  EXPECT_DOUBLE_EQ(time.backward.value, 6e-3 + 1e-3);
  EXPECT_DOUBLE_EQ(time_of(op, {.columns = 4}, kSlowMemory, stack).forward.value, 1.25e-3 + 1e-3);
}

// 6 B of each of 1e6 weights at 1 GB/s, and a launch, once in a pass however many sequences; half of it on each of two GPUs.
TEST(Stack, CastsWeightsOncePerPass) {
  const Software plain = software(1, 1, {1e-3});
  Software casts = plain;
  casts.weight_cast = {{0, 6, 0}, {0, 6, 0}};
  Operator op = linear(1000, 1000, 1000);
  const auto more = [&](const Share& share) {
    const OperatorTime time = time_of(op, share, kSlowMemory, casts), without = time_of(op, share, kSlowMemory, plain);
    return std::pair{(time.forward - without.forward).value, (time.backward - without.backward).value};
  };
  for (const double sequences : {1.0, 7.0}) EXPECT_NEAR(more({.sequences = sequences}).first, 6e-3 + 1e-3, 1e-12);
  EXPECT_NEAR(more({.columns = 2}).second, 3e-3 + 1e-3, 1e-12);
  op.frozen = true;
  EXPECT_NEAR(more({}).second, 0, 1e-12);
  EXPECT_EQ(time_of(attention(12, 128, 64), {}, kSlowMemory, casts).forward.value,
            time_of(attention(12, 128, 64), {}, kSlowMemory, plain).forward.value);
}

// Where a kernel converts fp16 as it reads, bf16 needs one of its own.
TEST(Stack, MovesMoreInBf16WhereItSaysSo) {
  const MemoryTraffic moves{1, 14, 0, 9};
  EXPECT_EQ(moves.bytes_of(Precision::kFp16), 16);
  EXPECT_EQ(moves.bytes_of(Precision::kBf16), 25);
}

// Cycles bind where memory is fast: 1e6 elements of 2 cycles on one multiprocessor of 0.78 GHz (1e11 / (2 x 64)).
TEST(Stack, WaitsForItsCyclesWhereMemoryIsFaster) {
  Software stack = software();
  stack.kernels[static_cast<std::size_t>(KernelPart::kGelu)] = KernelTraffic{{2, 0, 2}, {2, 0, 2}};
  Operator op{.kind = OperatorKind::kActivation, .role = Role::kGelu};
  op.outputs = 1e6;
  Gpu gpu = kFastMemory;
  gpu.compute_capability = 80;
  EXPECT_DOUBLE_EQ(time_of(op, {}, gpu, stack).forward.value, 1e6 * 2 / (1e11 / 128));
}

Operator softmax(bool dropout) {
  Operator op{.kind = OperatorKind::kSoftmax, .role = Role::kSoftmax};
  op.tokens = 1000;
  op.inputs = op.outputs = op.saved_scores = 1e6;
  op.saved_score_bytes = dropout ? 1e6 : 0;
  op.dropout = dropout;
  return op;
}

// Mask 2, softmax 3, dropout 4 elements of 2 B forward; all in one 5 where they are fused; nothing in flash attention.
TEST(Attention, RunsTheKernelsOfItsKind) {
  Software stack = software();
  const auto moves = [](double elements) { return KernelTraffic{{elements, 0, 0}, {2 * elements, 0, 0}}; };
  stack.kernels[static_cast<std::size_t>(KernelPart::kMask)] = moves(2);
  stack.kernels[static_cast<std::size_t>(KernelPart::kSoftmax)] = moves(3);
  stack.kernels[static_cast<std::size_t>(KernelPart::kFusedSoftmax)] = moves(5);
  stack.kernels[static_cast<std::size_t>(KernelPart::kDropout)] = moves(4);
  Gpu gpu = kSlowMemory;
  gpu.compute_capability = 80;
  const auto time = [&](AttentionKernel kind, bool dropout, Precision precision = Precision::kFp16) {
    stack.attention = kind;
    return time_of(softmax(dropout), {}, gpu, stack, precision).forward.value;
  };
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kUnfused, true), 18e-3);
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kUnfused, false), 10e-3);
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kFusedSoftmax, true), 18e-3);
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kFusedSoftmax, false), 10e-3);
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kFlash, true), 0);
  // fp32 has neither a fused softmax nor flash attention: what is stated for elsewhere.
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kFlash, false, Precision::kFp32), 20e-3);
  gpu.compute_capability = 75;
  EXPECT_DOUBLE_EQ(time(AttentionKernel::kFlash, false), 10e-3);
}

// Causal half of 2 x 8 x 256 x 256 x 64 FLOP; 2.5 times that backward; at 1 TFLOP/s x 0.5 x 0.8 and 0.4.
TEST(Attention, OfFlashComputesTheCausalHalfAndTheScoresOnceMore) {
  Software stack = software(0.5);
  stack.attention = AttentionKernel::kFlash;
  stack.flash = {{0.8}, {0.4}, {}};
  Gpu gpu = kSlowMemory;
  gpu.compute_capability = 80;
  Operator scores = attention(8, 256, 64);
  scores.role = Role::kScores;
  const double causal = 8.0 * 256 * 256 * 64;
  const OperatorTime time = time_of(scores, {}, gpu, stack);
  EXPECT_DOUBLE_EQ(time.forward.value, causal / 0.4e12);
  EXPECT_DOUBLE_EQ(time.backward.value, 2.5 * causal / 0.2e12);
  stack.flash.on[gpu.architecture] = 0.5;
  EXPECT_DOUBLE_EQ(time_of(scores, {}, gpu, stack).forward.value, causal / 0.2e12);
  // Half of that on sequences of 256, and a third backward, where half is reached at 512.
  stack.flash.forward.half_length = 256;
  stack.flash.backward.half_length = 512;
  const OperatorTime shorter = time_of(scores, {}, gpu, stack);
  EXPECT_DOUBLE_EQ(shorter.forward.value, causal / 0.1e12);
  EXPECT_DOUBLE_EQ(shorter.backward.value, 2.5 * causal / (0.1e12 / 3));
}

TEST(Attention, OfFlashKeepsARowsSumInPlaceOfScores) {
  EXPECT_EQ(kept_bytes(softmax(true), Precision::kFp16, AttentionKernel::kUnfused, {}), 2e6 + 1e6);
  EXPECT_EQ(kept_bytes(softmax(true), Precision::kFp16, AttentionKernel::kFlash, {}), 4e3);
}

// Logits in 2 B and what the software keeps of them; norms' and activations' outputs only where it keeps them.
TEST(KeptBytes, AreTheSoftwares) {
  Software keeps, anew;
  anew.keeps_norms = anew.keeps_activations = false;
  anew.loss_memory = 2;
  Operator loss{.kind = OperatorKind::kLoss, .role = Role::kLoss};
  loss.outputs = loss.saved_elements = 1000;
  const auto bytes = [](const Operator& op, const Software& software) {
    return kept_bytes(op, Precision::kBf16, AttentionKernel::kFlash, software);
  };
  EXPECT_EQ(bytes(loss, keeps), 10e3);  // 2 + 4 + 4
  EXPECT_EQ(bytes(loss, anew), 4e3);
  for (const Role role : {Role::kQkv, Role::kMlpUp, Role::kMlpDown, Role::kHead}) {
    Operator product{.kind = OperatorKind::kMatrix, .role = role};
    product.saved_elements = 500;
    EXPECT_EQ(bytes(product, keeps), 1e3);
    EXPECT_EQ(bytes(product, anew), 0);
  }
}

// Inputs of norms and outputs of the softmax are in fp32 under autocast; inputs of products are in 16 bits.
TEST(KeptBytes, OfNormsAndSoftmaxAreInFp32UnderAutocast) {
  Software autocast;
  autocast.autocast = true;
  Operator norm{.kind = OperatorKind::kNorm, .role = Role::kMlpNorm}, up{.role = Role::kMlpUp};
  norm.saved_elements = up.saved_elements = 1000;
  const auto bytes = [&](const Operator& op) {
    return kept_bytes(op, Precision::kFp16, AttentionKernel::kUnfused, autocast);
  };
  EXPECT_EQ(bytes(norm), 4e3);
  EXPECT_EQ(bytes(up), 2e3);
  EXPECT_EQ(bytes(softmax(true)), 4e6 + 1e6);  // and a byte of dropout's mask
}

TEST(Adam, Moves28BytesPerParameterInMixedPrecision) {
  // Read: gradient 2, master 4, moments 8. Written: master 4, moments 8, weights 2. A million, at 1 GB/s.
  EXPECT_DOUBLE_EQ(update_time(1e6, kSlowMemory, {Precision::kFp16, Precision::kFp16}, software()).value, 28e-3);
}

TEST(Adam, ReadsTwoBytesMoreOfFp32GradientsAndHasNoSecondCopyOfWeightsInFp32) {
  EXPECT_DOUBLE_EQ(update_time(1e6, kSlowMemory, {Precision::kFp16, Precision::kFp32}, software()).value, 30e-3);
  // Read: 4 + 4 + 8; written: 4 + 8.
  EXPECT_DOUBLE_EQ(update_time(1e6, kSlowMemory, {Precision::kFp32, Precision::kFp32}, software()).value, 28e-3);
}

TEST(Update, MovesAsMuchLessAsItsStateIsSmaller) {
  // In mixed precision beside the state: read 2 + 4, written 4 + 2.
  Software stack = software();
  const auto moved = [&](UpdateRule rule) {
    return update_time(1e6, kSlowMemory, {Precision::kFp16, Precision::kFp16, rule}, stack).value;
  };
  EXPECT_DOUBLE_EQ(moved(UpdateRule::kSgd), 12e-3);
  EXPECT_DOUBLE_EQ(moved(UpdateRule::kMomentum), 20e-3);
  EXPECT_DOUBLE_EQ(moved(UpdateRule::kAdam8bit), (12 + 2 * (2 + 8 / 256.0)) * 1e-3);
  // Everything in 16 bits: gradient, weight and two moments are read, the last three written.
  EXPECT_DOUBLE_EQ(moved(UpdateRule::kAdam16bit), 14e-3);
  // A stack's own Adam of 48 B is one of 32 + 16, and one of half in 16 bits.
  stack.adam = 48;
  EXPECT_DOUBLE_EQ(moved(UpdateRule::kSgd), 32e-3);
  EXPECT_DOUBLE_EQ(moved(UpdateRule::kAdam16bit), 24e-3);
}

TEST(Adam, ReachesItsShareOfTheBandwidthAfterALaunch) {
  // 28 ms / 0.5 + 1 ms
  EXPECT_DOUBLE_EQ(update_time(1e6, kSlowMemory, {Precision::kFp16, Precision::kFp16}, software(1, 0.5, {1e-3})).value,
                   57e-3);
}

}  // namespace
}  // namespace slmsim::roofline_test
