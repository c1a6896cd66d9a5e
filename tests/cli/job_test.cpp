// Output of `slmsim run` and `report` for a scenario with a `job`, in every format.
#include <cmath>

#include <gmock/gmock.h>

#include "tests/cli/prediction.h"

namespace slmsim::job_test {
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
  const RunOutcome csv = slmsim_run({"run", kSpot, "--format", "csv"});
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
  const RunOutcome table = slmsim_run({"run", kSpot, "--all"});
  EXPECT_THAT(table.out, HasSubstr("whole jobs, 1000 drawn (seed 1)"));
  EXPECT_THAT(table.out, HasSubstr("LocalSGD on gat+amst: checkpoints of "));
}

TEST(WholeJobs, AreAbsentWithoutAJob) {
  for (const char* format : {"table", "csv", "json"}) {
    const RunOutcome run = slmsim_run({"run", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--format", format});
    EXPECT_THAT(run.out, Not(HasSubstr("goodput"))) << format;
  }
}

TEST(WholeJobs, HaveASectionOfThePage) {
  TemporaryFolder folder;
  const RunOutcome page = slmsim_run({"report", kSpot, "-o", folder.file("page.html")});
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_THAT(contents(folder.file("page.html")), HasSubstr("The whole job"));
}

// Twice the same bytes; the draws hang on the seed alone.
TEST(WholeJobs, AreTheSameEveryTime) {
  const std::vector<std::string> words = {"run", kSpot, "--format", "json"};
  EXPECT_EQ(slmsim_run(words).out, slmsim_run(words).out);
  EXPECT_NE(slmsim_run(words).out, slmsim_run({"run", kSpot, "--format", "json", "--set", "job.seed=2"}).out);
}

// Each format reports what makes iterations longer.
TEST(WholeJobs, TellDataJitterAndTheDay) {
  const std::vector<std::string> words = {
      "run",         kSpot,
      "--technique", "Data",
      "--set",       "job.data={from: store, rate: 2 kB/s, bytes_per_token: 2, prefetch: no}",
      "--set",       "job.jitter={gpu: {sd: 0.05, shape: normal}, states: 4}",
      "--set",       "job.links={wan: {hours: [{from: 0 h}, {from: 8 h, bandwidth: 300 Mbps}]}}"};
  const auto with = [&](const std::string& format) {
    auto all = words;
    all.insert(all.end(), {"--format", format});
    if (format == "table") all.emplace_back("--all");
    RunOutcome out = slmsim_run(all);
    out.out = unwrapped(out.out);
    return out;
  };
  const RunOutcome table = with("table");
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("as long as predicted (standard deviation"));
  EXPECT_THAT(table.out, HasSubstr("% of it waiting for data"));
  EXPECT_THAT(table.out, HasSubstr("; over the day "));
  EXPECT_THAT(with("csv").out, HasSubstr(",loading_s,job_iteration_s,job_iteration_sd_s"));
  const Json run = Json::parse(with("json").out);
  EXPECT_EQ(run.at("job").at("links").size(), 2);
  for (const auto& p : run.at("predictions")) {
    if (p.at("status") != "ok") continue;
    const Json& iterations = p.at("job").at("iterations");
    EXPECT_GT(iterations.at("mean_s"), iterations.at("predicted_s"));
    EXPECT_GT(p.at("job").at("mean_s").at("loading"), 0);
    EXPECT_EQ(p.at("job").at("minutes_quantiles").size(), 41);
    EXPECT_EQ(p.at("job").at("minutes_quantiles")[20], p.at("job").at("minutes").at("median"));
  }
}

TEST(WholeJobs, AreWhatPlansGoBy) {
  const RunOutcome plan = slmsim_run({"plan", kSpot, "--technique", "Data", "--objective", "p90", "--format", "json",
                                      "--set", "job.samples=50", "--list", "2"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  const Json model = Json::parse(plan.out).at("models")[0];
  EXPECT_EQ(model.at("objective"), "p90");
  EXPECT_TRUE(model.at("proven"));
  for (const auto& one : model.at("plans"))
    EXPECT_NEAR(one.at("cost").get<double>(), 60 * one.at("job").at("minutes").at("high").get<double>(), 1e-3);
}

}  // namespace
}  // namespace slmsim::job_test
