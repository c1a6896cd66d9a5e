// A whole job as a distribution: how long it takes with its failures and checkpoints, whether it ends before the lease does,
// what it costs, and where the time goes.
//
// The parts are simulated: iteration and start-up by the prediction, the states' bytes by the technique's memory, a
// checkpoint's way by the platform's links, iterations at other hours, with data to be read and with GPUs and links that scatter
// by the same plan as things are then (sim/job/job_iterations.h). Jobs are drawn from them (sim/job/course.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/job/checkpoint.h"
#include "sim/job/course.h"
#include "sim/job/job_iterations.h"
#include "sim/predict/predict.h"

namespace slmsim {

inline constexpr int kQuantileSteps = 40;

// Of the jobs drawn: eight of ten lie between low and high. Infinite where so many do not end.
struct Spread {
  double median = 0, low = 0, high = 0;
};

struct JobOutcome {
  int samples = 0;
  std::int64_t seed = 0;
  Spread length;                            // s
  std::vector<double> quantiles;            // s, of the length: from 0 to 1 in kQuantileSteps equal steps
  double ended = 1;                         // share of the jobs
  std::optional<double> before_lease;       // probability
  double goodput = 1;                       // training that was kept over the time of all jobs
  JobParts mean;                            // of a job
  double stops_per_day = 0;                 // failures and preemptions expected
  std::optional<JobIterations> iterations;  // where they are others than predicted
  std::optional<CheckpointTimes> checkpoint;
  std::optional<Seconds> interval;  // of training between checkpoints; nothing where none are written
  double checkpoints = 0;           // mean number
  std::optional<Spread> cost;       // in `currency`
  std::string currency;
  std::optional<Spread> energy;  // J, of the boards at full power by the data sheets' bound, times the PUE
  std::optional<Spread> carbon;  // kg
};

// The stops, checkpoints and hours of a prediction's job. `interval` of checkpoints is in whole iterations or rounds. Where
// iterations are others than predicted, the work is as much longer as they are, and before that not less than all of them at
// their steady time.
Course course_of(const Scenario& scenario, const Prediction& prediction,
                 const std::optional<CheckpointTimes>& checkpoint, const std::optional<JobIterations>& iterations = {});

// Nothing where the scenario has no `job` or the prediction no time. Egress is priced where the prediction has its links.
std::optional<JobOutcome> outcome_of(const Scenario& scenario, const Prediction& prediction);
std::vector<std::optional<JobOutcome>> outcomes_of(const Scenario& scenario,
                                                   const std::vector<Prediction>& predictions);

}  // namespace slmsim
