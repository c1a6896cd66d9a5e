// The FABRIC study's published facts, compared with predictions.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "sim/fit/measured_step.h"
#include "sim/predict/predict.h"
#include "tests/validation/fabric_rows.h"

namespace slmsim {

// One row of fabric.csv and its prediction.
struct Fact : FabricRow {
  Prediction prediction;

  // Set where a figure was published.
  std::optional<Comparison> minutes_judged() const;
  std::optional<Comparison> rate_judged() const;
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

// `reference` is fabric.csv; `root` holds scenarios/; `overrides` apply to every slice. Throws InputError where a file is
// invalid.
Validation validate_fabric(const std::filesystem::path& root, const std::filesystem::path& reference,
                           const Overrides& overrides = {});

}  // namespace slmsim
