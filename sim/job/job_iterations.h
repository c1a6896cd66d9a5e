// How long a plan's iterations take within a job: at each state of the links over the day, with data that must be read, and
// with GPUs and links that scatter. Every state is simulated, and a job is made of them; without links over the day, data and
// jitter the prediction holds as it is.
#pragma once

#include "sim/job/course.h"
#include "sim/predict/predict.h"

namespace slmsim {

// Of what the plan's task graph does, an iteration or a round, over the whole job and day on the mean.
struct JobIterations {
  Seconds predicted;                 // undisturbed
  Seconds mean;                      // at the platform's links
  double sd = 0;                     // s, of single ones
  std::vector<double> whole_jobs;    // where jitter lasts for a job: the mean of each draw over `mean`
  double longest = 1, shortest = 1;  // of single ones, over the mean
  Seconds loading;                   // of the mean: waiting for data
  Bytes data_between_sites;          // of each on the mean
  std::vector<Hour> day;             // speed over that at the platform's links; empty where every hour is alike
};

// Nothing where the job has none of the three. Of a prediction with a plan. Jitter simulates every GPU for itself.
//
// With a state's links, an iteration is simulated with the transfers of data beside it (loading.h) and takes at least what the
// disks need; data that are not read ahead come before it. Where what was read is kept, the first epoch reads from the source
// and the others from there, and the mean is by their numbers. Jitter that lasts for an iteration: job.jitter.states of them
// are simulated one after the other, each meeting the connections that the one before left. Jitter that lasts for a job:
// each draw until its own steady state.
std::optional<JobIterations> iterations_of_job(const Scenario& scenario, const Prediction& prediction);

}  // namespace slmsim
