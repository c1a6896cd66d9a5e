// Measurements of a scenario: pilot runs, one figure each.
//
// Input: a CSV table with the columns model, technique, group (as --group takes it), what, value and, where it is known, noise (the
// relative deviation of the same run repeated; 3 % otherwise); a column `note` is the user's own. `what` is job, iteration
// (with a unit), peak_memory, tokens_per_second, tflops_per_gpu (by Alpa's formula), fits (yes or no), or a kind of file, whose
// path, relative to the table's folder, is `value`: log, a training program's, and nccl-tests and
// netprobe, which measure the network without a model or a technique.
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

// Throws InputError with all errors, including cells that the scenario lacks, with the nearest. `work_is_known`: whether the batch
// and the job's length are the scenario's; else no figure is compared with another by them.
std::vector<Pilot> read_pilots(const std::filesystem::path& file, const Scenario& scenario, bool work_is_known = true);

// This forecast's value of the measured figure, 0 where there is none.
double figure_of(const Forecast& forecast, Measure measure);
// The figures of all measures but fits, in their order.
inline constexpr double Forecast::*kForecastFigures[] = {
    &Forecast::job, &Forecast::iteration, &Forecast::tokens_per_second, &Forecast::rate_per_gpu, &Forecast::memory};

// Pilot runs without training: measurements of a network by tools, in seconds and without a job.
//
// A table of NVIDIA's nccl-tests gives times of a warm collective of a group's GPUs, by size. A path measured by
// slmsim-netprobe (or iperf3) gives times of messages between two VMs over new connections, and of ten seconds' worth over
// several warm ones. Both are predicted like a job's traffic: with the scenario's network, NCCL and TCP, on otherwise idle
// links.

// Time of one call on the devices, or of one message from the first to the last.
Seconds time_of(const NetworkRun& run, const std::vector<int>& devices, const Scenario& scenario,
                const Network& network);
// The same for a group, in seconds, as a forecast's iteration.
Forecast forecast_of(const NetworkRun& run, const std::vector<std::string>& group, const Scenario& scenario,
                     const Network& network);

// Values of a row's `what` beside figures of training: nccl-tests and netprobe.
const std::vector<std::string>& network_tables();
// Reads the file that a row names, for the VMs of its group (for a path: client+server). Of many sizes, evenly spaced ones are
// kept, so that one file counts as a few runs and not as hundreds. Throws InputError, also where the file belongs to other
// GPUs.
std::vector<Pilot> read_network_run(const std::string& what, const std::filesystem::path& file,
                                    const std::vector<std::string>& group, const Scenario& scenario);

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
