// Options that ask a verb for intervals, and what comes of them.
#pragma once

#include <cstdint>

#include "sim/cli/scenarios.h"
#include "sim/fit/draws.h"
#include "sim/report/report.h"

namespace slmsim {

struct IntervalOptions {
  std::string fitted;
  bool intervals = false;
  double level = 0.8;
  std::uint64_t seed = 1;
};

// --fitted, --intervals, --level and --seed.
void add_interval_options(CLI::App& verb, IntervalOptions& options);

class IntervalMaker {
 public:
  // Throws InputError where the options do not go together, or the fit is none.
  IntervalMaker(const IntervalOptions& options, const ScenarioOptions& scenarios);
  // The scenarios' options with the fit's values beneath what the user sets.
  const ScenarioOptions& scenario_options() const { return scenarios_; }
  // Intervals of the result of the scenario of this file, where they were asked for.
  void add(const std::string& file, RunResult& result) const;
  // Of the scenario of this file: the fit's, or at most so many of what is not known.
  Draws draws_for(const std::string& file, std::size_t most) const;

 private:
  // Without what the user sets.
  Overrides left_free(const Overrides& overrides) const;

  IntervalOptions options_;
  Overrides set_;
  ScenarioOptions scenarios_;
  Draws fitted_;
};

}  // namespace slmsim
