// Training steps measured with other software on one machine, compared with predictions.
//
// Input: a JSON list as calibrate/reference/torch_step.py writes it, one map of schema slmsim/step/1 per configuration:
//   configuration                             its title
//   model, family, hidden, heads, kv_heads, layers, sequence, vocabulary, intermediate, tied_embedding, dropout
//   gpus, batch, micro_batches, precision     batch: sequences per GPU and step; data parallel on several GPUs
//   attention                                 eager, or sdpa: flash attention where GPU and precision can
//   compile, optimizer, checkpoints, lora     torch.compile; AdamW fused, foreach or single; recomputed blocks; adapters
//   status                                    ok, or oom with a reason, or failed
//   step_s: {median, least, most, count}      seconds of a step
//   peak_allocated_bytes, peak_reserved_bytes of PyTorch on one GPU, without the CUDA context
// Other keys (gpu, torch, date, ...) are not compared. Each step is predicted as PyTorch's DDP with the matching software
// stack: `eager` in fp32 and TF32, `autocast` in 16 bits, `compiled-autocast` where torch.compile took the model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/error_summary.h"
#include "sim/predict/predict.h"
#include "sim/scenario/link.h"

namespace slmsim {

struct MeasuredStep {
  std::string title, model, gpu;  // as in the file
  std::string sizes;              // of the model, as YAML
  int sequence = 1;
  int gpus = 1, batch = 1, micro_batches = 1;
  Precision precision = Precision::kFp16;
  bool flash = false;     // attention by PyTorch's scaled_dot_product_attention
  bool compiled = false;  // the whole model by torch.compile
  bool foreach = false;   // AdamW over lists of tensors; otherwise fused
  bool checkpoints = false;
  bool out_of_memory = false;
  Seconds step;
  std::optional<Bytes> peak, reserved;

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

}  // namespace slmsim
