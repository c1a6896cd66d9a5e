// The DeepSpeed study's published facts against this program's predictions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

// A row of deepspeed.csv. Times were taken under a profiler: they are shown and not judged.
struct DeepSpeedFact {
  std::string config, metric, unit;
  int nodes = 1;
  double size = 0;  // 1e9 parameters
  double measured = 0;
  std::optional<double> predicted;  // nothing where it does not run
  std::string reason;

  Judged judged() const { return {measured, predicted}; }
  std::optional<double> error() const { return judged().error(); }
};

struct DeepSpeedValidation {
  std::vector<DeepSpeedFact> facts;
  ErrorSummary throughput, largest, links;  // see summary_of
  std::vector<Parameter> fitted;            // values marked `inferred`, each once
};

// `reference` is deepspeed.csv; `root` holds scenarios/. Throws InputError where either does not read.
DeepSpeedValidation validate_deepspeed(const std::filesystem::path& root, const std::filesystem::path& reference);

// The study's layers for a size in 1e9 parameters: h = 2048, 1024 positions.
std::int64_t layers_of_size(double billions, const Transformer& model);

}  // namespace slmsim
