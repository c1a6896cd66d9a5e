// Simulation-based calibration (Talts et al., arXiv 1804.06788): unknowns drawn from their priors, runs simulated with noise
// and discrepancy as the model says, and fitted: intervals must hold the truth as often as they say.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>

#include "sim/fit/draws.h"
#include "sim/fit/fit.h"
#include "tests/errors_of.h"
#include "tests/own_file.h"

namespace slmsim::calibration_test {
namespace {

constexpr double kNoise = 0.05;

Unknown by_factors(const std::string& path, double low, double high) {
  Unknown out;
  out.paths = {path};
  out.prior = Unknown::Prior::kLogUniform;
  out.low = low;
  out.high = high;
  out.type = ValueType::of(ValueType::Kind::kNumber);
  return out;
}

FitRequest made_up() {
  FitRequest request;
  Experiment experiment{SLMSIM_SOURCE_DIR "/scenarios/utah-mass.yaml", {"models=gpt2m"}, {}, 0, {}};
  for (const auto& group : {std::vector<std::string>{"utah", "mass"}, {"utah"}})
    experiment.cells.push_back({"gpt2m", "Data", group});
  request.experiments = {experiment};
  request.shared = {by_factors("software.matrix_efficiency.Turing", 0.05, 0.3),
                    by_factors("training.control_round_trips", 10, 200)};
  return request;
}

TEST(Calibration, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kTruths = 40;
  Dice dice(11);
  FitRequest request = made_up();
  const PointLayout layout(request);
  Forecaster forecaster(request.experiments);
  int held = 0;
  for (int truth = 0; truth < kTruths; ++truth) {
    Point point;
    for (std::size_t d = 0; d < layout.size(); ++d) point.push_back(dice.normal());
    const auto forecasts = forecaster.ask({{0, layout.overrides(0, point)}}).front();
    ASSERT_EQ(forecasts.size(), 2);
    request.pilots = {{}};
    const double discrepancy = layout.discrepancy(point).time;
    for (std::size_t c = 0; c < forecasts.size(); ++c) {
      const double scale = std::hypot(discrepancy, kNoise);
      const double seen = forecasts[c].iteration * std::exp(scale * tail_quantile(dice.uniform()));
      request.pilots[0].push_back({request.experiments[0].cells[c], Measure::kIteration, seen, kNoise});
    }
    const Posterior posterior =
        fit(request, forecaster, {.particles = 200, .sweeps = 3, .seed = static_cast<std::uint64_t>(truth)});
    const auto marginals = marginals_of(posterior);
    for (std::size_t i = 0; i < marginals.size(); ++i) {
      const double value = layout.unknowns()[i].number(point[i]);
      held += marginals[i].low <= value && value <= marginals[i].high ? 1 : 0;
    }
  }
  // 80 intervals of 80 %: 64, and with a probability of 99 % between 55 and 73 (binomial).
  EXPECT_GE(held, 55);
  EXPECT_LE(held, 73);
}

// A narrowed forecaster answers known questions without another simulation, for the kept cells alone.
TEST(Forecaster, KeepsItsAnswersForTheCellsThatItKeeps) {
  const FitRequest request = made_up();
  Forecaster forecaster(request.experiments);
  const std::vector<Question> questions = {{0, {"training.control_round_trips=20"}}};
  const auto both = forecaster.ask(questions).front();
  forecaster.keep({1});
  const auto kept = forecaster.ask(questions).front();
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(kept[0].iteration, both[1].iteration);
  EXPECT_EQ(forecaster.simulated(), 1);
  EXPECT_EQ(forecaster.experiments()[0].cells, std::vector{request.experiments[0].cells[1]});
}

// 30 s of iterations are fitted within noise and the prior: the efficiency follows the one VM's time.
TEST(Fit, NarrowsWhatARunTellsAndLeavesTheRest) {
  FitRequest request = made_up();
  const PointLayout layout(request);
  Forecaster forecaster(request.experiments);
  const auto truth = forecaster.ask({{0, layout.overrides(0, {0, 0, 0, 0})}}).front();
  request.pilots = {{{request.experiments[0].cells[1], Measure::kIteration, truth[1].iteration, 0.01}}};
  const Posterior posterior = fit(request, forecaster, {.particles = 300, .seed = 1});
  const auto marginals = marginals_of(posterior);
  EXPECT_LT(marginals[0].left, 0.5) << "one VM's time follows its efficiency";
  EXPECT_GT(marginals[1].left, 0.8) << "one VM sends nothing over the wide area";
  EXPECT_LT(posterior.emulated_error, 0.05);
  EXPECT_LE(marginals[0].low, layout.unknowns()[0].number(0));
  EXPECT_GE(marginals[0].high, layout.unknowns()[0].number(0));
}

// Where it is stopped before anything was simulated, it has nothing to tell and says so.
TEST(Fit, EndsWhereItIsStoppedAtOnce) {
  FitRequest request = made_up();
  Forecaster forecaster(request.experiments);
  request.pilots = {{{request.experiments[0].cells[1], Measure::kIteration, 1, 0.01}}};
  const Posterior posterior = fit(request, forecaster, {.particles = 16, .seed = 1, .stop = [] { return true; }});
  EXPECT_FALSE(posterior.complete);
}

// A row of what no point of the unknowns has: all points would be as impossible, and the prior would pass for a fit.
TEST(Fit, AFigureThatCannotBeIsAnErrorOfItsRow) {
  FitRequest request = made_up();
  request.experiments[0].cells.push_back({"gpt2m", "None", {"utah"}});
  Forecaster forecaster(request.experiments);
  const auto& cells = request.experiments[0].cells;
  const auto runs = std::make_shared<Source>(Source{"runs.csv", ""});
  request.pilots = {{{cells[1], Measure::kIteration, 5, 0.01},
                     {cells[2], Measure::kIteration, 5, 0.01, {runs, 3, 1}},
                     {cells[2], Measure::kFits, 0, 0.01, {runs, 4, 1}}}};
  EXPECT_THAT(
      errors_of([&] { fit(request, forecaster, {.particles = 16, .seed = 1}); }),
      testing::ElementsAre(
          "runs.csv:3:1: error: gpt2m, None on utah cannot run for any value of the unknowns; slmsim run shows why",
          "runs.csv:4:1: error: gpt2m, None on utah cannot run for any value of the unknowns; slmsim run shows why"));
}

// Six points of ten have the value 6, that of the spike; the others 1 and 60, below and above it. By their coordinates 6
// would be the least.
TEST(Narrowings, AreOfValuesWhereASpikeLiesAmongThem) {
  Posterior posterior;
  Unknown buffer = by_factors("tcp_rmem", 0.5, 64);
  buffer.spike = 0.75;
  buffer.spike_at = 6;
  posterior.unknowns = {buffer};
  const auto coordinate_of = [](double value) {
    return normal_quantile(0.75 + 0.25 * std::log(value / 0.5) / std::log(64 / 0.5));
  };
  for (int i = 0; i < 6; ++i) posterior.points.push_back({-1.0 - i, 0, 0});
  for (const double value : {1.0, 1.0, 60.0, 60.0}) posterior.points.push_back({coordinate_of(value), 0, 0});
  const Marginal n = marginals_of(posterior).front();
  EXPECT_NEAR(n.low, 1, 1e-9);
  EXPECT_EQ(n.median, 6);
  EXPECT_NEAR(n.high, 60, 1e-9);
}

// A file's contents are read back as they were written.
TEST(FittedFile, ReadsBackAsItWasWritten) {
  FitReport report;
  report.scenario = "made-up";
  report.identity = "0123456789abcdef";
  report.measured = "runs.csv";
  report.posterior = prior_of(made_up().shared, 20, 3);
  const Pilot run{{"gpt2m", "Data", {"utah", "mass"}}, Measure::kRate, 0.88 * kTera, 0.03};
  report.residuals = {{run, 0.9 * kTera, 0.8 * kTera, kTera}};
  const auto file = own_file(".yaml");
  std::ofstream(file) << to_yaml(report);
  bool stale = true;
  const Draws read = read_fitted(file, report.identity, stale);
  EXPECT_FALSE(stale);
  const Draws given = draws_of(report.posterior, 20);
  ASSERT_EQ(read.points.size(), given.points.size());
  for (std::size_t i = 0; i < read.points.size(); ++i) {
    EXPECT_EQ(read.points[i].overrides, given.points[i].overrides);
    EXPECT_NEAR(read.points[i].discrepancy.time, given.points[i].discrepancy.time, 1e-4);
  }
  EXPECT_EQ(read.centre, given.centre);
  ASSERT_EQ(read.runs.size(), 1);
  EXPECT_EQ(read.runs.front().cell, run.cell);
  EXPECT_EQ(read.runs.front().measure, run.measure);
  EXPECT_NEAR(read.runs.front().value, run.value, 1);
  read_fitted(file, "fedcba9876543210", stale);
  EXPECT_TRUE(stale);
}

}  // namespace
}  // namespace slmsim::calibration_test
