// Logs of training programs: which program wrote a log, and its figures.
//
// Supported are the lines of Megatron-LM ("elapsed time per iteration (ms): 1234.5 |", or in seconds, as BigScience's; "max
// reserved: 8478.5" MB), DeepSpeed ("CurrSamplesPerSec=..., MaxMemAllocated=...", and for its pipelines "iter time (s): 2.58"),
// torchtitan for PyTorch ("tps: 7,503 ... memory: 36.43GiB", with "wps:" before 2025, in colours too), and Alpa's examples
// ("Throughput: 123.45 token/s, 1.23 TFLOP/s"). The first tenth of a log's steps, at least one, is warm-up; the median of the
// rest is the value, and half the range of the middle 68 % its noise.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/fit/pilot.h"

namespace slmsim {

struct LoggedFigure {
  Measure measure = Measure::kIteration;
  double value = 0;
  double spread = 0;  // relative
};

struct TrainingLog {
  std::string program;
  std::vector<LoggedFigure> figures;
};

// For a run on `gpus` GPUs with sequences of `sequence` tokens: rates per GPU or of sequences become tokens per second of all.
// Throws InputError where the file does not exist or none of these programs wrote it.
TrainingLog read_training_log(const std::filesystem::path& file, int gpus, double sequence);

}  // namespace slmsim
