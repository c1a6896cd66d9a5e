// The README's table of facts is what the program says today.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/report/deepspeed_table.h"
#include "sim/report/explanation.h"
#include "sim/report/facts_table.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

std::string readme() {
  std::stringstream text;
  text << std::ifstream(kRoot / "README.md").rdbuf();
  return text.str();
}

void expect_in_readme(const std::string& printed) {
  const std::string text = readme();
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    EXPECT_NE(text.find(line.empty() ? "" : "    " + line + "\n"), std::string::npos)
        << line << "\nrun scripts/update-readme.sh";
  }
}

TEST(Readme, ShowsWhatExplainPrints) {
  const Overrides overrides = {"models=gpt2m", "groups=all"};
  ExplainResult result{load_scenario(kRoot / "scenarios/gat-amst.yaml", overrides), {}};
  ExplainOptions options;
  options.only = Technique::kData;
  options.reload = [&](Overrides more) {
    more.insert(more.begin(), overrides.begin(), overrides.end());
    return load_scenario(kRoot / "scenarios/gat-amst.yaml", more);
  };
  result.explanations = explain(result.scenario, options);
  expect_in_readme(to_explanation_table({result}));
}

TEST(Readme, ShowsWhatItsExamplePrints) {
  RunResult result;
  result.scenario = load_scenario(kRoot / "scenarios/gat-amst.yaml", {"models=gpt2m"});
  result.predictions = predict(result.scenario);
  result.selections = select_techniques(result.scenario, result.predictions, Algorithm::kAmended);
  expect_in_readme(to_table(result));
}

TEST(Readme, ShowsTheFactsThatValidatePrints) {
  const std::string facts = to_markdown(validate_fabric(kRoot, kRoot / "tests/reference/fabric.csv"));
  EXPECT_NE(readme().find("<!-- facts -->\n" + facts + "<!-- /facts -->"), std::string::npos)
      << "run scripts/update-readme.sh";
}

TEST(Readme, ShowsTheDeepSpeedFactsThatValidatePrints) {
  const std::string facts = to_markdown(validate_deepspeed(kRoot, kRoot / "tests/reference/deepspeed.csv"));
  EXPECT_NE(readme().find("<!-- deepspeed -->\n" + facts + "<!-- /deepspeed -->"), std::string::npos)
      << "run scripts/update-readme.sh";
}

}  // namespace
}  // namespace slmsim
