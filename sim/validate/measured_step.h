// Training steps that somebody measured with other software on one machine, against this program's predictions.
//
// Enters: a JSON list as calibrate/reference/torch_step.py writes it, one map of schema slmsim/step/1 per batch size:
//   model, hidden, heads, layers, sequence, vocabulary, intermediate   a GPT-2 with its head tied to the embedding
//   gpus, batch, micro_batches, precision     batch: sequences per GPU and step; data parallel on several GPUs
//   attention                                 eager, or sdpa: flash attention where GPU and precision can
//   status                                    ok, or oom with a reason
//   step_s: {median, least, most, count}      seconds of a step
//   peak_allocated_bytes                      of tensors on one GPU, without the CUDA context
// Other keys (gpu, torch, date, ...) are kept out of the comparison.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/scenario/link.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

struct MeasuredStep {
  std::string model, gpu;  // as the file calls them
  std::string sizes;       // the model's, as YAML
  int gpus = 1, batch = 1, micro_batches = 1;
  Precision precision = Precision::kFp16;
  bool flash = false;  // attention by PyTorch's scaled_dot_product_attention
  bool out_of_memory = false;
  Seconds step;
  std::optional<Bytes> peak;
};

// Throws InputError with everything that is wrong.
std::vector<MeasuredStep> read_measured_steps(const std::filesystem::path& file);

struct StepComparison {
  MeasuredStep measured;
  Prediction prediction;

  // Relative to the measured value, where both ran.
  std::optional<double> time_error() const;
  std::optional<double> memory_error() const;
  Bytes predicted_peak() const;  // without the CUDA context
  bool status_agrees() const;
};

// Each step on GPUs of this kind in one VM. `gpu` is a name of platforms/gpus or a file, `profile` one of
// platforms/profiles or a file, or empty; `overrides` as of a scenario, which has the GPUs as platform.vms.vm.gpus.0,
// 1, ... Throws InputError.
std::vector<StepComparison> compare_steps(const std::vector<MeasuredStep>& steps, const std::string& gpu,
                                          const std::string& profile, const std::vector<Override>& overrides);

}  // namespace slmsim
