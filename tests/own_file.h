// A file of the test that runs: tests run beside each other, those of one suite too.
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/word_name.h"

namespace slmsim {

inline std::filesystem::path own_file(const std::string& ending) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return std::filesystem::path(testing::TempDir()) /
         fmt::format("{}-{}{}", word_name(test->test_suite_name()), word_name(test->name()), ending);
}

}  // namespace slmsim
