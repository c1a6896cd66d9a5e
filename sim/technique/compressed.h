// Gradients that are compressed before replicas exchange them: the options, what they take, what may vary, what is said beside.
#pragma once

#include "sim/technique/technique.h"

namespace slmsim {

// compress, rank, density, warm_up.
const std::vector<const OptionSpec*>& compression_options();

// What a technique with these options does; a reason where an option would have no effect, or nothing gets smaller.
struct CompressionChoice {
  Compression compression;
  int warm_up = 0;
  std::string reason;
};
CompressionChoice compression_of(const PlanRequest& request);

// Why a job's first `warm_up` steps leave none that compresses; empty where some are left.
std::string all_warm_up(const PlanRequest& request, int warm_up);

// Compressors that the scenario allows to be tried (plan.compress).
Variation compression_variation();

// That compression changes the training; nothing of plans without.
std::vector<std::string> compression_remarks(const Plan& plan);
bool compression_changes_training(const TechniqueOptions& options);

}  // namespace slmsim
