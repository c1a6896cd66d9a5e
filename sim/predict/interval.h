// Interval of a prediction: values only, for output.
#pragma once

#include <string>
#include <vector>

namespace slmsim {

struct Interval {
  double low = 0, high = 0;
};

struct CandidateUncertainty {
  Interval job, iteration;  // seconds; where timed
  double spread = 1;        // ratio of high to low of the job
  double fits = 0;          // probability
};

struct PickUncertainty {
  std::string model;
  double right = 0;   // probability that no cell beats it by more than the selection's delta
  double regret = 0;  // mean excess cost of the pick over the best, in the objective's unit
};

struct Uncertainty {
  double level = 0.8;
  std::size_t points = 0;
  std::vector<CandidateUncertainty> cells;  // for each prediction, in order
  std::vector<PickUncertainty> picks;       // for each selection, in order
  std::vector<std::string> unknowns;        // sources of uncertainty: "training.batch: 4 or 8 or 16"
  std::string fitted_to;                    // the file of runs; empty: priors only
  std::vector<std::string> remarks = {};    // on the fit: that it was stopped, or which runs contradict it
};

}  // namespace slmsim
