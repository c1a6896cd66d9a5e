// Predictions of a fitted scenario: medians of the fit's points, inside their intervals, and equal to the fit's own table. Measured
// runs count only where the scenario is theirs.
#include <fstream>

#include <gmock/gmock.h>

#include "sim/fit/intervals.h"
#include "sim/scenario/scenario.h"
#include "tests/fit/written.h"

namespace slmsim::fitted_prediction_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Case {
  std::string scenario, runs;
};

const std::string kHead = "model,technique,group,what,value\n";

// Fits whose runs agree, are slower, and contradict the scenario.
const std::vector<Case> kCases = {
    {"gat-amst", "gpt2m,Data,gat+amst,iteration,58 s\ngpt2m,Shard,gat,job,34 min\n"},
    {"gat-amst", "gpt2m,Data,gat+amst,iteration,20 min\n"},
    {"utah-mass", "gpt2m,Data,utah+mass,iteration,12 s\ngpt2m,ZeRO2,utah,iteration,0.3 s\n"},
};

const Overrides kOneModel = {"models=gpt2m"};

std::string file_of(const Case& one) { return SLMSIM_SOURCE_DIR "/scenarios/" + one.scenario + ".yaml"; }

// `is_stopped`: as soon as the sampler has begun.
FitReport fit_of(const Case& one, bool is_stopped = false) {
  ScenarioFit request{file_of(one), kOneModel, written("runs.csv", kHead + one.runs), {}};
  request.sampling.particles = 64;
  request.sampling.sweeps = 3;
  bool has_begun = false;
  request.sampling.progress = [&](double, std::size_t) { has_begun = true; };
  if (is_stopped) request.sampling.stop = [&] { return has_begun; };
  return fit_scenario(request);
}

// `also`: overrides of the prediction alone.
RunResult predicted(const Case& one, const FitReport& report, const Overrides& also = {}) {
  IntervalRequest asked;
  asked.fitted = written("fitted.yaml", to_yaml(report)).string();
  Overrides set = kOneModel;
  set.insert(set.end(), also.begin(), also.end());
  const Intervals intervals(asked, file_of(one), set);
  RunResult out = run_scenario(load_scenario(file_of(one), intervals.overrides()), {.time_misfits = true});
  intervals.add(file_of(one), out);
  return out;
}

// The values at the centre of a fit's draws are the medians of its unknowns, the likeliest of choices.
void expect_medians_at_the_centre(const Posterior& posterior) {
  const Draws draws = draws_of(posterior, kFittedPoints);
  const auto marginals = marginals_of(posterior);
  std::size_t at = 0;
  for (std::size_t u = 0; u < marginals.size(); ++u) {
    const Unknown& unknown = posterior.unknowns[u];
    const double median = marginals[u].median;
    const std::string text =
        unknown.is_choice() ? unknown.words[static_cast<std::size_t>(median)] : unknown.text(median);
    for (const auto& path : unknown.paths) EXPECT_EQ(draws.centre.at(at++), path + "=" + text);
  }
  EXPECT_EQ(draws.centre.size(), at);
}

TEST(FittedPrediction, LiesInsideItsIntervalAndIsThatOfTheFitsTable) {
  for (const Case& one : kCases) {
    const FitReport report = fit_of(one);
    expect_medians_at_the_centre(report.posterior);
    const RunResult result = predicted(one, report);
    ASSERT_TRUE(result.uncertainty);
    ASSERT_EQ(result.uncertainty->cells.size(), result.predictions.size());
    for (std::size_t i = 0; i < result.predictions.size(); ++i) {
      const Prediction& p = result.predictions[i];
      const CandidateUncertainty& cell = result.uncertainty->cells[i];
      if (!p.is_timed() || cell.job.high <= 0) continue;
      EXPECT_LE(cell.job.low, p.job.value) << one.runs;
      EXPECT_GE(cell.job.high, p.job.value) << one.runs;
      EXPECT_LE(cell.iteration.low, p.iteration.value) << one.runs;
      EXPECT_GE(cell.iteration.high, p.iteration.value) << one.runs;
      const Seconds parts = p.breakdown.compute + p.breakdown.exposed_communication + p.breakdown.pipeline_bubble +
                            p.breakdown.optimizer + p.breakdown.overhead;
      EXPECT_NEAR(parts / p.iteration, 1, 1e-6);
      for (const auto& r : report.residuals) {
        if (r.pilot.cell.technique != p.technique->name || r.pilot.cell.group != p.group) continue;
        const double own = r.pilot.measure == Measure::kJob ? p.job.value : p.iteration.value;
        EXPECT_NEAR(own / r.predicted, 1, 1e-9) << r.pilot.cell.text();
      }
    }
  }
}

TEST(FittedPrediction, SaysThatARunIsNotMet) {
  const Case one = {"gat-amst", "gpt2m,Data,gat+amst,iteration,58 s\ngpt2m,Data,gat,fits,no\n"};
  const FitReport report = fit_of(one);
  ASSERT_FALSE(report.residuals.back().is_met());
  EXPECT_THAT(predicted(one, report).uncertainty->remarks,
              ElementsAre(HasSubstr("does not meet 1 of its 2 runs: gpt2m, Data on gat (fits)")));
}

TEST(FittedPrediction, SaysThatTheFitWasStopped) {
  const FitReport report = fit_of(kCases.front(), true);
  ASSERT_FALSE(report.posterior.complete);
  EXPECT_THAT(predicted(kCases.front(), report).uncertainty->remarks,
              testing::Contains(HasSubstr("stopped before its runs had full weight")));
}

TEST(FittedPrediction, TakesRunsAndValuesOfItsOwnScenarioAlone) {
  const Case one = {"gat-amst", "gpt2m,Data,gat,iteration,1.3 s\n"};
  const FitReport report = fit_of(one);
  const auto said = [&](const Overrides& also) { return predicted(one, report, also).uncertainty->remarks; };
  const auto is_of_another =
      testing::Contains(HasSubstr("measured in another scenario than this one, so that only the "
                                  "fitted values count: gpt2m, Data on gat (iteration)"));
  EXPECT_THAT(said({}), testing::Not(is_of_another));
  EXPECT_THAT(said({"platform.links.wan.rtt=60ms"}), testing::Not(is_of_another));  // nothing to a run on gat
  EXPECT_THAT(said({"training.batch=32"}), is_of_another);
  EXPECT_THAT(said({"models.0.layers=12"}), is_of_another);
  // The fit has start-ups of techniques that are gone.
  const auto replaced = predicted(one, report, {"techniques=[ZeRO-2]"}).uncertainty;
  EXPECT_GT(replaced->points, 0);
  for (const auto& unknown : replaced->unknowns)
    EXPECT_THAT(unknown, testing::Not(testing::StartsWith("techniques.Data")));
}

}  // namespace
}  // namespace slmsim::fitted_prediction_test
