// Results of a software stack's figures: bytes kept for the backward pass, and times of kernels between products.
#include <gtest/gtest.h>

#include "sim/compute/roofline.h"

namespace slmsim::stack_figures_test {
namespace {

// A product of 10 tokens of 16 elements with a weight.
Operator product(std::int64_t outputs) {
  Operator op;
  op.matrix = {1, 10, outputs, 16};
  op.weights = static_cast<double>(outputs * 16);
  return op;
}

TEST(KeptBytes, OfWhatIsWrittenOutInPythonAreMore) {
  Software plain, written;
  plain.autocast = written.autocast = true;
  written.written_out = true;
  const auto more = [&](const Operator& op) {
    return kept_bytes(op, Precision::kBf16, AttentionKernel::kUnfused, written) -
           kept_bytes(op, Precision::kBf16, AttentionKernel::kUnfused, plain);
  };
  // 10 tokens of 16 elements: an RMSNorm has a scale, a layer norm a shift too.
  Operator norm{.kind = OperatorKind::kNorm, .role = Role::kAttentionNorm};
  norm.outputs = norm.inputs = norm.saved_elements = 160;
  norm.tokens = 10;
  norm.weights = 16;
  EXPECT_DOUBLE_EQ(more(norm), 160 * 4);
  norm.weights = 32;
  EXPECT_DOUBLE_EQ(more(norm), 0);
  Operator swiglu{.kind = OperatorKind::kActivation, .role = Role::kSwiglu};
  swiglu.outputs = 640;
  EXPECT_DOUBLE_EQ(more(swiglu), 640 * 2);
  // Three products read one input, and two.
  Operator qkv = product(48);
  qkv.saved_elements = 160;
  EXPECT_DOUBLE_EQ(more(qkv), 0);
  qkv.rotated = 320;
  EXPECT_DOUBLE_EQ(more(qkv), 2 * 160 * 2);
  Operator up = product(128);
  up.role = Role::kMlpUp;
  up.saved_elements = 160;
  EXPECT_DOUBLE_EQ(more(up), 0);
  up.second = 0.5;
  EXPECT_DOUBLE_EQ(more(up), 160 * 2);
  written.autocast = plain.autocast = false;
  EXPECT_DOUBLE_EQ(more(up), 0);
}

TEST(KeptBytes, OfAutocastHoldTheScoresIn16BitsWithoutDropoutToo) {
  Operator values;
  values.role = Role::kValues;
  values.matrix = {2, 10, 8, 10};
  Software plain, autocast;
  autocast.autocast = true;
  EXPECT_DOUBLE_EQ(kept_bytes(values, Precision::kBf16, AttentionKernel::kUnfused, plain), 0);
  EXPECT_DOUBLE_EQ(kept_bytes(values, Precision::kBf16, AttentionKernel::kUnfused, autocast), 2 * 10 * 10 * 2);
  EXPECT_DOUBLE_EQ(kept_bytes(values, Precision::kBf16, AttentionKernel::kFlash, autocast), 0);
}

// 132 multiprocessors at 1 GHz take 0.76 cycles per element, 5.76 ps; the bytes of such a pass 0.706 ps at 10 TB/s.
TEST(PartTime, OfCastsIsTheMultiprocessorsWhereMemoryIsFaster) {
  Gpu gpu;
  gpu.multiprocessors = 132;
  gpu.memory_bandwidth = {1e13};
  gpu.peak[static_cast<std::size_t>(Precision::kFp32)] = FlopsPerSecond{132 * 128 * 2 * 1e9};
  gpu.compute_capability = 90;
  Software reached;
  const MemoryTraffic plain{.elements = 0, .bytes = 20};
  MemoryTraffic casts = plain, of_bf16 = plain;
  casts.casts = 2;
  of_bf16.bf16_casts = 1;
  const auto per_element = [&](const MemoryTraffic& moves, Precision precision) {
    return part_time(moves, 1e6, gpu, precision, reached).value / 1e6;
  };
  const double beyond = 0.76 / (132 * 1e9) - 7.06 / 1e13;
  EXPECT_NEAR(per_element(plain, Precision::kBf16), 2e-12, 1e-18);
  EXPECT_NEAR(per_element(casts, Precision::kFp16), 2e-12 + 2 * beyond, 1e-18);
  EXPECT_NEAR(per_element(of_bf16, Precision::kFp16), 2e-12, 1e-18);
  EXPECT_NEAR(per_element(of_bf16, Precision::kBf16), 2e-12 + beyond, 1e-18);
  gpu.memory_bandwidth = {1e12};
  EXPECT_NEAR(per_element(casts, Precision::kFp16), 20e-12, 1e-18);
}

}  // namespace
}  // namespace slmsim::stack_figures_test
