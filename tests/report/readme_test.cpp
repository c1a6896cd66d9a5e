// The README's table of facts is what the program says today.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

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

TEST(Readme, ShowsWhatItsExamplePrints) {
  RunResult result;
  result.scenario = load_scenario(kRoot / "scenarios/gat-amst.yaml", {"models=gpt2m"});
  result.predictions = predict(result.scenario);
  result.selections = select_techniques(result.scenario, result.predictions, Algorithm::kAmended);
  const std::string text = readme();
  std::istringstream lines(to_table(result));
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    EXPECT_NE(text.find(line.empty() ? "" : "    " + line + "\n"), std::string::npos) << line;
  }
}

TEST(Readme, ShowsTheFactsThatValidatePrints) {
  const std::string facts = to_markdown(validate_fabric(kRoot, kRoot / "tests/reference/fabric.csv"));
  EXPECT_NE(readme().find("<!-- facts -->\n" + facts + "<!-- /facts -->"), std::string::npos)
      << "run scripts/update-readme.sh";
}

}  // namespace
}  // namespace slmsim
