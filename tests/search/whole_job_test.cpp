// Plans by what whole jobs cost: the bounds that rule choices out hold for every job drawn, the search finds what simulating
// everything finds, and no plan is worse than what `slmsim run` predicts.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/job/outcome.h"
#include "sim/search/bound.h"
#include "tests/search/clusters.h"

namespace slmsim::whole_job_test {
namespace {

constexpr double kRounding = 1e-9;  // relative: sums in another order

// Two machines, some links, and a job with failures, drawn at random.
class DrawnJobs {
 public:
  explicit DrawnJobs(unsigned seed) : random_(seed) {
    vms_ = "{a: {site: w, type: fabric-vm, price_per_hour: " + one_of({"1", "3"}) + ", gpus: [" +
           one_of({"a30", "t4"}) + "]}, b: {site: e, type: fabric-vm, price_per_hour: " + one_of({"0.5", "2"}) +
           ", gpus: [" + one_of({"a30", "t4", "t4, t4"}) + "]}}";
    links_ = "{l: {between: [w, e], rtt: " + one_of({"0.5 ms", "30 ms"}) +
             ", bandwidth: " + one_of({"1 Gbps", "25 Gbps"}) + "}}";
    more_ = "techniques: " + one_of({"[Data, Pipeshard]", "[ZeRO2]", "[Data]"}) + "\ngroups: [all, each]\njob:\n" +
            "  samples: 60\n  seed: " + std::to_string(number(1, 9)) +
            "\n  lease: " + one_of({"4 min", "9 min", "1 h"}) +
            "\n  failures: {vm: {mtbf: " + one_of({"10 min", "2 h"}) + ", repair: 20 s}}\n  restart: 15 s\n" +
            "  checkpoint: {to: store, rate: 1 GB/s, interval: best}\n  pue: 1.2\n  billed: 1 min\n" +
            "  egress_per_gigabyte: " + one_of({"0", "0.05"}) + "\n";
    if (number(0, 1) == 1)
      more_ +=
          "  links: {l: {hours: [{from: 0 h}, {from: 2 min, bandwidth: 200 Mbps}, {from: 5 min, bandwidth: 50 "
          "Gbps, rtt: 0.3 ms}]}}\n";
    if (number(0, 1) == 1) more_ += "  jitter: {gpu: {sd: 0.1, shape: normal}, states: 4}\n";
  }
  Cluster cluster() const { return {"whole_jobs", kTwoSites, vms_.c_str(), links_.c_str(), more_.c_str()}; }

 private:
  int number(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  std::string one_of(const std::vector<std::string>& values) {
    return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
  }

  std::mt19937 random_;
  std::string vms_, links_, more_;
};

const std::vector<PlanObjective> kObjectives = {PlanObjective::kCost, PlanObjective::kEnergy, PlanObjective::kDeadline,
                                                PlanObjective::kP90};

// As measure() makes them of what `run` tells.
double cost_of_run(const Scenario& scenario, PlanObjective objective) {
  double least = -1;
  for (const Prediction& p : predict(scenario, {.links = true, .advice = false})) {
    const auto job = p.status == Status::kOk ? outcome_of(scenario, p) : std::nullopt;
    if (!job) continue;
    double cost = 0;
    if (objective == PlanObjective::kCost) cost = job->cost->median;
    if (objective == PlanObjective::kEnergy) cost = job->energy->median;
    if (objective == PlanObjective::kDeadline) cost = 1 - *job->before_lease;
    if (objective == PlanObjective::kP90) cost = job->length.high;
    if (least < 0 || cost < least) least = cost;
  }
  return least;
}

class WholeJobs : public testing::TestWithParam<unsigned> {};

TEST_P(WholeJobs, AreNeverWorseThanRunAndWhatBoundsSay) {
  const DrawnJobs drawn(GetParam());
  const ClusterFile file(drawn.cluster());
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const OperatorGraph operators = build_operator_graph(space.model());
  const PlanObjective objective = kObjectives[GetParam() % kObjectives.size()];
  const QuickBound quick(space, objective);
  double least = -1;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Choice choice = space.choice(i);
    const Assessment assessed = assess(space, operators, choice, objective);
    if (assessed.status != Status::kOk) continue;
    const Measurement measured = measure(space, operators, choice, objective);
    ASSERT_TRUE(measured.whole);
    const double cost = cost_of(space, choice, objective, measured);
    EXPECT_LE(cost_of(space, choice, objective, quick.job(i)), cost * (1 + kRounding)) << space.describe(choice);
    EXPECT_LE(cost_of(space, choice, objective, assessed.job), cost * (1 + kRounding)) << space.describe(choice);
    if (least < 0 || cost < least) least = cost;
  }
  SearchOptions options;
  options.objective = objective;
  const SearchResult found = search(space, evaluator_of(space, objective), options);
  EXPECT_TRUE(found.proven);
  ASSERT_FALSE(found.best.empty());
  EXPECT_NEAR(found.best.front().cost, least, kRounding * least);
  const double best = objective == PlanObjective::kDeadline
                          ? 1 - on_time(found.best.front().cost, scenario.job->samples)
                          : found.best.front().cost;
  EXPECT_LE(best, cost_of_run(scenario, objective) * (1 + kRounding) + kRounding);
}

INSTANTIATE_TEST_SUITE_P(Drawn, WholeJobs, testing::Range(0u, 8u));

// 300 late jobs of 1000; the median is half the lease: 300 + 0.5 / 1.5.
TEST(DeadlineCost, CountsLateJobsAndThenTheMedian) {
  const ClusterFile file({"deadline", kTwoSites, "{a: {site: w, type: fabric-vm, gpus: [a30]}}", "{}",
                          "techniques: [Data]\njob: {lease: 10 h}"});
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  Measurement measured{Seconds{1}, Seconds{1}, {}};
  measured.whole = MeasuredJob{0, 0, 300, Seconds{18'000}, Seconds{36'000}};
  const double cost = cost_of(space, space.choice(0), PlanObjective::kDeadline, measured);
  EXPECT_DOUBLE_EQ(cost, 300 + 0.5 / 1.5);
  EXPECT_DOUBLE_EQ(on_time(cost, 1000), 0.7);
  // A bound above the lease: all are late.
  EXPECT_GT(cost_of(space, space.choice(0), PlanObjective::kDeadline, Seconds{36'001}), 1000);
}

TEST(Finding, OfWholeJobsIsWrittenAndReadWithoutLoss) {
  Measurement measured{Seconds{1.1}, Seconds{0.3}, {}};
  measured.whole = MeasuredJob{0.1, 1e9 / 3, 7, Seconds{2.2}, Seconds{1.0 / 3}};
  Finding read;
  from_texts(to_texts(measured), read);
  EXPECT_EQ(std::get<Measurement>(read).whole, measured.whole);
  measured.whole.reset();
  from_texts(to_texts(measured), read);
  EXPECT_FALSE(std::get<Measurement>(read).whole);
}

}  // namespace
}  // namespace slmsim::whole_job_test
