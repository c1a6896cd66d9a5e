// When a measured kernel stands for what a software stack runs.
#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"
#include "sim/compute/software.h"
#include "tests/compute/measured_gpu.h"

namespace slmsim::timed_part_test {
namespace {

using made_up::add;

// One layer of width 64 with 4 heads and 32 tokens.
Operator operator_of(Role role, Family family = Family::kGpt2) {
  const Transformer model{.name = "small",
                          .family = family,
                          .hidden = 64,
                          .heads = 4,
                          .kv_heads = 4,
                          .layers = 1,
                          .sequence = 32,
                          .vocabulary = 100,
                          .intermediate = 256,
                          .dropout = family == Family::kGpt2};
  const OperatorGraph graph = build_operator_graph(model);
  for (std::size_t i = 0; i < boost::num_vertices(graph); ++i) {
    if (graph[i].role == role) return graph[i];
  }
  throw std::logic_error("there is no such operator");
}

Software stack(AttentionKernel attention = AttentionKernel::kUnfused) {
  Software out;
  out.memory = 1;
  out.attention = out.attention_elsewhere = attention;
  return out;
}
void state(Software& software, KernelPart part, double forward, double backward) {
  software.kernels[static_cast<std::size_t>(part)] = KernelTraffic{{.elements = forward}, {.elements = backward}};
}
OperatorTime time_of(const Operator& op, const Gpu& gpu, const Software& software) {
  return operator_time(op, {}, gpu, Precision::kFp16, software);
}

constexpr Seconds kTimed{1}, kOther{2};  // far from anything that a data sheet says

TEST(TimedPart, CountsWhereTheStackMovesAboutAsMuch) {
  // Dropout of 4 x 32 rows of 32 probabilities: read, written, and a byte of mask, 5 B; 2.94 elements at 85 %.
  GpuProfile profile;
  add(profile, {"dropout-forward", 1, 128, 32, 1}, kTimed);
  for (const char* pass : {"softmax-forward", "softmax-backward"}) add(profile, {pass, 1, 128, 32, 1}, {1e-5});
  const Gpu gpu = made_up::with(profile);
  const Operator op = operator_of(Role::kSoftmax);
  const auto forward_of = [&](double elements) {
    Software software = stack();
    for (const KernelPart part : {KernelPart::kMask, KernelPart::kSoftmax}) state(software, part, 0, 0);
    state(software, KernelPart::kDropout, elements, elements);
    return time_of(op, gpu, software).forward.value;
  };
  EXPECT_GE(forward_of(2.94), kTimed.value);
  EXPECT_GE(forward_of(2.94 * 1.4), kTimed.value);
  EXPECT_GE(forward_of(2.94 / 1.4), kTimed.value);
  EXPECT_LT(forward_of(2.94 * 1.6), 1e-2);  // several kernels
  EXPECT_LT(forward_of(2.94 / 1.6), 1e-2);  // a part of another
  EXPECT_LT(forward_of(0), 1e-2);           // none
}

TEST(TimedPart, ThatWasNotTimedIsTheStacks) {
  GpuProfile profile;
  add(profile, {"gelu-forward", 1, 32, 256, 1}, kTimed);
  const Gpu gpu = made_up::with(profile), plain = made_up::gpu();
  const Operator embedding = operator_of(Role::kEmbedding);
  Software software = stack();
  state(software, KernelPart::kEmbedding, 3.5, 5.9);
  EXPECT_EQ(time_of(embedding, gpu, software).forward, time_of(embedding, plain, software).forward);
  EXPECT_EQ(time_of(embedding, gpu, software).backward, time_of(embedding, plain, software).backward);
}

TEST(TimedPart, KnowsTheTableOfAnEmbedding) {
  GpuProfile profile;
  add(profile, {"embedding-backward", 1, 32, 64, 100}, kTimed);
  Software software = stack();
  state(software, KernelPart::kEmbedding, 3.5, 5.9);
  const OperatorTime time = time_of(operator_of(Role::kEmbedding), made_up::with(profile), software);
  EXPECT_EQ(time.backward, kTimed);
  EXPECT_EQ(time.basis.measured, kTimed);
}

TEST(TimedPart, IsItsLikeWhereItsOwnWasNotTimed) {
  GpuProfile profile;
  add(profile, {"norm-forward", 1, 32, 64, 1}, kTimed);
  add(profile, {"residual-forward", 1, 32, 64, 1}, kTimed);
  const Operator norm = operator_of(Role::kMlpNorm, Family::kLlama),
                 addition = operator_of(Role::kMlpResidual, Family::kLlama);
  EXPECT_EQ(time_of(norm, made_up::with(profile), stack()).forward, kTimed);
  EXPECT_EQ(time_of(addition, made_up::with(profile), stack()).forward, kTimed);
  add(profile, {"rmsnorm-forward", 1, 32, 64, 1}, kOther);
  add(profile, {"addition-forward", 1, 32, 64, 1}, kOther);
  EXPECT_EQ(time_of(norm, made_up::with(profile), stack()).forward, kOther);
  EXPECT_EQ(time_of(addition, made_up::with(profile), stack()).forward, kOther);
  // A layer norm is none.
  EXPECT_EQ(time_of(operator_of(Role::kMlpNorm), made_up::with(profile), stack()).forward, kTimed);
}

TEST(TimedPart, OfAFusedSoftmaxIsItsOwnFirst) {
  GpuProfile profile;
  add(profile, {"softmax-forward", 1, 128, 32, 1}, kTimed);
  Operator op = operator_of(Role::kSoftmax);
  op.dropout = false;
  const Software fused = stack(AttentionKernel::kFusedSoftmax);
  EXPECT_EQ(time_of(op, made_up::with(profile), fused).forward, kTimed);
  add(profile, {"fused_softmax-forward", 1, 128, 32, 1}, kOther);
  EXPECT_EQ(time_of(op, made_up::with(profile), fused).forward, kOther);
  EXPECT_EQ(time_of(op, made_up::with(profile), stack()).forward, kTimed);
}

TEST(TimedPart, OfFlashAttentionIsDividedAmongItsProducts) {
  GpuProfile profile;
  // 4 heads of 16, 32 tokens.
  add(profile, {"flash-forward", 4, 32, 32, 16}, kTimed);
  add(profile, {"flash-backward", 4, 32, 32, 16}, kOther);
  Gpu gpu = made_up::with(profile);
  gpu.compute_capability = 80;
  const Software flash = stack(AttentionKernel::kFlash);
  OperatorTime sum;
  for (const Role role : {Role::kScores, Role::kSoftmax, Role::kValues}) {
    const OperatorTime time = time_of(operator_of(role), gpu, flash);
    sum.forward += time.forward;
    sum.backward += time.backward;
    sum.basis += time.basis;
  }
  EXPECT_DOUBLE_EQ(sum.forward.value, 1);
  EXPECT_DOUBLE_EQ(sum.backward.value, 2);
  EXPECT_DOUBLE_EQ(sum.basis.measured.value, 3);
  // It was timed with the half of the scores that scores and values divide; a window leaves a quarter of that half, an
  // encoder needs all.
  Operator scores = operator_of(Role::kScores);
  scores.attended = 0.125;
  EXPECT_DOUBLE_EQ(time_of(scores, gpu, flash).forward.value, 0.125);
  EXPECT_DOUBLE_EQ(time_of(scores, gpu, flash).backward.value, 0.25);
  scores.attended = 1;
  EXPECT_DOUBLE_EQ(time_of(scores, gpu, flash).forward.value, 1);
}

TEST(FlashAttention, TakesTimeInProportionToTheAttendedScores) {
  Gpu gpu = made_up::with({});
  gpu.compute_capability = 80;
  gpu.kernels = {};
  const Software flash = stack(AttentionKernel::kFlash);
  Operator scores = operator_of(Role::kScores);
  const OperatorTime half = time_of(scores, gpu, flash),
                     least = least_operator_time(scores, gpu, Precision::kFp16, flash);
  scores.attended = 0.25;
  const OperatorTime quarter = time_of(scores, gpu, flash),
                     bound = least_operator_time(scores, gpu, Precision::kFp16, flash);
  EXPECT_DOUBLE_EQ(half.forward.value - flash.launch.value / 2, 2 * (quarter.forward.value - flash.launch.value / 2));
  EXPECT_DOUBLE_EQ(half.backward.value - flash.launch.value / 2, 2 * (quarter.backward.value - flash.launch.value / 2));
  EXPECT_DOUBLE_EQ(least.forward.value, 2 * bound.forward.value);
  EXPECT_LE(bound.forward, quarter.forward);
}

TEST(TimedPart, OfAnOptimizerIsTheOneThatTheStackNames) {
  GpuProfile profile;
  add(profile, {"adam_foreach", 1, 1000, 1, 1}, kTimed);
  const Gpu gpu = made_up::with(profile);
  Software software = stack();
  software.adam = 60;
  EXPECT_LT(update_time(1000, gpu, {}, software).value, 1e-3);
  software.adam_kernel = "adam_foreach";
  TimeBasis basis;
  EXPECT_EQ(update_time(1000, gpu, {}, software, &basis), kTimed);
  EXPECT_EQ(basis.measured, kTimed);
  software.adam_kernel = "adam_single";  // not timed
  EXPECT_LT(update_time(1000, gpu, {}, software).value, 1e-3);
}

}  // namespace
}  // namespace slmsim::timed_part_test
