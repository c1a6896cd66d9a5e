// Compressed exchange of gradients between replicas: options, their effect, variations and remarks.
#pragma once

#include "sim/technique/common/technique.h"

namespace slmsim {

// compress, rank, density, warm_up.
const std::vector<const OptionSpec*>& compression_options();

// The compression by a technique's options; a reason where an option would have no effect, or nothing gets smaller.
struct CompressionChoice {
  Compression compression;
  int warm_up = 0;
  std::string reason;
};
CompressionChoice compression_of(const PlanRequest& request);

// The reason why a job's first `warm_up` steps leave no compressed ones; empty where some are left.
std::string all_warm_up(const PlanRequest& request, int warm_up);

// Compressors that the scenario allows `slmsim plan` to try (plan.compress).
Variation compression_variation();

// States that compression changes the training; empty for plans without compression.
std::vector<std::string> compression_remarks(const Plan& plan);
bool compression_changes_training(const TechniqueOptions& options);

}  // namespace slmsim
