// Predictions that leave out what is alike or repeats, and what is compared with those of the whole.
#pragma once

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/predict/predict.h"
#include "tests/own_file.h"
#include "tests/small_world.h"

namespace slmsim {

inline Scenario scenario_from(const std::string& text) {
  const std::filesystem::path file = own_file(".yaml");
  std::ofstream(file) << text;
  return load_scenario(file);
}

// The plan of a scenario's first model by its first technique on all GPUs, and all that lowering it takes.
struct PlanInputs {
  explicit PlanInputs(const Scenario& s) : scenario(s) {}
  PlanInputs(const PlanInputs&) = delete;
  PlanInputs& operator=(const PlanInputs&) = delete;

  const Scenario& scenario;
  OperatorGraph operators = build_operator_graph(scenario.models.front());
  Network network{scenario.platform};
  Plan plan = plan_of(scenario, scenario.models.front(), operators, scenario.techniques.front());
  LowerRequest request{plan, operators, scenario, network};
};

// `rounding`: of the whole's iteration, and of its job.
inline void expect_times_of(const Prediction& whole, const Prediction& part, double rounding) {
  ASSERT_TRUE(whole.is_timed()) << whole.reason;
  const auto near = [&](Seconds a, Seconds b) { EXPECT_NEAR(a.value, b.value, rounding * whole.iteration.value); };
  near(part.iteration, whole.iteration);
  near(part.first_iteration, whole.first_iteration);
  EXPECT_NEAR(part.job.value, whole.job.value, rounding * whole.job.value);
  near(part.breakdown.compute, whole.breakdown.compute);
  near(part.breakdown.exposed_communication, whole.breakdown.exposed_communication);
  near(part.breakdown.pipeline_bubble, whole.breakdown.pipeline_bubble);
  near(part.breakdown.optimizer, whole.breakdown.optimizer);
  near(part.breakdown.overhead, whole.breakdown.overhead);
}

}  // namespace slmsim
