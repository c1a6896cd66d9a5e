// Runs a list of measurements within a time limit: finished ones come from the journal, the remaining time is divided evenly,
// and measurements that do not fit or cannot be made are reported.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/gpu/journal.h"

namespace slmsim::calibrate {

// This measurement is impossible here; the text says why.
struct MeasurementSkip : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The device computed a wrong result.
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Section { kKernels, kLaunches, kTransfers };

struct Unit {
  Section section = Section::kKernels;
  std::string key;                                     // one line without tabs; also shown as progress
  std::function<std::string(double seconds)> measure;  // takes about `seconds`; returns the line of the profile
};

struct Control {
  double time_limit = 540;  // s
  double most_of_unit = 1;  // s
  std::function<double()> now;
  std::function<bool()> stop;  // called before every unit
  std::function<void(const std::string& what, double share, double seconds_left)> progress;
};

struct Outcome {
  std::vector<std::string> kernels, launches, transfers;  // lines, in the units' order
  std::vector<std::string> left_out;                      // sentences
  int wrong = 0;
  bool interrupted = false;
  bool unfinished = false;  // some were left out because of the time limit
};

Outcome run_units(const std::vector<Unit>& units, Journal& journal, const Control& control);

}  // namespace slmsim::calibrate
