// What `slmsim run` and `report` tell of a scenario with a `job`, in every format.
#include <cmath>

#include <gmock/gmock.h>

#include "tests/cli/prediction.h"

namespace slmsim {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kSpot = "scenarios/spot-job.yaml";

TEST(WholeJobs, AddUpInJson) {
  const Json run = run_json({kSpot});
  int told = 0;
  for (const auto& p : run.at("predictions")) {
    if (p.at("status") != "ok") continue;
    ++told;
    const Json& job = p.at("job");
    double sum = 0;
    for (const auto& [name, part] : job.at("mean_s").items()) {
      EXPECT_GE(part.get<double>(), 0) << name;
      sum += part.get<double>();
    }
    EXPECT_NEAR(job.at("goodput").get<double>(), job.at("mean_s").at("useful").get<double>() / sum, 1e-6);
    EXPECT_LE(job.at("minutes").at("low"), job.at("minutes").at("median"));
    EXPECT_LE(job.at("minutes").at("median"), job.at("minutes").at("high"));
    EXPECT_GE(job.at("minutes").at("low"), p.at("minutes"));  // a short job may meet no failure
    EXPECT_GE(job.at("before_lease"), 0);
    EXPECT_LE(job.at("before_lease"), 1);
    EXPECT_GT(job.at("cost").at("median"), 0);
    EXPECT_GT(job.at("checkpoint").at("bytes"), 0);
  }
  EXPECT_GT(told, 0);
}

TEST(WholeJobs, HaveColumnsInCsvAndATable) {
  const Finished csv = slmsim_run({"run", kSpot, "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr(",job_minutes_median,job_minutes_low,"));
  std::istringstream lines(csv.out);
  std::size_t columns = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t count = 1;
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++count;
    }
    if (columns == 0) columns = count;
    EXPECT_EQ(count, columns) << line;
  }
  const Finished table = slmsim_run({"run", kSpot});
  EXPECT_THAT(table.out, HasSubstr("whole jobs, 1000 drawn (seed 1)"));
  EXPECT_THAT(table.out, HasSubstr("LocalSGD on gat+amst: checkpoints of "));
}

TEST(WholeJobs, AreAbsentWithoutAJob) {
  for (const char* format : {"table", "csv", "json"}) {
    const Finished run = slmsim_run({"run", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--format", format});
    EXPECT_THAT(run.out, Not(HasSubstr("goodput"))) << format;
  }
}

TEST(WholeJobs, HaveASectionOfThePage) {
  TemporaryFolder folder;
  const Finished page = slmsim_run({"report", kSpot, "-o", folder.file("page.html")});
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_THAT(contents(folder.file("page.html")), HasSubstr("The whole job"));
}

// Twice the same bytes; the draws hang on the seed alone.
TEST(WholeJobs, AreTheSameEveryTime) {
  const std::vector<std::string> words = {"run", kSpot, "--format", "json"};
  EXPECT_EQ(slmsim_run(words).out, slmsim_run(words).out);
  EXPECT_NE(slmsim_run(words).out, slmsim_run({"run", kSpot, "--format", "json", "--set", "job.seed=2"}).out);
}

}  // namespace
}  // namespace slmsim
