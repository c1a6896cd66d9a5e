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

// The same for the use of links and of nodes' interconnects.
inline void expect_links_of(const Prediction& whole, const Prediction& part, double rounding) {
  // Relative tolerance of rates, where flows that end as others begin count together or not, and short ones' times are rounded.
  constexpr double kPeak = 2e-6;
  const auto near = [](double a, double b, double tolerance, const std::string& name) {
    EXPECT_NEAR(a, b, tolerance) << name;
  };
  ASSERT_EQ(part.links.size(), whole.links.size());
  for (std::size_t i = 0; i < whole.links.size(); ++i) {
    const LinkUse &a = part.links[i], &b = whole.links[i];
    EXPECT_EQ(a.link, b.link);
    near(a.bytes.value, b.bytes.value, rounding * b.bytes.value, b.link);
    near(a.average.value, b.average.value, rounding * b.average.value, b.link);
    near(a.peak.value, b.peak.value, kPeak * b.peak.value, b.link);
    near(a.p90.value, b.p90.value, kPeak * b.peak.value, b.link);
  }
  ASSERT_EQ(part.interconnects.size(), whole.interconnects.size());
  for (std::size_t i = 0; i < whole.interconnects.size(); ++i) {
    const InterconnectUse &a = part.interconnects[i], &b = whole.interconnects[i];
    EXPECT_EQ(a.vm, b.vm);
    EXPECT_EQ(a.interconnect, b.interconnect);
    near(a.bytes.value, b.bytes.value, rounding * b.bytes.value, b.interconnect);
    near(a.average.value, b.average.value, rounding * b.average.value, b.interconnect);
    near(a.peak.value, b.peak.value, kPeak * b.peak.value, b.interconnect);
    near(a.p90.value, b.p90.value, kPeak * b.peak.value, b.interconnect);
  }
}

}  // namespace slmsim
