// The FABRIC study's published facts against this program's predictions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

// One row of fabric.csv and what is predicted for it.
struct Fact {
  std::string slice, gpus, model, technique;
  std::optional<double> minutes, tflops_per_gpu;  // as published
  std::string status;                             // "ok", "oom", "ok?"
  Prediction prediction;

  bool two_vms() const { return prediction.gpus > 2; }
  // Where a figure was published.
  std::optional<Judged> minutes_judged() const;
  std::optional<Judged> rate_judged() const;
  bool status_agrees() const;
};

struct FactSummary {
  ErrorSummary minutes;  // two-VM gpt2m minutes
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
