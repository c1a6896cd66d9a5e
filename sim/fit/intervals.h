// Intervals beside a run's predictions: from a fit, or from the scenario's own unknowns.
#pragma once

#include <cstdint>

#include "sim/fit/draws.h"
#include "sim/predict/result.h"

namespace slmsim {

struct IntervalRequest {
  std::string fitted;      // a file of slmsim fit; empty: the scenario's own unknowns
  bool intervals = false;  // implied by `fitted`
  double level = 0.8;      // probability that an interval contains the measurement
  std::uint64_t seed = 1;  // of points drawn without a fit

  bool asked() const { return intervals || !fitted.empty(); }
};

inline constexpr Range<double> kLevelRange{0.5, 0.99};

class Intervals {
 public:
  // `set`: the user's overrides. A fit belongs to the scenario of this file. Throws InputError where it or the level is invalid.
  Intervals(const IntervalRequest& request, const std::string& file, const Overrides& set);
  // The fit's values, overridden by the user's.
  const Overrides& overrides() const { return overrides_; }
  bool are_asked() const { return request_.asked(); }
  // Whether the fit belongs to an earlier version of the scenario's files.
  bool is_stale() const { return stale_; }
  // Adds intervals to the result of the scenario of this file, if requested. Throws Stopped.
  void add(const std::string& file, RunResult& result, const std::function<bool()>& stop = {}) const;
  // Points for the scenario of this file: the fit's, with missing unknowns drawn from their priors; without a fit, at most
  // `most` from the priors.
  Draws draws_for(const std::string& file, std::size_t most) const;

 private:
  // Without the user's overrides.
  Overrides left_free(const Overrides& overrides) const;
  bool is_set(const std::string& path) const;
  // Adds to each point values, drawn from their priors, of unknowns that the fit lacks: it may cover other groups or models.
  void add_unfitted(Draws& draws) const;

  IntervalRequest request_;
  Overrides set_, overrides_;
  bool stale_ = false;
  Draws fitted_;
  std::vector<Unknown> unfitted_;
};

// The same for the scenario of a text, from its own unknowns.
void add_intervals(const ScenarioText& text, const Overrides& set, RunResult& result);

// The fit of one scenario, from its files to the report: the work of slmsim fit.

struct ScenarioFit {
  std::filesystem::path file;
  Overrides overrides;
  std::filesystem::path measured;  // a table of runs (pilot.h)
  Sampling sampling;
};

// Throws InputError with all errors.
FitReport fit_scenario(const ScenarioFit& request);

// A scenario from its files and overrides, and the tree that it was read from.
struct LinkedScenario {
  ScenarioFile file;
  Node linked;
  Scenario scenario;
};
LinkedScenario link_scenario(ScenarioFile file, const Overrides& overrides);
LinkedScenario link_scenario(const std::filesystem::path& file, const Overrides& overrides);

}  // namespace slmsim
