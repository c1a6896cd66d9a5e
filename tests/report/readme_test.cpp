// The README's table of facts is what the program says today.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/report/facts_table.h"

namespace slmsim {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

TEST(Readme, ShowsTheFactsThatValidatePrints) {
  std::stringstream readme;
  readme << std::ifstream(kRoot / "README.md").rdbuf();
  const std::string facts = to_markdown(validate_fabric(kRoot, kRoot / "tests/reference/fabric.csv"));
  EXPECT_NE(readme.str().find("<!-- facts -->\n" + facts + "<!-- /facts -->"), std::string::npos)
      << "run scripts/update-readme.sh";
}

}  // namespace
}  // namespace slmsim
