// A whole job as a distribution: its length with failures and checkpoints, whether it ends before the lease does, its cost, and
// where the time goes.
//
// The parts are simulated: iteration and start-up by the prediction, the size of states by the technique's memory, checkpoint
// transfers by the platform's links, and iterations at other hours, with data to read and with jitter, by the same plan under
// those conditions (sim/predict/job/job_iterations.h). Jobs are drawn from them (sim/predict/job/job_process.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/predict/job/checkpoint.h"
#include "sim/predict/job/job_iterations.h"
#include "sim/predict/job/job_process.h"
#include "sim/predict/predict.h"

namespace slmsim {

inline constexpr int kQuantileSteps = 40;

// 80 % of the drawn jobs lie between low and high. Infinite where too many do not end.
struct Spread {
  double median = 0, low = 0, high = 0;
};

struct JobOutcome {
  int samples = 0;
  std::int64_t seed = 0;
  Spread length;                            // s
  std::vector<double> quantiles;            // s, quantiles of the length: from 0 to 1 in kQuantileSteps equal steps
  double ended = 1;                         // share of the jobs
  std::optional<double> before_lease;       // probability
  double goodput = 1;                       // kept training time over the time of all jobs
  JobParts mean;                            // per job
  double stops_per_day = 0;                 // failures and preemptions expected
  std::optional<JobIterations> iterations;  // where iterations differ from the predicted ones
  std::optional<CheckpointTimes> checkpoint;
  std::optional<Seconds> interval;  // training time between checkpoints; nothing where none are written
  double checkpoints = 0;           // mean number
  std::optional<Spread> cost;       // in `currency`
  std::string currency;
  std::optional<Spread> energy;  // J, boards at full power by their data sheets (an upper bound), times the PUE
  std::optional<Spread> carbon;  // kg
};

// The stops, checkpoints and hours of a prediction's job. The checkpoint `interval` is in whole iterations or rounds. Where
// iterations differ from the predicted ones, the work is scaled by the same ratio, and is before that at least all iterations
// at their steady time.
JobProcess process_of(const Scenario& scenario, const Prediction& prediction,
                      const std::optional<CheckpointTimes>& checkpoint,
                      const std::optional<JobIterations>& iterations = {});

// Nothing where the scenario has no `job` or the prediction no time. Egress has a price where the prediction has its links.
std::optional<JobOutcome> outcome_of(const Scenario& scenario, const Prediction& prediction);
std::vector<std::optional<JobOutcome>> outcomes_of(const Scenario& scenario,
                                                   const std::vector<Prediction>& predictions);

}  // namespace slmsim
