// The README's table of plans is what the program finds today.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/sweep/crew.h"
#include "sim/sweep/plan_job.h"

namespace slmsim {
namespace {

TEST(Readme, ShowsThePlansThatAreFound) {
  const std::filesystem::path root = SLMSIM_SOURCE_DIR;
  PlanJob job;
  job.compare = true;
  job.explain = false;
  PlanCrewOptions options;
  options.jobs = available_cores();
  std::vector<PlanReport> reports;
  for (const char* slice : {"tacc-tacc", "utah-gpn", "utah-mass", "bris-star", "gat-amst"}) {
    const auto report = find_plans(load_scenario(root / "scenarios" / (std::string(slice) + ".yaml")), job, options);
    ASSERT_TRUE(report);
    reports.push_back(*report);
    for (const auto& model : reports.back().models) EXPECT_TRUE(model.search.proven) << slice;
  }
  std::stringstream text;
  text << std::ifstream(root / "README.md").rdbuf();
  EXPECT_NE(text.str().find("<!-- plans -->\n" + to_plan_markdown(reports) + "<!-- /plans -->"), std::string::npos)
      << "run scripts/update-readme.sh";
}

}  // namespace
}  // namespace slmsim
