// The DeepSpeed study's published facts, compared with predictions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/measured_step.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// A row of deepspeed.csv. Times measured under a profiler are shown and not counted.
struct DeepSpeedFact {
  std::string config, metric, unit;
  std::string use;  // "fit" or "test", where the table has it
  int nodes = 1;
  double size = 0;  // 1e9 parameters
  double measured = 0;
  std::optional<double> predicted;  // nothing where it does not run
  std::string reason;

  Comparison judged() const { return {measured, predicted}; }
  std::optional<double> error() const { return judged().error(); }
};

// Equivalent of a configuration of the study: the technique, as in slmsim list techniques, and the location of the drives
// (Table VI; one drive is A, two are B), "" for the node's own storage.
struct DeepSpeedRun {
  const char* config;
  const char* technique;
  const char* placement;
};
// nullptr where the study has no configuration of this name.
const DeepSpeedRun* deepspeed_run(const std::string& config);

// Rows that can be predicted; `predicted` is not yet set. Throws InputError where the table is invalid.
std::vector<DeepSpeedFact> read_deepspeed_facts(const std::filesystem::path& reference);

struct DeepSpeedValidation {
  std::vector<DeepSpeedFact> facts;
  ErrorSummary throughput, largest, links;  // see summary_of
  std::vector<Parameter> fitted;            // values marked `inferred`, each once
};

// `reference` is deepspeed.csv; `root` holds scenarios/. Throws InputError where either is invalid.
DeepSpeedValidation validate_deepspeed(const std::filesystem::path& root, const std::filesystem::path& reference);

// The study's number of layers for a size in 1e9 parameters: h = 2048, 1024 positions.
std::int64_t layers_of_size(double billions, const Transformer& model);

}  // namespace slmsim
