#include "sim/scenario/stack.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "sim/compute/roofline.h"

namespace slmsim::stack_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ReadResult {
  Software software;
  std::vector<std::string> errors;
  std::vector<Parameter> parameters;
};

ReadResult read(const std::string& text) {
  Reading reading;
  ReadResult out;
  read_stack(parse_yaml(text, "stack.yaml"), "software.stack", reading, out.software);
  for (const auto& error : reading.errors) out.errors.push_back(error.text);
  out.parameters = reading.parameters;
  return out;
}

constexpr const char* kSmall = R"(name: small
attention: flash
attention_elsewhere: fused_softmax
kernels:
  gelu:
    forward: {elements: 2.5, bytes: 1}
    backward: {elements: 4, cycles: 0.5}
    provenance: measured
    spread: 0.1
    source: here
flash:
  forward: 0.7
  backward: 0.5
  half_length: {forward: 200, backward: 700}
host:
  forward: 10 us
  backward: 20 us
pads: yes
)";

TEST(StackFile, SaysWhatEachKernelMoves) {
  const ReadResult r = read(kSmall);
  EXPECT_THAT(r.errors, IsEmpty());
  const auto& gelu = r.software.kernels[static_cast<std::size_t>(KernelPart::kGelu)];
  ASSERT_TRUE(gelu);
  EXPECT_EQ(*gelu, (KernelTraffic{{2.5, 1, 0}, {4, 0, 0.5}}));
  EXPECT_FALSE(r.software.kernels[static_cast<std::size_t>(KernelPart::kNorm)]);
  EXPECT_EQ(r.software.attention, AttentionKernel::kFlash);
  EXPECT_EQ(r.software.attention_elsewhere, AttentionKernel::kFusedSoftmax);
  EXPECT_EQ(r.software.flash.forward, (FlashPass{0.7, 200}));
  EXPECT_EQ(r.software.flash.backward, (FlashPass{0.5, 700}));
  EXPECT_DOUBLE_EQ(r.software.host.backward.value, 20e-6);
  EXPECT_TRUE(r.software.pads);
  ASSERT_EQ(r.parameters.size(), 1);
  EXPECT_EQ(r.parameters[0].path, "software.stack.kernels.gelu");
  EXPECT_EQ(r.parameters[0].spread, 0.1);
}

TEST(StackFile, RefusesWhatNobodySaysTheSourceOfAndUnknownKernels) {
  EXPECT_THAT(read("{name: s, attention: flash, kernels: {gelu: {forward: {elements: 1}, backward: {elements: 1}, "
                   "provenance: typical}}}")
                  .errors,
              ElementsAre(HasSubstr("states no source")));
  EXPECT_THAT(read("{name: s, attention: falsh, kernels: {gelus: {}}}").errors,
              ElementsAre(HasSubstr("did you mean \"flash\""), HasSubstr("did you mean \"gelu\"")));
}

// Each stack that ships states every kernel, with a source for each.
TEST(StackFile, OfEveryStackThatShipsIsWhole) {
  const std::filesystem::path folder = std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios/stacks";
  int stacks = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    Reading reading;
    Software software;
    read_stack(read_yaml(file.path()), "", reading, software);
    EXPECT_THAT(reading.errors, IsEmpty()) << file.path();
    EXPECT_EQ(software.stack, file.path().stem().string());
    for (std::size_t p = 0; p < kKernelParts; ++p) {
      const auto part = static_cast<KernelPart>(p);
      const bool only_in_python = part == KernelPart::kGeluNew || part == KernelPart::kQuickGelu || !is_profiled(part);
      EXPECT_TRUE(only_in_python || software.kernels[p]) << kernel_part_names()[p];
    }
    if (software.stack == "eager" || software.stack == "autocast") {
      for (std::size_t p = 0; p < kKernelParts; ++p) {
        const bool of_others = static_cast<KernelPart>(p) == KernelPart::kRepeatFlash;
        EXPECT_TRUE(of_others || software.kernels[p]) << kernel_part_names()[p];
      }
    }
    ++stacks;
  }
  EXPECT_GE(stacks, 5);
}

// Phi-3's SwiGLU reads halves of one product's rows, as nanotron's does. On an H200 its kernels take, for 8192 rows of 8192
// (tests/reference/h200/families/kernels.csv, phi-3-mini-l4, of 4 layers): SiLU 198.8 us, products 192.9, 192.9 and 90.5, SiLU's
// gradient 232.5, both gradients joined 132.
TEST(StackFile, OfNanotronTakesTheTimeOfKernelsThatReadHalvesOfRows) {
  Reading reading;
  Software software;
  read_stack(read_yaml(std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios/stacks/nanotron.yaml"), "", reading,
             software);
  software.launch = {};
  Gpu h200;
  h200.multiprocessors = 132;
  h200.memory_bandwidth = {4.8e12};
  h200.peak[static_cast<std::size_t>(Precision::kFp32)] = FlopsPerSecond{66.9e12};
  h200.compute_capability = 90;
  const KernelTraffic& swiglu = *software.kernels[static_cast<std::size_t>(KernelPart::kSwiglu)];
  const auto seconds = [&](const MemoryTraffic& moves) {
    return part_time(moves, 8192.0 * 8192, h200, Precision::kBf16, software).value;
  };
  EXPECT_NEAR(seconds(swiglu.forward), 198.8e-6 + 192.9e-6, 0.1 * 391.7e-6);
  EXPECT_NEAR(seconds(swiglu.backward), 192.9e-6 + 90.5e-6 + 232.5e-6 + 132e-6, 0.1 * 647.9e-6);
}

}  // namespace
}  // namespace slmsim::stack_test
