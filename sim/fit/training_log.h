// What training programs print of their steps: which program a log is of, and the figures in it.
//
// Known are the lines of Megatron-LM ("elapsed time per iteration (ms): 1234.5 |", or in seconds, as BigScience's; "max
// reserved: 8478.5" MB), DeepSpeed ("CurrSamplesPerSec=..., MaxMemAllocated=...", and of its pipelines "iter time (s): 2.58"),
// torchtitan for PyTorch ("tps: 7,503 ... memory: 36.43GiB", with "wps:" before 2025, in colours too), and Alpa's examples
// ("Throughput: 123.45 token/s, 1.23 TFLOP/s"). Of a log's steps the first tenth, at least one, is warming up; of the rest
// the median counts, and half the range of the middle 68 % is their noise.
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

// Of a run on so many GPUs with sequences of so many tokens: rates per GPU or of sequences become tokens per second of all.
// Throws InputError where there is no such file, or no program of these wrote it.
TrainingLog read_training_log(const std::filesystem::path& file, int gpus, double sequence);

}  // namespace slmsim
