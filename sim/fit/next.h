// The pilot run that is most informative about the pick, for its cost.
//
// Input: an ensemble of forecasts of all candidates. Output, for each possible run: the expected reduction of the cost of a
// wrong pick (the expected value of sample information, Raiffa and Schlaifer 1961), and the cost of the run. Each outcome drawn
// from the ensemble is taken as the truth in turn, and the others are weighted by how well they agree with the run's result in
// it; the pick is the candidate with the lowest expected cost in these others. Its cost comes from the truth alone, which the
// others exclude: else the best of several noisy means would pass for information.
#pragma once

#include <limits>

#include "sim/fit/uncertainty.h"

namespace slmsim {

struct NextRules {
  double trial_epochs = 1;  // a pilot run lasts, after its start-up, at most this multiple of selection.epsilon_epochs,
  double iterations = 20;   // and at most this many iterations: their median is then known better than a run repeats
  double sure = 0.9;        // probability of the pick above which no run is worth it
  double jobs = 1;          // jobs that the pick serves: a run is worth what it saves over all, in the objective's unit
  std::size_t draws = 1000;  // drawn outcomes
  std::uint64_t seed = 1;
};

struct NextRun {
  std::size_t candidate = 0;
  double minutes = 0, gpu_minutes = 0;  // of the run
  double right = 0;                     // mean probability that the pick is right after it
  double saved = 0;                     // of the expected regret, in the objective's unit
  double per_gpu_minute() const { return gpu_minutes > 0 ? saved / gpu_minutes : 0; }
};

struct NextPick {
  std::string model;
  std::size_t pick = 0;       // index of the candidate
  bool is_possible = true;    // whether any candidate runs with a probability of 5 %; else the pick stands for nothing
  double right = 0;           // probability that nothing is better by more than delta
  double regret = 0;          // expected, in the objective's unit (seconds)
  bool sure = false;          // more than NextRules::sure
  bool stop = false;          // sure, or no run is worth its cost
  std::vector<NextRun> runs;  // the most informative per GPU-minute first
};

// Start-up and `epochs` times the trial, but at most `iterations`; mean over the ensemble.
double trial_minutes(const Ensemble& ensemble, std::size_t candidate, double epochs,
                     double iterations = std::numeric_limits<double>::infinity());

// Candidates whose run would be informative: they may fit, were not run (ensemble.runs), and their forecasts differ at some
// point from those of every candidate that was run or comes before them (on one GPU, techniques that only divide work between
// several are equal).
std::vector<std::size_t> open_candidates(const Ensemble& ensemble);

// Forecasts of all cells at `count` of the draws. A cell that is far behind the best of its model at each of the first draws
// costs as much as a failure whatever else a run shows: further draws take its forecast from the nearest of the first.
Ensemble ensemble_of_rivals(const Draws& draws, const Experiment& experiment, Objective objective, std::size_t count,
                            const std::function<bool()>& stop = {});

// Among the candidates of one model. `open`: those that may be run. `selected`: the scenario's pick by the central predictions
// (sim/predict/algorithm.h), which is kept where no other has an expected cost less by more than delta.
NextPick next_run(const Scenario& scenario, const Ensemble& ensemble, const std::string& model,
                  const std::vector<std::size_t>& open, const NextRules& rules,
                  std::optional<std::size_t> selected = {});

}  // namespace slmsim
