// The FABRIC study's published facts against this program's predictions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/select/predict.h"

namespace slmsim {

// One row of fabric.csv and what is predicted for it.
struct Fact {
  std::string slice, gpus, model, technique;
  std::optional<double> minutes, tflops_per_gpu;  // as published
  std::string status;                             // "ok", "oom", "ok?"
  Prediction prediction;

  bool two_vms() const { return prediction.gpus > 2; }
  // Relative error of the prediction, where a figure was published and the prediction runs.
  std::optional<double> minutes_error() const;
  std::optional<double> rate_error() const;
  bool status_agrees() const;
};

struct FactSummary {
  int minutes_cells = 0;                   // two-VM gpt2m minutes
  double mean_error = 0, worst_error = 0;  // absolute, relative to the measured value
  int status_cells = 0, status_agree = 0;
};

struct Validation {
  std::vector<Fact> facts;
  FactSummary summary;
  std::vector<Parameter> fitted;  // values marked `inferred`, each once
};

// `reference` is fabric.csv; `root` holds scenarios/. Throws InputError where either does not read.
Validation validate_fabric(const std::filesystem::path& root, const std::filesystem::path& reference);

}  // namespace slmsim
