// The measuring loop: warm up, then take samples until the median is known well enough or the time is up.
//
// A sample is a number of consecutive launches, enough to make the clock's resolution negligible; its value is the time of one
// launch. The timer decides what is launched, and on which buffers.
#pragma once

#include <cstdint>
#include <string>

#include "calibrate/gpu/summary.h"

namespace slmsim::calibrate {

struct Clock {
  double megahertz = 0;        // clock of the multiprocessors; 0 where unknown
  std::uint64_t throttle = 0;  // NVML's reasons for a clock below the requested one
};

class Timer {
 public:
  virtual ~Timer() = default;
  // Launches this often in a row; seconds from before the first to after the last, by the device's clock.
  virtual double run(int launches) = 0;
  virtual double now() = 0;  // seconds of a wall clock
  virtual Clock clock() = 0;
};

struct Rules {
  double precision = 0.02;  // the median's 95 % interval must lie within this share of it
  double time_limit = 1;    // s, warm-up included
  double warm_up = 0.01;    // s, after the first launch
  double sample = 200e-6;   // s, shortest sample; events resolve about 0.5 us
  int least_samples = 9;    // with fewer values the interval is from the least to the most
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
