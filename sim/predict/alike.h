// What is alike is simulated once: equal GPUs of a plan, and groups of GPUs that differ in names only.
#pragma once

#include <optional>
#include <vector>

#include "sim/predict/repeating.h"
#include "sim/technique/common/plan.h"
#include "sim/technique/common/technique.h"

namespace slmsim {

// The tasks of a plan with equal GPUs merged (sim/engine/fold.h), so that the work of equal replicas, tensor-parallel ranks and
// edges of rings is simulated once.

// GPUs to merge: equal ones in equal VMs of one site, in the same stages of the plan and with equal shares of the batch.
Colouring alike_in_plan(const Plan& plan, const Platform& platform);

// Task graph of the plan by its technique. Devices are merged where the times are proved to stay the same: first all that may
// be equal, then fewer, as the plan's connections tell them apart, down to the whole graph.
Lowered lower_alike(const LowerRequest& request);

// Groups of GPUs that differ in names only. Where a scenario tries each VM alone, equal VMs train alike: the iteration of one
// of them is simulated. The parts that name GPUs (plan, memory, advice, remarks) are computed for each.

// Index, for each group, of the first group that has the same GPUs of one VM of the same kind (vm_kinds); its own index where
// there is none, and always for a group of several VMs, because the links between these have figures of their own.
std::vector<std::size_t> first_alike(const Platform& platform, const std::vector<Group>& groups);

// The iteration of one group inside a VM, shared by the groups that equal it.
class SharedIteration {
 public:
  void keep(const Platform& platform, const Plan& plan, const Iteration& iteration);
  // nullptr: none is kept, or the plan differs in more than the VM.
  const Iteration* of(const Platform& platform, const Plan& plan) const;

 private:
  std::optional<Plan> plan_;  // devices counted from the VM's first one
  Iteration iteration_;
};

}  // namespace slmsim
