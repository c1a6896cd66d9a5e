// Training steps measured with other software on one machine, compared with predictions.
//
// Input: a JSON list as calibrate/reference/torch_step.py and transformers_step.py write it, one map of schema slmsim/step/1 per
// configuration:
//   configuration                             its title
//   model, family, hidden, heads, kv_heads, layers, sequence, vocabulary, intermediate, tied_embedding, dropout
//   config, name, sequence                    in their place: the config.json of a model of Hugging Face's transformers
//   gpus, batch, micro_batches, precision     batch: sequences per GPU and step; data parallel on several GPUs
//   attention                                 eager, or sdpa: flash attention where GPU and precision can
//   compile, optimizer, checkpoints, lora     torch.compile; AdamW fused, foreach or single; recomputed blocks; adapters
//   status                                    ok, or oom with a reason, or failed
//   step_s: {median, least, most, count}      seconds of a step
//   peak_allocated_bytes, peak_reserved_bytes of PyTorch on one GPU, without the CUDA context
// Other keys (torch, date, ...) are not compared. Each step is predicted as PyTorch's DDP with the matching software
// stack: `eager` in fp32 and TF32, `autocast` in 16 bits, `compiled-autocast` where torch.compile took the model. The precision of
// a model with a config may also be autocast, accelerate (the same by accelerate), or bf16 with all weights frozen but adapters'.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/scenario/link.h"

namespace slmsim {

struct MeasuredStep {
  std::string title, model, gpu;  // as in the file
  Place place;
  std::string sizes;  // the model's, as YAML
  Node config;        // or its config.json
  int sequence = 1;
  int gpus = 1, batch = 1, micro_batches = 1;
  Precision precision = Precision::kFp16;
  bool flash = false;     // attention by PyTorch's scaled_dot_product_attention
  bool compiled = false;  // the whole model by torch.compile
  bool foreach = false;   // AdamW over lists of tensors; otherwise fused
  bool checkpoints = false;
  bool all_in_16_bits = false;  // weights too
  int lora = 0;                 // rank of adapters of queries and values; 0: all weights are trained
  double held_logits = 0;       // bytes per logit of the output that the measuring loop keeps
  bool out_of_memory = false;
  Seconds step;
  std::optional<Bytes> peak, reserved;

  bool has_config() const { return config.kind == Node::Kind::kMap; }
  std::string stack() const;
};

struct SkippedStep {
  std::string title, why;
};

struct MeasuredSteps {
  std::vector<MeasuredStep> steps;
  std::vector<SkippedStep> skipped;  // not representable, or did not run
};

// `place`: a file, or a folder with a steps.json. Throws InputError with all errors.
MeasuredSteps read_measured_steps(const std::filesystem::path& place);

struct StepComparison {
  MeasuredStep measured;
  Prediction prediction;
  Bytes workspaces;  // of cuBLAS: held by PyTorch's allocator, counted with the CUDA context in the prediction
  Bytes held;        // logits that the measuring loop keeps, which a prediction does not count

  // Relative to the measured value, where both ran.
  std::optional<double> time_error() const;
  std::optional<double> memory_error() const;
  Bytes predicted_peak() const;  // of PyTorch's allocator
  bool status_agrees() const;
};

// Predicts each step on GPUs of this kind in one VM. `gpu` is a name of platforms/gpus or a file, `profile` one of
// platforms/profiles or a file, or empty; `overrides` are a scenario's, which has the GPUs as platform.vms.vm.gpus.0, 1, ...
// Throws InputError.
std::vector<StepComparison> compare_steps(const std::vector<MeasuredStep>& steps, const std::string& gpu,
                                          const std::string& profile, const std::vector<Override>& overrides);

// Errors of predictions over several cells of a table, and medians.

// Median of values in any unit: for an even count, the mean of the two middle values.
// `values` holds at least one.
inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Summary of absolute relative errors. A measured 0 has none: such cells are counted separately, by the difference itself.
struct ErrorSummary {
  int cells = 0;
  double mean = 0, median = 0, worst = 0, tenth_worst = 0;  // tenth_worst: nine tenths are at most this
  int zeros = 0;
  double worst_difference = 0;  // for measured zeros, in the cells' unit
};

// A measured figure and its prediction: nothing where it does not run.
struct Comparison {
  double measured = 0;
  std::optional<double> predicted;

  std::optional<double> error() const;  // relative; nothing also where the measured figure is 0
};

// A cell that does not run has an error of 100 %.
ErrorSummary summary_of(const std::vector<Comparison>& cells);

// Cells without an error are left out.
ErrorSummary summary_of_errors(const std::vector<std::optional<double>>& errors);

}  // namespace slmsim
