// Logs of training programs: which program wrote a log, and its figures.
//
// Supported are the lines of Megatron-LM ("elapsed time per iteration (ms): 1234.5 |", or in seconds, as BigScience's; "max
// reserved: 8478.5" MB), DeepSpeed ("CurrSamplesPerSec=..., MaxMemAllocated=...", and for its pipelines "iter time (s): 2.58"),
// torchtitan for PyTorch ("tps: 7,503 ... memory: 36.43GiB", with "wps:" before 2025, in colours too), and Alpa's examples
// ("Throughput: 123.45 token/s, 1.23 TFLOP/s"). The first tenth of a log's steps, at least one, is warm-up; the median of the
// rest is the value, and half the range of the middle 68 % its noise.
//
// Settings are taken from the steps ("global batch size: 768", "actual seqlen: 4096"), from samples per second and the time of
// a step, from the arguments that a program lists as it starts (Megatron-LM, DeepSpeed), and from torchtitan's first lines.
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

// What the log states of the job itself, after the warm-up: one value, or several where it changes.
enum class LoggedSetting { kBatch, kSequence, kGpus, kParameters };
const char* setting_name(LoggedSetting setting);  // "global batch size"

struct LoggedValues {
  LoggedSetting setting = LoggedSetting::kBatch;
  std::vector<double> values;
};

struct TrainingLog {
  std::string program;
  std::vector<LoggedFigure> figures;
  std::vector<LoggedValues> settings;
};

// For a run on `gpus` GPUs with sequences of `sequence` tokens: rates per GPU or of sequences become tokens per second of all.
// Throws InputError where the file does not exist or none of these programs wrote it.
TrainingLog read_training_log(const std::filesystem::path& file, int gpus, double sequence);

}  // namespace slmsim
