// Which pilot run tells most about the pick, for what it costs.
//
// Enters: an ensemble of forecasts of all candidates. Leaves: of each run that could be made, what knowing its result would
// take off the expected cost of picking wrong (the expected value of sample information, Raiffa and Schlaifer 1961), and what
// the run takes. Each outcome that is drawn of the ensemble in turn is taken for the truth, and the others are weighted by how
// well they agree with what the run would then show; the pick is the candidate of the least expected cost by these others,
// and what it costs is told by the truth alone, which they do not hold: else the best of several noisy means would pass for
// something learnt.
#pragma once

#include <limits>

#include "sim/fit/uncertainty.h"

namespace slmsim {

struct NextRules {
  double trial_epochs = 1;  // of a pilot run, beside its start-up: at most so many times selection.epsilon_epochs,
  double iterations = 20;   // and at most so many iterations: their median is known better than a run repeats
  double sure = 0.9;        // probability of the pick at which no run is worth it
  double jobs = 1;  // such jobs that the pick is for: a run is worth what it saves of all, in the objective's unit
  std::size_t draws = 1000;  // of what may come about
  std::uint64_t seed = 1;
};

struct NextRun {
  std::size_t candidate = 0;
  double minutes = 0, gpu_minutes = 0;  // of the run
  double right = 0;                     // probability that the pick is right after it, on the mean
  double saved = 0;                     // of the expected regret, in the objective's unit
  double per_gpu_minute() const { return gpu_minutes > 0 ? saved / gpu_minutes : 0; }
};

struct NextPick {
  std::string model;
  std::size_t pick = 0;       // of least expected cost, as a candidate
  double right = 0;           // probability that nothing is better by more than delta
  double regret = 0;          // expected, in the objective's unit (seconds)
  bool stop = false;          // sure enough, or no run tells more than it costs
  std::vector<NextRun> runs;  // the most telling per GPU-minute first
};

// Start-up and `epochs` times the trial, but no more than so many iterations, on the mean of the ensemble.
double trial_minutes(const Ensemble& ensemble, std::size_t candidate, double epochs,
                     double iterations = std::numeric_limits<double>::infinity());

// Candidates whose run would tell something: that may run, were not run (ensemble.runs), and are not forecast alike at all points
// with one that was run or stands before them (of one GPU, techniques that only part work between several).
std::vector<std::size_t> open_candidates(const Ensemble& ensemble);

// Among the candidates of one model. `open`: those that may be run.
NextPick next_run(const Scenario& scenario, const Ensemble& ensemble, const std::string& model,
                  const std::vector<std::size_t>& open, const NextRules& rules);

}  // namespace slmsim
