// Progress of work while nothing stops it: stretches of one interval, each followed by a checkpoint's pause, at a speed that
// depends on the time of day.
#pragma once

#include "sim/predict/job/job_process.h"

namespace slmsim {

// Times in seconds. `from`: since the job's beginning. `phase`: since the end of the last pause.
class Pace {
 public:
  explicit Pace(const JobProcess& job);

  // Number of checkpoints whose pause ends within `length`.
  double checkpoints(double phase, double length) const;
  // The part of `length` that is not pause.
  double working(double phase, double length) const;
  // Work done in `length`. Where hours differ, pauses are assumed to be spread evenly over the time.
  double work(double from, double phase, double length) const;
  // Time that `work` takes, without a pause that would follow the last of it.
  double time_of(double from, double phase, double work) const;

  double period() const { return interval_ + pause_; }

 private:
  double sum_of_speed(double time) const;  // since the job's beginning

  double interval_, pause_;
  std::vector<Hour> day_;
  std::vector<double> sums_;  // at each hour's beginning, and for a whole day
};

}  // namespace slmsim
