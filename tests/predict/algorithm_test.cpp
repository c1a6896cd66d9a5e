// Algorithm 1, printed and amended, on trials made up for the purpose.
#include "sim/predict/algorithm.h"

#include <gmock/gmock.h>

#include "tests/named.h"

namespace slmsim::algorithm_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kBoth = {"v1", "v2"};

// A trial of a technique: its rate per GPU and, from that, a job of 1000 TFLOP in all.
Prediction trial(const Technique* technique, std::vector<std::string> group, double tflops_per_gpu) {
  Prediction p;
  p.model = "model";
  p.technique = technique;
  p.group = std::move(group);
  p.gpus = 2 * static_cast<int>(p.group.size());
  p.status = tflops_per_gpu > 0 ? Status::kOk : Status::kOutOfMemory;
  p.trial_rate_per_gpu = p.rate_per_gpu = FlopsPerSecond{tflops_per_gpu * kTera};
  if (tflops_per_gpu > 0) p.job = Seconds{1000 / tflops_per_gpu / p.gpus};
  return p;
}

struct Rates {
  double pipeshard, data1, shard1, data2, shard2, zero2;
};

std::vector<Prediction> trials(const Rates& r) {
  return {trial(named("ZeRO2"), kBoth, r.zero2), trial(named("Pipeshard"), kBoth, r.pipeshard),
          trial(named("Data"), {"v1"}, r.data1), trial(named("Shard"), {"v1"}, r.shard1),
          trial(named("Data"), {"v2"}, r.data2), trial(named("Shard"), {"v2"}, r.shard2)};
}

Scenario rules(Objective objective = Objective::kTime) {
  Scenario scenario;
  scenario.selection.delta = 0.1;
  scenario.selection.objective = objective;
  return scenario;
}

Selection paper(const Rates& rates) { return select_technique(rules(), trials(rates), Algorithm::kPaper); }
Selection amended(const Rates& rates, Objective objective = Objective::kTime) {
  return select_technique(rules(objective), trials(rates), Algorithm::kAmended);
}

void expect_pick(const Selection& selection, const Technique* technique, const std::vector<std::string>& group) {
  ASSERT_TRUE(selection.technique != nullptr);
  EXPECT_EQ(selection.technique, technique);
  EXPECT_EQ(selection.group, group);
}

TEST(PrintedAlgorithm, ReturnsPipeshardWhenItLeadsByMoreThanDelta) {
  expect_pick(paper({12, 10, 9, 8, 7, 1}), named("Pipeshard"), kBoth);  // 20 % > 10 %
}

TEST(PrintedAlgorithm, ReturnsTheBestSingleVmWhenThatLeads) {
  expect_pick(paper({5, 8, 9, 7, 6, 1}), named("Shard"), {"v1"});
  expect_pick(paper({5, 6, 7, 9, 8, 1}), named("Data"), {"v2"});
}

TEST(PrintedAlgorithm, BreaksTiesForV1BeforeV2AndDataBeforeShard) {
  expect_pick(paper({5, 9, 9, 9, 9, 1}), named("Data"), {"v1"});
  expect_pick(paper({5, 8, 9, 9, 9, 1}), named("Shard"), {"v1"});
}

TEST(PrintedAlgorithm, NeedsALeadOfMoreThanDelta) {
  // (11 - 10) / 10 is delta, not more: ZeRO2 is tried.
  expect_pick(paper({11, 10, 0, 0, 0, 1}), named("ZeRO2"), kBoth);
}

TEST(PrintedAlgorithm, FallsToZero2OrNothingWhenOneSideFails) {
  expect_pick(paper({12, 0, 0, 0, 0, 1}), named("ZeRO2"), kBoth);
  expect_pick(paper({0, 9, 0, 0, 0, 1}), named("ZeRO2"), kBoth);
  EXPECT_FALSE(paper({12, 0, 0, 0, 0, 0}).technique != nullptr);
  EXPECT_FALSE(paper({0, 9, 0, 0, 0, 0}).technique != nullptr);
  EXPECT_FALSE(paper({0, 0, 0, 0, 0, 0}).technique != nullptr);
}

TEST(PrintedAlgorithm, TellsTheNumbersThatDecided) {
  const Selection s = paper({12, 10, 9, 8, 7, 1});
  EXPECT_THAT(s.steps, testing::Contains(HasSubstr("T_p = 12 TFLOP/s per GPU: Pipeshard on v1+v2")));
  EXPECT_THAT(s.steps, testing::Contains(HasSubstr("T_z = 10: Data on v1")));
  EXPECT_THAT(s.steps.back(), HasSubstr("T_p leads T_z by 20.0 %"));
}

TEST(AmendedAlgorithm, KeepsWhatRunsWhenTheOtherSideFails) {
  // The printed algorithm returns ZeRO2 across the WAN or nothing in each of these.
  expect_pick(amended({12, 0, 0, 0, 0, 0}), named("Pipeshard"), kBoth);
  expect_pick(amended({12, 0, 0, 0, 0, 1}), named("Pipeshard"), kBoth);
  expect_pick(amended({0, 9, 0, 0, 0, 1}), named("Data"), {"v1"});
}

TEST(AmendedAlgorithm, ComparesJobTimesSoThatMoreGpusCount) {
  // 4 GPUs at 6 finish before 2 GPUs at 10: 1000 / 24 against 1000 / 20. Per GPU it is the other way round.
  const Rates rates{6, 10, 0, 0, 0, 0};
  expect_pick(amended(rates), named("Pipeshard"), kBoth);
  expect_pick(amended(rates, Objective::kGpuHours), named("Data"), {"v1"});
  expect_pick(amended(rates, Objective::kTflopsPerGpu), named("Data"), {"v1"});
}

// 1000 TFLOP at 10 x 2 TFLOP/s: 50 s; at 8 x 2: 62.5 s; at the edge of memory 50 s count twice.
TEST(AmendedAlgorithm, PrefersWhatFitsToATwiceFasterRunAtTheEdgeOfMemory) {
  std::vector<Prediction> all = {trial(named("Data"), {"v1"}, 10), trial(named("Shard"), {"v1"}, 8)};
  const auto pick = [&] { return select_technique(rules(), all, Algorithm::kAmended); };
  expect_pick(pick(), named("Data"), {"v1"});
  all[0].fit = Fit::kAtEdge;
  expect_pick(pick(), named("Shard"), {"v1"});
  EXPECT_THAT(pick().steps, Contains(HasSubstr("at the edge of memory times count 2 times")));
  all[1] = trial(named("Shard"), {"v1"}, 4);  // 125 s
  expect_pick(pick(), named("Data"), {"v1"});
}

TEST(AmendedAlgorithm, GivesANearTieToTheFewerGpuHours) {
  // 1000 / 21 = 47.6 s on 4 GPUs, 1000 / 20 = 50 s on 2: within 10 %, at half the GPU-hours.
  const Selection s = amended({5.25, 10, 0, 0, 0, 0});
  expect_pick(s, named("Data"), {"v1"});
  EXPECT_THAT(s.steps, testing::Contains(HasSubstr("near tie")));
}

TEST(AmendedAlgorithm, TakesTheFirstOfThoseThatDifferByLessThanAThousandth) {
  // 50 s, and 50 s / 1.0005 and / 1.005, which is 0.5 % less.
  expect_pick(amended({0, 10, 10.005, 0, 0, 0}), named("Data"), {"v1"});
  expect_pick(amended({0, 10, 10.05, 0, 0, 0}), named("Shard"), {"v1"});
}

TEST(SortByTime, PutsThePickBeforeThoseThatDifferByLessThanAThousandth) {
  const std::vector<Prediction> all = trials({0, 10, 10.005, 10.05, 5, 0});
  const Prediction *data1 = &all[2], *shard1 = &all[3], *data2 = &all[4], *shard2 = &all[5];
  std::vector<const Prediction*> sorted = {shard2, data1, shard1, data2};
  sort_by_time(sorted, data1);
  EXPECT_THAT(sorted, ElementsAre(data2, data1, shard1, shard2));
  sort_by_time(sorted, nullptr);
  EXPECT_THAT(sorted, ElementsAre(data2, shard1, data1, shard2));
}

TEST(AmendedAlgorithm, GivesANearTieToTheTrainingAsItIs) {
  Scenario scenario = rules();
  for (const char* name : {"DiLoCo", "DDP"}) scenario.techniques.push_back(written(name));
  const auto pick = [&](double diloco) {
    const std::vector<Prediction> both = {trial(named("DiLoCo"), {"v1"}, diloco), trial(named("DDP"), {"v1"}, 10)};
    return select_technique(scenario, both, Algorithm::kAmended);
  };
  expect_pick(pick(10.5), named("DDP"), {"v1"});
  EXPECT_THAT(pick(10.5).steps, testing::Contains(HasSubstr("where the training stays as it is, DDP on v1")));
  expect_pick(pick(12), named("DiLoCo"), {"v1"});
}

TEST(AmendedAlgorithm, ReturnsZero2WhereOnlyItRuns) { expect_pick(amended({0, 0, 0, 0, 0, 1}), named("ZeRO2"), kBoth); }

TEST(AmendedAlgorithm, ReturnsNothingWhereNothingRuns) {
  const Selection s = amended({0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(s.technique != nullptr);
  EXPECT_THAT(s.group, IsEmpty());
}

TEST(AmendedAlgorithm, SaysWhereThePrintedOneDiffers) {
  EXPECT_THAT(amended({0, 9, 0, 0, 0, 1}).steps.back(),
              HasSubstr("the study's printed rule picks ZeRO2 on v1+v2: it cannot compare when Pipeshard fails"));
  EXPECT_THAT(amended({12, 0, 0, 0, 0, 0}).steps.back(), HasSubstr("picks nothing"));
}

TEST(AmendedAlgorithm, SaysWhichTrialsOfThePrintedOneTheScenarioLacks) {
  const std::vector<Prediction> others = {trial(named("DDP"), {"v1"}, 9), trial(named("DDP"), {"v1", "v2"}, 8)};
  EXPECT_THAT(select_technique(rules(), others, Algorithm::kAmended).steps.back(),
              HasSubstr("the study's printed rule picks nothing: it compares Data and Shard in one VM"));
  const auto steps = select_technique(rules(), others, Algorithm::kPaper).steps;
  EXPECT_THAT(steps, testing::Contains("T_z = 0: the scenario lacks Data and Shard in one VM"));
  EXPECT_EQ(steps.back(), "nothing is returned");
}

TEST(Algorithm, TakesGroupsThatAreNotThereAsFailed) {
  const std::vector<Prediction> only = {trial(named("Data"), {"v1"}, 9)};
  EXPECT_FALSE(select_technique(rules(), only, Algorithm::kPaper).technique != nullptr);
  const Selection s = select_technique(rules(), only, Algorithm::kAmended);
  EXPECT_THAT(s.group, ElementsAre("v1"));
  EXPECT_FALSE(select_technique(rules(), {}, Algorithm::kPaper).technique != nullptr);
}

}  // namespace
}  // namespace slmsim::algorithm_test
