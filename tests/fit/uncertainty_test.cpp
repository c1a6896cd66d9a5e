#include "sim/fit/uncertainty.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "sim/fit/next.h"

namespace slmsim::uncertainty_test {
namespace {

using testing::DoubleNear;

// Each candidate's seconds at each point; all fit, and the model's discrepancy is nearly none.
Ensemble ensemble_of_seconds(const std::vector<std::vector<double>>& seconds, double discrepancy = 1e-6) {
  Ensemble out;
  for (std::size_t c = 0; c < seconds.front().size(); ++c)
    out.cells.push_back({"m", c == 0 ? "Data" : "Shard", {std::string(1, static_cast<char>('a' + c))}});
  for (const auto& point : seconds) {
    auto& forecasts = out.forecasts.emplace_back();
    for (const double s : point) {
      Forecast f;
      f.status = Status::kOk;
      f.job = f.iteration = f.trial = s;
      f.gpu_hours = s / 3600;
      f.memory = 1;
      f.memory_share = 0.1;
      forecasts.push_back(f);
    }
    out.discrepancies.push_back({discrepancy, 0.01});
    out.weights.push_back(1);
  }
  return out;
}

Scenario two_groups() {
  Scenario scenario;
  scenario.groups = {{{"a"}, {}}, {{"b"}, {}}};
  scenario.selection.delta = 0.1;
  return scenario;
}

// One point: Student's t with 4 degrees of freedom has 80 % within 1.5332 scales.
TEST(Intervals, OfOnePointAreTheDiscrepancys) {
  const auto e = ensemble_of_seconds({{100}}, 0.4);
  const double scale = std::hypot(0.4, kUsualNoise);
  const auto interval = interval_of(e, 0, Measure::kJob, 0.8);
  EXPECT_NEAR(interval.low, 100 * std::exp(-1.533206 * scale), 1e-3);
  EXPECT_NEAR(interval.high, 100 * std::exp(1.533206 * scale), 1e-3);
  EXPECT_NEAR(median_of(e, 0, Measure::kJob), 100, 1e-6);
}

// Something that stands in for the simulator is off at the second candidate only.
TEST(Intervals, OfACellAreWiderByWhatItsStandInIsOff) {
  auto e = ensemble_of_seconds({{100, 100}}, 0.3);
  e.off = {{0, 0}, {0.4, 0}};
  const auto first = interval_of(e, 0, Measure::kJob, 0.8), second = interval_of(e, 1, Measure::kJob, 0.8);
  EXPECT_NEAR(first.high, 100 * std::exp(1.533206 * std::hypot(0.3, kUsualNoise)), 1e-3);
  EXPECT_NEAR(second.high, 100 * std::exp(1.533206 * std::hypot(0.5, kUsualNoise)), 1e-3);
}

TEST(Intervals, HoldAllPointsThatDiffer) {
  const auto interval = interval_of(ensemble_of_seconds({{10}, {1000}}), 0, Measure::kJob, 0.8);
  EXPECT_THAT(interval.low, DoubleNear(10, 1));
  EXPECT_THAT(interval.high, DoubleNear(1000, 100));
}

TEST(Intervals, GrowWithTheirLevel) {
  const auto e = ensemble_of_seconds({{10}, {12}, {15}}, 0.1);
  const auto half = interval_of(e, 0, Measure::kJob, 0.5), most = interval_of(e, 0, Measure::kJob, 0.95);
  EXPECT_LT(most.low, half.low);
  EXPECT_GT(most.high, half.high);
}

// Data is by far the faster in three of four points.
TEST(Picks, AreRightAsOftenAsTheyWin) {
  const auto e = ensemble_of_seconds({{10, 20}, {10, 20}, {10, 20}, {30, 20}});
  const Scenario scenario = two_groups();
  const auto outcomes = outcomes_of(e, kinds_of(scenario, e.cells), Objective::kTime, 400, 1);
  Technique data;
  data.name = "Data";
  Selection pick;
  pick.model = "m";
  pick.technique = &data;
  pick.group = {"a"};
  const auto judged = judge_pick(outcomes, e.cells, pick, 0.1);
  // In one run of a hundred something else goes wrong: 0.75 x 0.99 + 0.25 x 0.01 x 0.99, within what 400 draws show of it.
  EXPECT_NEAR(judged.right, 0.745, 0.02);
  EXPECT_NEAR(judged.regret, 2.5, 0.1);  // 10 s in one of four
}

// Data was run, took 25 s and so did not fail: nothing of that is drawn any more. Shard, of another kind, is as before.
TEST(Picks, WhatWasRunComesAboutAsItWas) {
  auto e = ensemble_of_seconds({{10, 20}, {10, 20}, {30, 20}}, 0.4);
  const Scenario scenario = two_groups();
  const auto kinds = kinds_of(scenario, e.cells);
  const auto before = outcomes_of(e, kinds, Objective::kTime, 200, 1);
  e.runs = {{e.cells[0], Measure::kIteration, 25, 0.03}};
  const auto after = outcomes_of(e, kinds, Objective::kTime, 200, 1);
  bool moved = false;
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i][0], 25, 1e-9);
    moved = moved || std::abs(before[i][0] - 25) > 5;
  }
  EXPECT_TRUE(moved);
  e.runs = {{e.cells[0], Measure::kFits, 0, 0.03}};
  for (const auto& outcome : outcomes_of(e, kinds, Objective::kTime, 200, 1)) EXPECT_EQ(outcome[0], kNever);
}

TEST(Next, RunsWhatTellsTheTwoApart) {
  // The unknown affects the first candidate only: a run of the second has no information.
  const auto e = ensemble_of_seconds({{600, 1200}, {2400, 1200}, {600, 1200}, {2400, 1200}});
  const Scenario scenario = two_groups();
  const NextPick next = next_run(scenario, e, "m", {0, 1}, {});
  EXPECT_NEAR(next.right, 0.5, 0.01);
  // The mean regret of Data is 1200 s in half of the cases, of Shard 600 s. Where Shard fails for other causes, Data is taken
  // after a pilot run.
  EXPECT_EQ(next.pick, 1);
  EXPECT_NEAR(next.regret, 300, 10);
  ASSERT_EQ(next.runs.size(), 2);
  EXPECT_EQ(next.runs.front().candidate, 0);
  EXPECT_NEAR(next.runs.front().saved, 300, 30);
  EXPECT_NEAR(next.runs.front().right, 1, 0.03);
  EXPECT_LT(next.runs.back().saved, 10);
  for (const auto& run : next.runs) EXPECT_LE(run.saved, next.regret * (1 + 1e-9)) << "no run tells more than all";
}

TEST(Next, PicksNothingWhereNothingFits) {
  auto e = ensemble_of_seconds({{100, 900}, {100, 900}});
  for (auto& point : e.forecasts) {
    for (Forecast& f : point) f.status = Status::kOutOfMemory, f.memory_share = 4;
  }
  const NextPick next = next_run(two_groups(), e, "m", {}, {});
  EXPECT_FALSE(next.is_possible);
  EXPECT_TRUE(next.stop);
  EXPECT_EQ(next.right, 0);
  e.forecasts[0][1].status = Status::kOk;
  e.forecasts[0][1].memory_share = 0.5;
  EXPECT_TRUE(next_run(two_groups(), e, "m", {}, {}).is_possible);
}

// Data does not fit in half of the cases. A pilot run of 20 iterations, here as long as the job of 100 s, shows it: 0.5 x (100 + 900
// - 900) s beside the 800 s that Shard loses where Data fits.
TEST(Next, APickThatDoesNotRunCostsItsPilotRunAndTheNextOne) {
  auto e = ensemble_of_seconds({{100, 900}, {100, 900}, {100, 900}, {100, 900}});
  for (const std::size_t point : {1, 3}) {
    e.forecasts[point][0].status = Status::kOutOfMemory;
    e.forecasts[point][0].memory_share = 2;
  }
  const NextPick next = next_run(two_groups(), e, "m", {0, 1}, {});
  EXPECT_EQ(next.pick, 0);
  EXPECT_NEAR(next.right, 0.5, 0.02);
  EXPECT_NEAR(next.regret, 50, 5);
}

// Delta is a tenth: 5 % less is no reason to change the training, a third less is.
TEST(Next, OfNearTiesPicksWhatLeavesTheTrainingAsItIs) {
  const auto pick_of = [](double changing, double usual) {
    auto e = ensemble_of_seconds({{changing, usual}});
    e.cells[0].technique = "DiLoCo";
    Scenario scenario = two_groups();
    Technique rounds;
    rounds.name = "DiLoCo";
    rounds.changes_training = [](const TechniqueOptions&) { return true; };
    scenario.techniques.emplace_back().technique = &rounds;
    return next_run(scenario, e, "m", {}, {}).pick;
  };
  EXPECT_EQ(pick_of(95, 100), 1);
  EXPECT_EQ(pick_of(67, 100), 0);
}

// Delta is a tenth: of 100 and 95 s the selected one is kept, of 120 and 95 s it is not.
TEST(Next, KeepsTheScenariosPickWhereNoOtherIsBetterByMoreThanDelta) {
  const auto pick_of = [](double selected) {
    const auto e = ensemble_of_seconds({{95, selected}});
    return next_run(two_groups(), e, "m", {}, {}, 1).pick;
  };
  EXPECT_EQ(pick_of(100), 1);
  EXPECT_EQ(pick_of(120), 0);
}

TEST(Pick, TechniquesErrAlikeOnOneGpuOnly) {
  Scenario scenario = two_groups();
  scenario.platform.devices.resize(3);
  scenario.groups[0].devices = {0};
  scenario.groups[1].devices = {1, 2};
  const auto kinds =
      kinds_of(scenario, {{"m", "DDP", {"a"}}, {"m", "FSDP", {"a"}}, {"m", "DDP", {"b"}}, {"m", "FSDP", {"b"}}});
  EXPECT_EQ(kinds[0], kinds[1]);
  EXPECT_NE(kinds[2], kinds[3]);
  EXPECT_NE(kinds[0], kinds[2]);
}

// The third may take anything, whatever the others do: whichever few worlds agree with its result say little of these.
TEST(Next, ARunThatSavesNothingLeavesThePickAsItIs) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> seconds;
  for (int world = 0; world < 100; ++world) {
    const double common = 600 * std::exp(0.2 * normal(random));
    seconds.push_back({common, common * std::exp(0.03 + 0.3 * normal(random)), 1e6 * std::exp(2 * normal(random))});
  }
  auto e = ensemble_of_seconds(seconds, 0.02);
  e.cells[2].technique = "ZeRO2";
  const NextPick next = next_run(two_groups(), e, "m", {2}, {});
  ASSERT_EQ(next.runs.size(), 1);
  EXPECT_EQ(next.runs.front().saved, 0);
  EXPECT_EQ(next.runs.front().right, next.right);
}

// The third is slower in all that may come about, and shares nothing with the two that are nearly as good as each other.
TEST(Next, WhatHasNoPartInThePickTellsNothing) {
  auto e = ensemble_of_seconds({{100, 102, 9000}}, 0.3);
  e.cells[2].technique = "ZeRO2";
  const NextPick next = next_run(two_groups(), e, "m", {0, 1, 2}, {});
  ASSERT_EQ(next.runs.size(), 3);
  for (const auto& run : next.runs) {
    if (run.candidate == 2) {
      EXPECT_LT(run.saved, 1) << "chance among the draws";
    } else {
      EXPECT_GT(run.saved, 3);
    }
  }
}

// Start-up, and 20 iterations of 2 s or an epoch of 600 s, whichever is less.
TEST(Next, ARunIsAsLongAsItsMedianNeeds) {
  auto e = ensemble_of_seconds({{600, 1200}});
  for (auto& forecasts : e.forecasts) {
    for (auto& f : forecasts) f.startup = 60, f.iteration = 2;
  }
  EXPECT_NEAR(trial_minutes(e, 0, 1), 11, 1e-9);
  EXPECT_NEAR(trial_minutes(e, 0, 1, 20), 1 + 40.0 / 60, 1e-9);
  EXPECT_NEAR(trial_minutes(e, 0, 1, 1000), 11, 1e-9);
}

// Worth 300 s of one job; the run itself takes its start-up and trial, here 20 min.
TEST(Next, StopsWhereARunTakesMoreThanItSavesOfAllJobs) {
  auto e = ensemble_of_seconds({{600, 1200}, {2400, 1200}, {600, 1200}, {2400, 1200}});
  for (auto& forecasts : e.forecasts) {
    for (auto& f : forecasts) f.startup = 1200, f.trial = 0;
  }
  NextRules rules;
  EXPECT_TRUE(next_run(two_groups(), e, "m", {0, 1}, rules).stop);
  rules.jobs = 10;
  EXPECT_FALSE(next_run(two_groups(), e, "m", {0, 1}, rules).stop);
}

// 300 s of a job on one GPU are 1/12 GPU-hour, a run of 20 min is 1/3: as in seconds, four jobs make it worth its time.
TEST(Next, ComparesInTheObjectivesUnit) {
  auto e = ensemble_of_seconds({{600, 1200}, {2400, 1200}, {600, 1200}, {2400, 1200}});
  for (auto& forecasts : e.forecasts) {
    for (auto& f : forecasts) f.startup = 1200, f.trial = 0;
  }
  Scenario scenario = two_groups();
  scenario.platform.devices.resize(1);
  for (auto& group : scenario.groups) group.devices = {0};
  scenario.selection.objective = Objective::kGpuHours;
  NextRules rules;
  EXPECT_TRUE(next_run(scenario, e, "m", {0, 1}, rules).stop);
  rules.jobs = 10;
  EXPECT_FALSE(next_run(scenario, e, "m", {0, 1}, rules).stop);
}

// The third cannot run, and the fourth is the first by another name; b was run.
TEST(Next, AsksOnlyForRunsThatTellSomething) {
  auto e = ensemble_of_seconds({{600, 1200, 0, 600}, {2400, 1300, 0, 2400}});
  e.cells[3] = {"m", "ZeRO2", e.cells[0].group};
  EXPECT_EQ(open_candidates(e), (std::vector<std::size_t>{0, 1}));
  e.runs = {{e.cells[1], Measure::kIteration, 1200, 0.03}};
  EXPECT_EQ(open_candidates(e), (std::vector<std::size_t>{0}));
  e.runs.push_back({e.cells[3], Measure::kIteration, 600, 0.03});
  EXPECT_EQ(open_candidates(e), (std::vector<std::size_t>{}));
}

// A run is worth its time where it may fit.
TEST(Next, AsksForNoRunThatFitsInNoPossibleWorld) {
  auto e = ensemble_of_seconds({{600, 1200}, {2400, 1300}});
  e.forecasts[0][0].status = Status::kOutOfMemory;
  EXPECT_EQ(open_candidates(e), (std::vector<std::size_t>{0, 1}));
  e.forecasts[1][0].status = Status::kOutOfMemory;
  EXPECT_EQ(open_candidates(e), (std::vector<std::size_t>{1}));
}

TEST(Next, StopsWhereThePickIsSure) {
  const NextPick next = next_run(two_groups(), ensemble_of_seconds({{10, 20}, {11, 20}}), "m", {0, 1}, {});
  EXPECT_TRUE(next.stop);
  EXPECT_EQ(next.pick, 0);
  EXPECT_LT(next.regret, 5) << "only runs that fail for other causes";
}

}  // namespace
}  // namespace slmsim::uncertainty_test
