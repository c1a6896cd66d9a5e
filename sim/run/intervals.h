// Intervals beside a run's predictions: from a fit, or from what the scenario says that it does not know.
#pragma once

#include <cstdint>

#include "sim/fit/draws.h"
#include "sim/report/report.h"

namespace slmsim {

struct IntervalRequest {
  std::string fitted;      // a file of slmsim fit; empty: of the scenario's own unknowns
  bool intervals = false;  // implied by `fitted`
  double level = 0.8;      // probability that an interval holds what would be measured
  std::uint64_t seed = 1;  // of points that are drawn, without a fit

  bool asked() const { return intervals || !fitted.empty(); }
};

class Intervals {
 public:
  // `set`: what the user overrides. A fit is of the scenario of this file. Throws InputError where it is none.
  Intervals(const IntervalRequest& request, const std::string& file, const Overrides& set);
  // The fit's values beneath what the user sets.
  const Overrides& overrides() const { return overrides_; }
  bool are_asked() const { return request_.asked(); }
  // Whether the fit is to other files than the scenario's are now.
  bool is_stale() const { return stale_; }
  // Intervals of the result of the scenario of this file, where they were asked for. Throws Stopped.
  void add(const std::string& file, RunResult& result, const std::function<bool()>& stop = {}) const;
  // Of the scenario of this file: the fit's, with what the fit does not hold drawn from its prior, or at most so many of what
  // is not known.
  Draws draws_for(const std::string& file, std::size_t most) const;

 private:
  // Without what the user sets.
  Overrides left_free(const Overrides& overrides) const;
  bool is_set(const std::string& path) const;
  // To each point values, drawn from their priors, of what the scenario does not know and the fit does not hold: it was of other
  // groups or models, say.
  void add_unfitted(Draws& draws) const;

  IntervalRequest request_;
  Overrides set_, overrides_;
  bool stale_ = false;
  Draws fitted_;
  std::vector<Unknown> unfitted_;
};

// The same of the scenario of a text, from what it says that it does not know.
void add_intervals(const ScenarioText& text, const Overrides& set, RunResult& result);

}  // namespace slmsim
