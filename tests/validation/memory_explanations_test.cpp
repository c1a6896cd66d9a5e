// Which choices of the FABRIC study explain what fits in memory.
#include "tests/validation/memory_explanations.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/validation/facts.h"
#include "tests/own_file.h"

namespace slmsim::memory_explanations_test {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;
constexpr const char* kColumns = "slice,gpus,n_gpus,model,technique,minutes,tflops_per_gpu,status\n";

MemoryExplanations explained(const std::string& rows) {
  const auto file = own_file(".csv");
  std::ofstream(file) << kColumns << rows;
  return explain_memory(kRoot, file);
}

TEST(MemoryExplanations, SlicesThatContradictEachOtherNeedOneEach) {
  const auto found = explained(
      "TACC-TACC,2xRTX,2,gpt2L,Data,,,oom\n"
      "UTAH-MASS,2xRTX,2,gpt2L,Data,,,ok\n");
  EXPECT_EQ(found.met_by_each(), 2u);
  EXPECT_EQ(found.all.met(), 1u);
  EXPECT_EQ(found.fitting, 1u);
  ASSERT_EQ(found.each.size(), 2u);
  EXPECT_NE(found.each.front().words, found.each.back().words);
}

TEST(MemoryExplanations, WhatNoChoiceExplainsIsNamed) {
  const auto found = explained(
      "TACC-TACC,2xRTX,2,gpt2m,Data,,,oom\n"
      "TACC-TACC,2xRTX,2,gpt2L,Data,,,ok\n");
  EXPECT_EQ(found.met_by_each(), 1u);
  ASSERT_EQ(found.each.front().unmet.size(), 1u);
  EXPECT_EQ(found.each.front().unmet.front().model, found.each.front().unmet.front().fits() ? "gpt2L" : "gpt2m");
}

TEST(MemoryExplanations, AreMetByWholePredictionsToo) {
  const auto reference = kRoot / "tests/reference/fabric.csv";
  const auto found = explain_memory(kRoot, reference);
  const auto whole = validate_fabric(kRoot, reference, overrides_of(found.alternatives, found.all.words));
  EXPECT_EQ(found.all.facts, static_cast<std::size_t>(whole.summary.status_cells));
  EXPECT_EQ(found.all.met(), static_cast<std::size_t>(whole.summary.status_agree));
  EXPECT_GE(found.met_by_each(), found.all.met());
  for (const auto& one : found.each) EXPECT_GE(one.as_good, 1u) << one.slice;
}

TEST(MemoryExplanations, EndWhereTheyAreStopped) {
  EXPECT_FALSE(explain_memory(kRoot, kRoot / "tests/reference/fabric.csv", [] { return true; }).complete);
}

}  // namespace
}  // namespace slmsim::memory_explanations_test
