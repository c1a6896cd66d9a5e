// Every file of tests/bad, with all the errors it must give.
#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/cli/bad_hardware.h"
#include "tests/cli/bad_path.h"
#include "tests/cli/bad_reference.h"
#include "tests/cli/bad_scenario.h"
#include "tests/cli/bad_sweep.h"
#include "tests/cli/bad_text.h"
#include "tests/word_name.h"

namespace slmsim::bad_file_test {
namespace {

std::vector<BadCase> all_cases() {
  std::vector<BadCase> all;
  for (const auto& part : {bad_text_cases(), bad_key_cases(), bad_value_cases(), bad_reference_cases(),
                           bad_model_cases(), bad_platform_cases(), bad_path_cases(), bad_sweep_cases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

class BadFile : public testing::TestWithParam<BadCase> {};

TEST_P(BadFile, IsRefusedWithAllItsErrors) {
  const auto& [verb, file, errors, blamed] = GetParam();
  const std::string folder = "tests/bad/";
  expect_refused({verb, folder + file}, folder + (blamed.empty() ? file : blamed), errors);
  expect_no_file_written({verb, folder + file});
}

INSTANTIATE_TEST_SUITE_P(All, BadFile, testing::ValuesIn(all_cases()),
                         [](const auto& one) { return word_name(one.param.verb + "_" + one.param.file); });

TEST(BadFiles, EachHasACase) {
  std::set<std::string> tested, present;
  for (const auto& one : all_cases()) tested.insert(one.file);
  for (const auto& entry : std::filesystem::directory_iterator(SLMSIM_SOURCE_DIR "/tests/bad"))
    present.insert(entry.path().filename());
  EXPECT_THAT(present, testing::ContainerEq(tested));
  EXPECT_GE(present.size(), 50);
}

TEST(BadFiles, AreAllToldInOneRun) {
  const RunOutcome run = slmsim_run({"run", "tests/bad/empty.yaml", "tests/bad/unknown-platform.yaml",
                                     "scenarios/gat-amst.yaml", "tests/bad/no-such-file.yaml"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(error_lines(run.err),
              testing::ElementsAre(testing::StartsWith("tests/bad/empty.yaml:1:1: error: "),
                                   testing::StartsWith("tests/bad/unknown-platform.yaml:2:11: error: "),
                                   "tests/bad/no-such-file.yaml: error: no such file"));
}

}  // namespace
}  // namespace slmsim::bad_file_test
