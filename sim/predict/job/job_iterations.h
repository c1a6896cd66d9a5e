// Length of a plan's iterations within a job: at each state of the links over the day, with data to read, and with GPUs and
// links that scatter. Every state is simulated, and a job consists of them; without links over the day, data and jitter the
// prediction is used unchanged.
#pragma once

#include "sim/predict/job/job_process.h"
#include "sim/predict/predict.h"

namespace slmsim {

// Figures of the plan's task graph (an iteration or a round), as means over the whole job and day.
struct JobIterations {
  Seconds predicted;                 // undisturbed
  Seconds mean;                      // at the platform's links
  double sd = 0;                     // s, of a single one
  double error = 0;                  // standard error of the mean, over it: few states are drawn
  std::vector<double> whole_jobs;    // where jitter lasts for a job: the mean of each draw over `mean`
  double longest = 1, shortest = 1;  // of a single one, over the mean
  Seconds loading;                   // part of the mean: waiting for data
  Bytes data_between_sites;          // mean of one
  std::vector<Hour> day;             // speed over that at the platform's links; empty where every hour is alike
};

// Nothing where the job has none of the three. The prediction must have a plan. With jitter, every GPU is simulated separately.
//
// With a state's links, an iteration is simulated with its data transfers beside it (loading.h) and takes at least the time
// that the disks need; data without read-ahead come before it. Where data are cached, the first epoch reads from the source and
// the others from the cache, and the mean is weighted by their numbers. Jitter that lasts for an iteration: job.jitter.states
// iterations are simulated one after the other, each with the connections that its predecessor left; where segments are lost, as
// many without jitter stand for the prediction. Jitter that lasts for a job: each draw is simulated until its own steady state.
std::optional<JobIterations> iterations_of_job(const Scenario& scenario, const Prediction& prediction);

}  // namespace slmsim
