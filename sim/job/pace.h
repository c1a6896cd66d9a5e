// How work goes on while nothing stops it: stretches of an interval, each followed by a checkpoint's pause, faster or slower by
// the time of day.
#pragma once

#include "sim/job/course.h"

namespace slmsim {

// Times in seconds. `from`: since the job's beginning. `phase`: since the end of the last pause.
class Pace {
 public:
  explicit Pace(const Course& course);

  // Checkpoints whose pause ends within so long.
  double checkpoints(double phase, double length) const;
  // Of a time, what is not pause.
  double working(double phase, double length) const;
  // Work that is done in it. Where hours differ, pauses are taken to lie evenly in the time.
  double work(double from, double phase, double length) const;
  // How long so much work takes; a pause that would follow the last of it is not waited for.
  double time_of(double from, double phase, double work) const;

  double period() const { return interval_ + pause_; }

 private:
  double sum_of_speed(double time) const;  // from the job's beginning on

  double interval_, pause_;
  std::vector<Hour> day_;
  std::vector<double> sums_;  // at each hour's beginning, and of a whole day
};

}  // namespace slmsim
