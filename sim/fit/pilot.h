// Measurements of a scenario: pilot runs, one figure each.
//
// Input: a CSV table with the columns model, technique, group (as --group takes it), what, value and, where it is known, noise (the
// relative deviation of the same run repeated; 3 % otherwise); a column `note` is the user's own. `what` is job, iteration
// (with a unit), peak_memory, tokens_per_second, tflops_per_gpu (by Alpa's formula), fits (yes or no), or a kind of file, whose
// path, relative to the table's folder, is `value`: log, a training program's (sim/fit/training_log.h), and nccl-tests and
// netprobe, which measure the network without a model or a technique (sim/fit/network_run.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/fit/forecast.h"

namespace slmsim {

enum class Measure { kJob, kIteration, kTokensPerSecond, kRate, kPeakMemory, kFits };
// As written in tables.
const std::vector<std::string>& measure_names();

inline constexpr double kUsualNoise = 0.03;  // of a run repeated on the same machines

struct Pilot {
  Candidate cell;
  Measure measure = Measure::kIteration;
  double value = 0;  // seconds, bytes, tokens/s, FLOP/s; 1 and 0 for yes and no
  double noise = kUsualNoise;
  Place place = {};  // of its row; empty for a test's or a study's

  std::string value_text() const;
};

// Throws InputError with all errors, including cells that the scenario lacks, with the nearest.
std::vector<Pilot> read_pilots(const std::filesystem::path& file, const Scenario& scenario);

// This forecast's value of the measured figure, 0 where there is none.
double figure_of(const Forecast& forecast, Measure measure);

}  // namespace slmsim
