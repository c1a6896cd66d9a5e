// The search over worker processes: the same as in one process, whatever their number, and after an interruption.
#include <gtest/gtest.h>

#include "sim/report/report.h"
#include "tests/search/clusters.h"

namespace slmsim::plan_crew_test {
namespace {

namespace fs = std::filesystem;

std::string planned(const Scenario& scenario, std::size_t jobs) {
  PlanCrewOptions options;
  options.jobs = jobs;
  return to_plan_table(find_plans(scenario, {}, options));
}

TEST(PlanCrew, GivesTheSameWithAnyNumberOfWorkers) {
  const ClusterFile file(clusters()[8]);
  const Scenario scenario = file.load();
  const std::string one = planned(scenario, 1);
  EXPECT_EQ(planned(scenario, 3), one);
  EXPECT_NE(one.find("1. best"), std::string::npos);
}

TEST(PlanCrew, GoesOnWhereItWasInterrupted) {
  const ClusterFile file(clusters()[8]);
  const Scenario scenario = file.load();
  const fs::path journal = fs::temp_directory_path() / ("slmsim_plan_" + std::to_string(getpid()) + ".journal");
  PlanCrewOptions options;
  options.journal = journal;
  options.identity = std::string(1, '1');
  bool enough = false;
  options.stop = [&] { return enough; };
  PlanJob job;
  job.progress = [&](const std::string&, const SearchProgress& progress) { enough = progress.simulated > 0; };
  EXPECT_TRUE(find_plans(scenario, job, options).stopped);
  ASSERT_TRUE(fs::exists(journal));
  EXPECT_GT(fs::file_size(journal), 200);
  options.stop = {};
  options.identity = std::string(1, '2');
  EXPECT_THROW(find_plans(scenario, {}, options), InputError);  // another search's
  options.identity = std::string(1, '1');
  EXPECT_EQ(to_plan_table(find_plans(scenario, {}, options)), planned(scenario, 1));
  EXPECT_TRUE(fs::exists(journal));  // until the result is written
  fs::remove(journal);
}

// Numbers of choices would be others when it goes on.
TEST(PlanCrew, KeepsNoJournalOfAListThatIsNotWhole) {
  const ClusterFile file(clusters()[8]);
  const Scenario scenario = file.load();
  PlanCrewOptions options;
  options.journal = fs::temp_directory_path() / ("slmsim_cut_" + std::to_string(getpid()) + ".journal");
  options.stop = [] { return true; };
  const PlanReport report = find_plans(scenario, {}, options);
  EXPECT_TRUE(report.stopped);
  EXPECT_TRUE(report.models.front().search.thinned);
  EXPECT_FALSE(fs::exists(options.journal));
}

TEST(PlanCrew, WantsPricesForDollars) {
  const ClusterFile file(clusters()[0]);
  PlanJob job;
  job.objective = PlanObjective::kDollars;
  try {
    find_plans(file.load(), job, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.errors().front().text.find("price of a30, t4"), std::string::npos);
  }
}

}  // namespace
}  // namespace slmsim::plan_crew_test
