// What `slmsim plan` may vary in a technique's options: for each of them the values that make sense on a group of GPUs. A
// value is a number of the variation's own, in the order in which values are tried; 0 leaves the option as it usually is.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace slmsim {

// What decides which values make sense.
struct GroupFacts {
  int gpus = 0;
  int vms = 0;
  int least_of_vm = 0;     // the most GPUs that divide every VM's number
  bool mixed = false;      // GPUs of different models
  bool equal_vms = false;  // several VMs with equally many GPUs, at least two

  auto operator<=>(const GroupFacts&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
};

struct VariationRequest {
  const Scenario& scenario;
  const Transformer& model;
  const TechniqueOptions& base;    // as the scenario has them
  const TechniqueOptions& so_far;  // with the variations before this one
  const GroupFacts& group;
};

struct Variation {
  std::vector<int> (*values)(const VariationRequest&);
  void (*apply)(TechniqueOptions& options, int value, const Scenario& scenario, int gpus);
  // "GPipe": what a plan with this value is; empty: nothing to say.
  std::string (*words)(const TechniqueOptions& options, int value);
  // Such an earlier variation of the same technique is changed together with this one, too: a degree goes with the stages
  // that it is one of. -1: none.
  int with = -1;
};

// Degrees and numbers of stages that are tried on a platform: all of a small one, else powers of two.
std::vector<int> counts_to_try(const Platform& platform);
// 0 alone, or 0 and 1.
std::vector<int> yes_or_no(bool both);

}  // namespace slmsim
