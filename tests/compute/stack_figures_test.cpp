// Results of a software stack's figures: bytes kept for the backward pass, and times of kernels between products.
#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"
#include "sim/compute/software.h"

namespace slmsim::stack_figures_test {
namespace {

// A product of 10 tokens of 16 elements with a weight.
Operator product(std::int64_t outputs) {
  Operator op;
  op.matrix = {1, 10, outputs, 16};
  op.weights = static_cast<double>(outputs * 16);
  return op;
}

KernelTraffic& state(Software& software, KernelPart part) {
  return software.kernels[static_cast<std::size_t>(part)].emplace();
}

// Bytes that a part's `kept` adds, under autocast.
double added(const Operator& op, KernelPart part, KeptTensors kept) {
  Software plain, written;
  plain.autocast = written.autocast = true;
  state(written, part).kept = kept;
  return kept_bytes(op, Precision::kBf16, AttentionKernel::kUnfused, written) -
         kept_bytes(op, Precision::kBf16, AttentionKernel::kUnfused, plain);
}

TEST(KeptBytes, OfWhatIsWrittenOutInPythonAreMore) {
  // 10 tokens of 16 elements: an RMSNorm has a scale, a layer norm a shift too.
  Operator norm{.kind = OperatorKind::kNorm, .role = Role::kAttentionNorm};
  norm.outputs = norm.inputs = norm.saved_elements = 160;
  norm.tokens = 10;
  norm.weights = 16;
  EXPECT_DOUBLE_EQ(added(norm, KernelPart::kRmsNorm, {0, 4}), 160 * 4);
  norm.weights = 32;
  EXPECT_DOUBLE_EQ(added(norm, KernelPart::kRmsNorm, {0, 4}), 0);
  Operator swiglu{.kind = OperatorKind::kActivation, .role = Role::kSwiglu};
  swiglu.outputs = 640;
  EXPECT_DOUBLE_EQ(added(swiglu, KernelPart::kSwiglu, {1, 0}), 640 * 2);
}

// Three products read one input, and two; the first keeps it anyway. LoRA on none of them needs no copy.
TEST(KeptBytes, OfAnInputThatSeveralProductsReadAreACopyForEach) {
  const auto more = [](const Operator& op) { return added(op, KernelPart::kSharedInput, {1, 0}); };
  Operator qkv = product(48);
  qkv.inputs = qkv.saved_elements = 160;
  EXPECT_DOUBLE_EQ(more(qkv), 0);
  qkv.products = 3;
  EXPECT_DOUBLE_EQ(more(qkv), 2 * 160 * 2);
  Operator up = product(128);
  up.role = Role::kMlpUp;
  up.inputs = up.saved_elements = 160;
  EXPECT_DOUBLE_EQ(more(up), 0);
  up.products = 2;
  EXPECT_DOUBLE_EQ(more(up), 160 * 2);
  up.input_unneeded = true;
  EXPECT_DOUBLE_EQ(more(up), 0);
}

// Four heads of 4 elements share one key and one value: 10 tokens have 16 + 2 x 4 outputs. Repeated, keys and values are 2 x 16
// each token, of which attention keeps 2 x 4 anyway.
TEST(KeptBytes, OfSharedHeadsAreKeysAndValuesOfEach) {
  Operator qkv = product(24);
  qkv.outputs = 240;
  EXPECT_DOUBLE_EQ(added(qkv, KernelPart::kRepeat, {1, 0}), 0);
  qkv.repeated = 320;
  EXPECT_DOUBLE_EQ(added(qkv, KernelPart::kRepeat, {1, 0}), (320 - 80) * 2);
  EXPECT_DOUBLE_EQ(added(qkv, KernelPart::kRepeatFlash, {1, 0}), 0);
  EXPECT_EQ(parts_of(qkv, AttentionKernel::kFlash).back().part, KernelPart::kRepeatFlash);
  const Transformer model{.name = "m",
                          .family = Family::kLlama,
                          .hidden = 16,
                          .heads = 4,
                          .kv_heads = 1,
                          .layers = 1,
                          .sequence = 10,
                          .vocabulary = 100,
                          .intermediate = 64};
  const OperatorGraph graph = build_operator_graph(model);
  EXPECT_EQ(graph[2].role, Role::kQkv);
  EXPECT_DOUBLE_EQ(graph[2].repeated, 320);
  EXPECT_DOUBLE_EQ(graph[2].outputs, 240);
}

// transformers casts a decoder's logits to fp32; 100 logits in 16 bits, or 32.
TEST(KeptBytes, OfLogitsThatAreCastAreMore) {
  Operator loss{.kind = OperatorKind::kLoss, .role = Role::kLoss};
  loss.outputs = loss.saved_elements = 100;
  EXPECT_DOUBLE_EQ(added(loss, KernelPart::kLogitCast, {.bytes = 2}), 0);
  loss.casts_logits = true;
  EXPECT_DOUBLE_EQ(added(loss, KernelPart::kLogitCast, {.bytes = 2}), 200);
  Software software;
  state(software, KernelPart::kLogitCast).kept.half_bytes = 2;
  const auto bytes = [&](Precision precision) {
    return kept_bytes(loss, precision, AttentionKernel::kFlash, software);
  };
  EXPECT_DOUBLE_EQ(bytes(Precision::kFp32), 100 * (4 + 8));
  EXPECT_DOUBLE_EQ(bytes(Precision::kFp16), 100 * (2 + 8 + 2));
}

// Flash attention reads values as a part of one tensor with queries and keys, whose turned copies it keeps too.
TEST(KeptBytes, OfQueriesAndKeysInOneTensorWithValuesAreKeptByFlashAttention) {
  Operator qkv = product(48);
  qkv.beside_values = 320;
  EXPECT_DOUBLE_EQ(kept_bytes(qkv, Precision::kBf16, AttentionKernel::kFlash, {}), 640);
  EXPECT_DOUBLE_EQ(kept_bytes(qkv, Precision::kBf16, AttentionKernel::kUnfused, {}), 0);
}

// Under autocast a norm keeps its input in fp32, or in 16 bits where it casts back first.
TEST(KeptBytes, OfANormThatCastsBackFirstHave16Bits) {
  Software software;
  software.autocast = true;
  Operator norm{.kind = OperatorKind::kNorm, .role = Role::kQueryNorm};
  norm.outputs = norm.saved_elements = 160;
  EXPECT_DOUBLE_EQ(kept_bytes(norm, Precision::kBf16, AttentionKernel::kFlash, software), 640);
  norm.cast_first = true;
  EXPECT_DOUBLE_EQ(kept_bytes(norm, Precision::kBf16, AttentionKernel::kFlash, software), 320);
}

// An RMSNorm at 100 B/s: its own kernel where the stack states it, whose 16-bit formats add 8 bytes.
TEST(PartTime, OfRmsNormIsThatOfItsOwnKernel) {
  Operator norm{.kind = OperatorKind::kNorm, .role = Role::kAttentionNorm};
  norm.outputs = 160;
  norm.tokens = 10;
  norm.weights = 16;
  Software software;
  state(software, KernelPart::kNorm).forward.bytes = 10;
  Gpu gpu;
  gpu.memory_bandwidth = BytesPerSecond{100};
  const auto seconds = [&](Precision precision) {
    return operator_time(norm, {}, gpu, precision, software).forward.value;
  };
  EXPECT_DOUBLE_EQ(seconds(Precision::kFp32), 160 * 10 / 100.0);
  state(software, KernelPart::kRmsNorm).forward = {.bytes = 28, .half_bytes = 8};
  EXPECT_DOUBLE_EQ(seconds(Precision::kFp32), 160 * 28 / 100.0);
  EXPECT_DOUBLE_EQ(seconds(Precision::kFp16), 160 * 36 / 100.0);
  EXPECT_DOUBLE_EQ(seconds(Precision::kBf16), 160 * 36 / 100.0);
  norm.weights = 32;  // a layer norm
  EXPECT_DOUBLE_EQ(seconds(Precision::kFp32), 160 * 10 / 100.0);
}

// 1 s a launch forward, 2 s backward. Queries, keys and values are three products of 3 and 4 launches, each with a cast; two of
// them cast the input anew; rotary positions take 10 and 12.
TEST(HostTime, IsThatOfTheLaunchesWhereTheStackCountsThem) {
  Software software;
  software.host = {Seconds{1}, Seconds{2}};
  Operator qkv = product(48);
  qkv.rotated = 320;
  qkv.products = 3;
  const auto launches = [&](AttentionKernel attention) {
    const HostTime time = host_time(qkv, attention, software);
    return std::pair{time.forward.value, time.backward.value / 2};
  };
  EXPECT_EQ(launches(AttentionKernel::kFlash), std::pair(1.0, 1.0));
  const auto count = [&](KernelPart part, double forward, double backward) {
    KernelTraffic& kernel = state(software, part);
    kernel.forward.launches = forward;
    kernel.backward.launches = backward;
  };
  count(KernelPart::kProduct, 3, 4);
  count(KernelPart::kSharedInput, 1, 2);
  count(KernelPart::kRotary, 10, 12);
  count(KernelPart::kAttentionProduct, 5, 7);
  count(KernelPart::kAttention, 2, 3);
  software.weight_cast.forward.launches = software.weight_cast.backward.launches = 1;
  EXPECT_EQ(launches(AttentionKernel::kFlash), std::pair(3.0 * 4 + 2 + 10, 3.0 * 5 + 4 + 12));
  qkv.bias = 48;  // cast too
  EXPECT_EQ(launches(AttentionKernel::kFlash), std::pair(3.0 * 5 + 2 + 10, 3.0 * 6 + 4 + 12));
  qkv.unreached = true;
  EXPECT_EQ(launches(AttentionKernel::kFlash).second, 0);
  // Attention: two products of its own, or one kernel.
  qkv = {};
  qkv.role = Role::kScores;
  EXPECT_EQ(launches(AttentionKernel::kUnfused), std::pair(5.0, 7.0));
  EXPECT_EQ(launches(AttentionKernel::kFlash), std::pair(0.0, 0.0));
  qkv = {.kind = OperatorKind::kSoftmax, .role = Role::kSoftmax};
  EXPECT_EQ(launches(AttentionKernel::kFlash), std::pair(2.0, 3.0));
}

// A GELU of 10 tokens of 64 elements: one kernel keeps its input; gelu_new in Python tanh, 1 + tanh and half of the input too,
// quick_gelu the sigmoid (transformers/activations.py).
TEST(KeptBytes, OfGeluWrittenOutAreItsTensors) {
  Operator gelu{.kind = OperatorKind::kActivation, .role = Role::kGelu};
  gelu.outputs = gelu.saved_elements = 640;
  Software software;
  const auto bytes = [&](GeluForm form, Precision precision) {
    gelu.gelu = form;
    return kept_bytes(gelu, precision, AttentionKernel::kUnfused, software);
  };
  // A stack without a statement runs one kernel.
  EXPECT_DOUBLE_EQ(bytes(GeluForm::kNew, Precision::kFp32), 640 * 4);
  software.kernels[static_cast<std::size_t>(KernelPart::kGeluNew)].emplace().kept = {3, 0};
  software.kernels[static_cast<std::size_t>(KernelPart::kQuickGelu)].emplace().kept = {1, 0};
  EXPECT_DOUBLE_EQ(bytes(GeluForm::kOneKernel, Precision::kFp32), 640 * 4);
  EXPECT_DOUBLE_EQ(bytes(GeluForm::kNew, Precision::kFp32), 640 * 4 * 4);
  EXPECT_DOUBLE_EQ(bytes(GeluForm::kQuick, Precision::kFp16), 640 * 2 * 2);
  // Under autocast x^3 and what follows are in fp32: x 4, tanh 4, 1 + tanh 4, half of x 2, as PyTorch 2.11 keeps them
  // (tests/reference/h200/kept.csv, hf gpt2 eager, 8x1024x3072).
  software.kernels[static_cast<std::size_t>(KernelPart::kGeluNew)]->kept = {0, 12};
  EXPECT_DOUBLE_EQ(bytes(GeluForm::kNew, Precision::kBf16), 640 * 14);
}

// At 100 B/s: 640 elements of 4 B, each moved ten times.
TEST(PartTime, OfGeluNewIsThatOfItsOwnKernel) {
  Operator gelu{.kind = OperatorKind::kActivation, .role = Role::kGelu};
  gelu.outputs = 640;
  gelu.tokens = 10;
  Software software;
  software.kernels[static_cast<std::size_t>(KernelPart::kGelu)].emplace().forward.elements = 2;
  software.kernels[static_cast<std::size_t>(KernelPart::kGeluNew)].emplace().forward.elements = 10;
  Gpu gpu;
  gpu.memory_bandwidth = BytesPerSecond{100};
  EXPECT_DOUBLE_EQ(operator_time(gelu, {}, gpu, Precision::kFp32, software).forward.value, 640 * 4 * 2 / 100.0);
  gelu.gelu = GeluForm::kNew;
  EXPECT_DOUBLE_EQ(operator_time(gelu, {}, gpu, Precision::kFp32, software).forward.value, 640 * 4 * 10 / 100.0);
}

// GPT-2 with one layer: embedding and positions 2, norms 3 x 2, four products with a weight and a bias 8, a tied head: 16. Llama:
// embedding 1, norms 3, queries, keys, values, projection, gate, up, down 7, head 1: 12. A host of half the speed takes twice
// 14 launches of 10 us for each.
TEST(UpdateLoop, LaunchesFourteenOperatorsForEachTensor) {
  Transformer model{.name = "m",
                    .hidden = 16,
                    .heads = 2,
                    .kv_heads = 2,
                    .layers = 1,
                    .sequence = 10,
                    .vocabulary = 100,
                    .intermediate = 64};
  EXPECT_EQ(trained_tensors(build_operator_graph(model)), 16);
  model.family = Family::kLlama;
  model.traits = traits_of(Family::kLlama);
  model.tied_embedding = false;
  EXPECT_EQ(trained_tensors(build_operator_graph(model)), 12);
  Software software;
  software.host.forward = Seconds{10e-6};
  Gpu gpu;
  gpu.host = 2;
  EXPECT_EQ(update_loop_time(12, gpu, software).value, 0);
  software.adam_kernel = "adam_single";
  EXPECT_DOUBLE_EQ(update_loop_time(12, gpu, software).value, 12 * 14 * 2 * 10e-6);
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

// Products at half of the peak, flash attention at 0.8 and 0.4 of their rate.
Software half_of_the_peak() {
  Software stack;
  stack.matrix["Made up"] = 0.5;
  stack.launch = {};
  stack.flash = {{0.8}, {0.4}, {}};
  return stack;
}

Gpu made_up() {
  Gpu gpu;
  gpu.architecture = "Made up";
  gpu.multiprocessors = 1;
  gpu.memory_bandwidth = BytesPerSecond{1e9};
  return gpu;
}

Operator scores_of_256_tokens() {
  Operator scores;
  scores.matrix = {8, 256, 256, 64};
  scores.flops = scores.matrix.flops();
  scores.role = Role::kScores;
  return scores;
}

// PyTorch's memory-efficient kernel on GPUs before Ampere and in fp32: as flash attention, at 0.74 and 0.57 of its rates.
TEST(StackAttention, IsMemoryEfficientWhereFlashCannotRun) {
  Software stack = half_of_the_peak();
  stack.attention = AttentionKernel::kFlash;
  stack.attention_elsewhere = AttentionKernel::kMemoryEfficient;
  Gpu gpu = made_up();
  gpu.peak[static_cast<std::size_t>(Precision::kFp16)] = FlopsPerSecond{1e12};
  gpu.compute_capability = 70;
  EXPECT_EQ(stack.attention_on(gpu, Precision::kFp16), AttentionKernel::kMemoryEfficient);
  const Operator scores = scores_of_256_tokens();
  const double causal = 8.0 * 256 * 256 * 64;
  const OperatorTime time = operator_time(scores, {}, gpu, Precision::kFp16, stack);
  EXPECT_DOUBLE_EQ(time.forward.value, causal / (0.4e12 * 0.74));
  EXPECT_DOUBLE_EQ(time.backward.value, 2.5 * causal / (0.2e12 * 0.57));
  Operator softmax{.kind = OperatorKind::kSoftmax, .role = Role::kSoftmax};
  softmax.tokens = 1000;
  softmax.inputs = softmax.outputs = softmax.saved_scores = 1e6;
  EXPECT_EQ(kept_bytes(softmax, Precision::kFp32, AttentionKernel::kMemoryEfficient, {}), 4e3);
  gpu.compute_capability = 80;
  EXPECT_EQ(stack.attention_on(gpu, Precision::kFp16), AttentionKernel::kFlash);
  EXPECT_EQ(stack.attention_on(gpu, Precision::kFp32), AttentionKernel::kMemoryEfficient);
}

// In fp32 on Ampere: three products in TF32, here of 3 TFLOP/s at 0.5 x 0.8 x 0.74; before it, on the 1 TFLOP/s of fp32.
TEST(StackAttention, OfMemoryEfficientKernelsInFp32RunsOnTensorCores) {
  Software stack = half_of_the_peak();
  stack.attention = AttentionKernel::kMemoryEfficient;
  Gpu gpu = made_up();
  gpu.compute_capability = 80;
  gpu.peak[static_cast<std::size_t>(Precision::kFp32)] = FlopsPerSecond{1e12};
  gpu.peak[static_cast<std::size_t>(Precision::kTf32)] = FlopsPerSecond{3e12};
  const Operator scores = scores_of_256_tokens();
  const double causal = 8.0 * 256 * 256 * 64;
  const auto forward = [&](Precision precision) {
    return operator_time(scores, {}, gpu, precision, stack).forward.value;
  };
  const double thrice = causal / (3e12 / 3 * 0.5 * 0.8 * kMemoryEfficientForward);
  EXPECT_DOUBLE_EQ(forward(Precision::kFp32), thrice);
  EXPECT_DOUBLE_EQ(forward(Precision::kTf32), thrice);
  gpu.compute_capability = 75;
  EXPECT_DOUBLE_EQ(forward(Precision::kFp32), causal / (1e12 * 0.5 * 0.8 * kMemoryEfficientForward));
}

}  // namespace
}  // namespace slmsim::stack_figures_test
