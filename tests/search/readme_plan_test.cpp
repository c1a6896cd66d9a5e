// The table of plans in docs/validation/fabric.md is what the program finds today.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/crew/crew.h"
#include "sim/report/report.h"

namespace slmsim::readme_plan_test {
namespace {

TEST(Docs, ShowThePlansThatAreFound) {
  const std::filesystem::path root = SLMSIM_SOURCE_DIR;
  PlanJob job;
  job.compare = true;
  job.explain = false;
  PlanCrewOptions options;
  options.jobs = available_cores();
  std::vector<PlanReport> reports;
  for (const char* slice : {"tacc-tacc", "utah-gpn", "utah-mass", "bris-star", "gat-amst"}) {
    reports.push_back(find_plans(load_scenario(root / "scenarios" / (std::string(slice) + ".yaml")), job, options));
    for (const auto& model : reports.back().models) EXPECT_TRUE(model.search.proven) << slice;
  }
  std::stringstream text;
  text << std::ifstream(root / "docs/validation/fabric.md").rdbuf();
  EXPECT_NE(text.str().find("<!-- plans -->\n" + to_plan_markdown(reports) + "<!-- /plans -->"), std::string::npos)
      << "run scripts/update-docs.sh";
}

}  // namespace
}  // namespace slmsim::readme_plan_test
