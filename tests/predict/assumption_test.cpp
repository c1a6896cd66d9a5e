#include "sim/predict/assumption.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slmsim {
namespace {

std::string about(const Scenario& scenario, const std::string& key) {
  const auto all = assumptions_of(scenario);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Assumption& one) { return one.about == key; });
  return found == all.end() ? "" : found->text;
}

TEST(Assumption, TellsThatAGpuEmulatesBf16) {
  const std::filesystem::path file = SLMSIM_SOURCE_DIR "/scenarios/tacc-tacc.yaml";
  EXPECT_EQ(
      about(load_scenario(file, {"training.precision=bf16"}), "t4.peak.bf16"),
      "t4 has no bf16: products run at the rate of fp32 (8.1 TFLOP/s), as PyTorch emulates it; training.precision: "
      "fp16 has 65 TFLOP/s");
  EXPECT_EQ(about(load_scenario(file), "t4.peak.fp16"), "");
  EXPECT_EQ(about(load_scenario(file, {"training.precision=tf32"}), "t4.peak.tf32"),
            "t4 has no tf32: products run at the rate of fp32");
}

}  // namespace
}  // namespace slmsim
