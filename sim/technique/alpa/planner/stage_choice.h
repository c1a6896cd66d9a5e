// The inter-operator planner's problem for a group, and its solution: the layers and GPUs of each stage.
//
// Stage times are those of the intra-operator planner's divisions on the submesh, by this platform's times (Alpa
// measures its candidates on the machine). Submeshes are 1, 2, 4, ... neighbouring GPUs of a VM, whole VMs, and 2, 4,
// ... whole neighbouring VMs; with `tensor` those that it divides: inside a VM `tensor`, 2 x `tensor`, ... GPUs.
#pragma once

#include <optional>
#include <vector>

#include "sim/technique/common/plan_request.h"
#include "sim/technique/alpa/planner/inter_operator.h"

namespace slmsim {

struct ChosenStage {
  std::size_t first = 0, last = 0;  // operators
  std::vector<int> mesh;
};

// Planner kAlpa uses the group's order of GPUs and ignores the traffic between stages; kSlmsim counts it and, for up to
// four VMs, tries every order. Empty where nothing fits.
std::vector<ChosenStage> choose_stages(const PlanRequest& request, const Network& network);

}  // namespace slmsim
