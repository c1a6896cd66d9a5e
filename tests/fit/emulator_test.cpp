// An emulator against the formula that it was made from, and many points at once against each alone.
#include "sim/fit/emulator.h"
#include "sim/fit/forecast.h"

#include <cmath>

#include <gmock/gmock.h>

#include "sim/fit/sampler.h"

namespace slmsim::emulator_test {
namespace {

Unknown by_factors_of_ten(const char* path) {
  Unknown out;
  out.paths = {path};
  out.prior = Unknown::Prior::kLogUniform;
  out.low = 1;
  out.high = 10;
  out.type = ValueType::of(ValueType::Kind::kNumber);
  return out;
}

constexpr double kStartup = 7;  // seconds

// Bytes over a rate and a fixed time for each of them: no power law, so that the quadratic alone does not do.
double iteration(double rate, double latency) { return 5 / rate + latency; }

class AnEmulator : public testing::Test {
 protected:
  Forecast formula(const Point& point) const {
    Forecast f;
    f.status = Status::kOk;
    f.iteration = iteration(unknowns[0].number(point[0]), unknowns[1].number(point[1]));
    f.startup = kStartup;
    f.job = kStartup + 100 * f.iteration;
    f.memory = f.memory_share = 0.5;
    return f;
  }

  Emulator made_from(std::size_t points) const {
    Dice dice(5);
    const auto design = latin_hypercube(points, unknowns.size(), dice);
    std::vector<std::vector<Forecast>> forecasts;
    for (const auto& point : design) forecasts.push_back({formula(point)});
    Experiment experiment;
    experiment.cells = {{"m", "t", {"vm"}}};
    return {unknowns, experiment, {Measure::kJob, Measure::kIteration}, design, forecasts, 0};
  }

  std::vector<Unknown> unknowns{by_factors_of_ten("rate"), by_factors_of_ten("latency")};
};

TEST_F(AnEmulator, FollowsTheFormula) {
  const Emulator emulator = made_from(120);
  Dice dice(9);
  const auto others = latin_hypercube(200, unknowns.size(), dice);
  const auto answers = emulator.at(others);
  ASSERT_EQ(answers.size(), others.size());
  double squares = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Forecast truth = formula(others[i]);
    squares += std::pow(std::log(answers[i][0].iteration / truth.iteration), 2);
    EXPECT_NEAR(answers[i][0].job / truth.job, 1, 0.1);
  }
  const double deviation = std::sqrt(squares / 200);
  EXPECT_LT(deviation, 0.02);
  EXPECT_LT(deviation, 2 * emulator.error(0, Measure::kIteration) + 1e-3) << "it tells how far it is off";
}

// More points than are taken at once, so that several products are put together.
TEST_F(AnEmulator, AnswersManyPointsAsItAnswersEach) {
  const Emulator emulator = made_from(60);
  Dice dice(3);
  const auto points = latin_hypercube(600, unknowns.size(), dice);
  const auto together = emulator.at(points);
  ASSERT_EQ(together.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto alone = emulator.at({points[i]}).front();
    EXPECT_NEAR(together[i][0].iteration / alone[0].iteration, 1, 1e-12) << i;
    EXPECT_NEAR(together[i][0].job / alone[0].job, 1, 1e-12) << i;
  }
  EXPECT_TRUE(emulator.at({}).empty());
}

// Below a rate of 2 nothing runs, and at latencies above 5 no scenario can be read below 3: times elsewhere are emulated as
// well as before, and the rest is known to have none.
TEST_F(AnEmulator, IsNoWorseWhereSomePointsHaveNoFigure) {
  Dice dice(5);
  const auto design = latin_hypercube(200, unknowns.size(), dice);
  const auto runs = [&](const Point& point) { return unknowns[0].number(point[0]) >= 2; };
  std::vector<std::vector<Forecast>> forecasts;
  for (const auto& point : design) {
    Forecast f = formula(point);
    if (!runs(point)) f.job = f.iteration = f.startup = 0;
    forecasts.push_back({f});
    if (unknowns[0].number(point[0]) < 3 && unknowns[1].number(point[1]) > 5) forecasts.back().clear();
  }
  Experiment experiment;
  experiment.cells = {{"m", "t", {"vm"}}};
  const Emulator emulator{unknowns, experiment, {Measure::kJob, Measure::kIteration}, design, forecasts, 0};
  EXPECT_LT(emulator.error(0, Measure::kIteration), 0.03);
  EXPECT_LT(emulator.error(0).time, 0.03) << "start-up and times";
  EXPECT_LT(emulator.error(0).memory, 1e-6) << "half of it everywhere";
  int wrong = 0;
  for (const auto& point : latin_hypercube(200, unknowns.size(), dice)) {
    const Forecast answer = emulator.at({point}).front().front();
    const bool can = runs(point) && !(unknowns[0].number(point[0]) < 3 && unknowns[1].number(point[1]) > 5);
    wrong += answer.is_timed() == can ? 0 : 1;
    if (answer.is_timed() && can) {
      EXPECT_NEAR(answer.iteration / formula(point).iteration, 1, 0.1);
    }
  }
  EXPECT_LT(wrong, 20) << "of 200, near the edge";
}

}  // namespace
}  // namespace slmsim::emulator_test
