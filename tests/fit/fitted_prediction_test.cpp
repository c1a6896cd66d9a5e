// Predictions of a fitted scenario: medians of the fit's points, inside their intervals, and equal to the fit's own table.
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

struct Fitted {
  FitReport report;
  RunResult result;
};

// `is_stopped`: as soon as the sampler has begun.
Fitted fitted(const Case& one, bool is_stopped = false) {
  const std::string file = SLMSIM_SOURCE_DIR "/scenarios/" + one.scenario + ".yaml";
  const Overrides only = {"models=gpt2m"};
  ScenarioFit request{file, only, written("runs.csv", kHead + one.runs), {}};
  request.sampling.particles = 64;
  request.sampling.sweeps = 3;
  bool has_begun = false;
  request.sampling.progress = [&](double, std::size_t) { has_begun = true; };
  if (is_stopped) request.sampling.stop = [&] { return has_begun; };
  Fitted out{fit_scenario(request), {}};
  IntervalRequest asked;
  asked.fitted = written("fitted.yaml", to_yaml(out.report)).string();
  const Intervals intervals(asked, file, only);
  out.result = run_scenario(load_scenario(file, intervals.overrides()), {.time_misfits = true});
  intervals.add(file, out.result);
  return out;
}

TEST(FittedPrediction, LiesInsideItsIntervalAndIsThatOfTheFitsTable) {
  for (const Case& one : kCases) {
    const auto [report, result] = fitted(one);
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
  const auto [report, result] = fitted({"gat-amst", "gpt2m,Data,gat+amst,iteration,58 s\ngpt2m,Data,gat,fits,no\n"});
  ASSERT_FALSE(report.residuals.back().is_met());
  EXPECT_THAT(result.uncertainty->remarks,
              ElementsAre(HasSubstr("does not meet 1 of its 2 runs: gpt2m, Data on gat (fits)")));
}

TEST(FittedPrediction, SaysThatTheFitWasStopped) {
  const auto [report, result] = fitted(kCases.front(), true);
  ASSERT_FALSE(report.posterior.complete);
  EXPECT_THAT(result.uncertainty->remarks, testing::Contains(HasSubstr("stopped before its runs had full weight")));
}

}  // namespace
}  // namespace slmsim::fitted_prediction_test
