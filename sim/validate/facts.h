// The FABRIC study's published facts against this program's predictions.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "sim/predict/predict.h"
#include "sim/validate/error_summary.h"
#include "sim/validate/fabric_rows.h"

namespace slmsim {

// One row of fabric.csv and what is predicted for it.
struct Fact : FabricRow {
  Prediction prediction;

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

// `reference` is fabric.csv; `root` holds scenarios/; `overrides` hold in every slice. Throws InputError where one does not read.
Validation validate_fabric(const std::filesystem::path& root, const std::filesystem::path& reference,
                           const Overrides& overrides = {});

}  // namespace slmsim
