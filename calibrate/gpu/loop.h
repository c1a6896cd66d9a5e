// The one measuring loop: warm up, then take samples until the median is known well enough or the time is up.
//
// A sample is a number of launches back to back, so many that the clock's resolution does not count; its value is the
// time of one launch. What is launched, on which of several buffers, is the timer's business.
#pragma once

#include <cstdint>
#include <string>

#include "calibrate/gpu/summary.h"

namespace slmsim::calibrate {

struct Clock {
  double megahertz = 0;        // of the multiprocessors; 0 where it cannot be read
  std::uint64_t throttle = 0;  // NVML's reasons for which the clock is below what was asked for
};

class Timer {
 public:
  virtual ~Timer() = default;
  // Launches so often, back to back; seconds from before the first to after the last, by the device's clock.
  virtual double run(int launches) = 0;
  virtual double now() = 0;  // seconds of a clock on the wall
  virtual Clock clock() = 0;
};

struct Rules {
  double precision = 0.02;  // share of the median within which its 95 % interval must end
  double time_limit = 1;    // s, warm-up included
  double warm_up = 0.01;    // s, after the first launch
  double sample = 200e-6;   // s at least of a sample; events resolve about 0.5 us
  int least_samples = 9;    // the interval of fewer values is from the least to the most
  int most_samples = 2000;
};

struct Measurement {
  Summary seconds;   // of one launch
  int launches = 0;  // per sample
  bool precise = false;
  double clock_least = 0, clock_most = 0;  // MHz
  std::uint64_t throttle = 0;              // all reasons seen
};

Measurement measure(Timer& timer, const Rules& rules);

// NVML's reasons that slow a kernel down, as words: "power cap, heat"; "none". (nvml.h, nvmlClocksThrottleReasons.)
std::string throttle_text(std::uint64_t reasons);

}  // namespace slmsim::calibrate
