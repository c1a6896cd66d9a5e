// Works a list of measurements off within a time limit: what was measured before an interruption is taken from the
// journal, the time left is dealt out evenly, and what does not fit in or cannot be measured is told.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/gpu/journal.h"

namespace slmsim::calibrate {

// This one cannot be measured here; the text says why.
struct LeftOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The device computed something wrong.
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Section { kKernels, kLaunches, kTransfers };

struct Unit {
  Section section = Section::kKernels;
  std::string key;                                     // one line, no tab; also what progress shows
  std::function<std::string(double seconds)> measure;  // within about so long; the line of the profile
};

struct Control {
  double time_limit = 540;  // s
  double most_of_unit = 1;  // s
  std::function<double()> now;
  std::function<bool()> stop;  // asked before every unit
  std::function<void(const std::string& what, double share, double seconds_left)> progress;
};

struct Outcome {
  std::vector<std::string> kernels, launches, transfers;  // lines, in the units' order
  std::vector<std::string> left_out;                      // sentences
  int wrong = 0;
  bool interrupted = false;
  bool unfinished = false;  // some were left out for want of time
};

Outcome run_units(const std::vector<Unit>& units, Journal& journal, const Control& control);

}  // namespace slmsim::calibrate
