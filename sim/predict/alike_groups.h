// Groups of GPUs that are the same up to names. Where a scenario tries each VM alone, equal VMs train alike: the iteration of one
// of them is simulated. What names them (plan, memory, advice, remarks) is found out for each.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/predict/repeating.h"

namespace slmsim {

// For each group the first of the list that has the same GPUs of one VM of the same kind (vm_kinds); itself where there is none,
// and of several VMs always, since what joins these has figures of its own.
std::vector<std::size_t> first_alike(const Platform& platform, const std::vector<Group>& groups);

// An iteration of one group inside a VM, for those that are like it.
class SharedIteration {
 public:
  void keep(const Platform& platform, const Plan& plan, const Iteration& iteration);
  // nullptr: none was kept, or of a plan that differs in more than the VM.
  const Iteration* of(const Platform& platform, const Plan& plan) const;

 private:
  std::optional<Plan> plan_;  // devices counted from the VM's first one
  Iteration iteration_;
};

}  // namespace slmsim
