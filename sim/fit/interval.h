// What a prediction with an interval says: values only, for those who print them.
#pragma once

#include <string>
#include <vector>

namespace slmsim {

struct Interval {
  double low = 0, high = 0;
};

struct CandidateUncertainty {
  Interval job, iteration;  // seconds; where it is timed
  double spread = 1;        // high over low of the job
  double fits = 0;          // probability
};

struct PickUncertainty {
  std::string model;
  double right = 0;   // probability that nothing is better by more than the selection's delta
  double regret = 0;  // mean of what the pick costs beyond the best, in the objective's unit
};

struct Uncertainty {
  double level = 0.8;
  std::size_t points = 0;
  std::vector<CandidateUncertainty> cells;  // of each prediction, in its order
  std::vector<PickUncertainty> picks;       // of each selection, in its order
  std::vector<std::string> unknowns;        // what it comes from: "training.batch: 4 or 8 or 16"
  std::string fitted_to;                    // the file of runs; empty: to nothing, the priors alone
};

}  // namespace slmsim
