// A stage of given operators on a given mesh, divided by the planner that the options name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/technique/common/plan.h"

namespace slmsim {

struct StageRequest {
  const PlanRequest& request;
  const Network* network = nullptr;  // needed by Planner::kSlmsim
  std::size_t first = 0, last = 0;   // operators [first, last)
  std::vector<int> mesh;
  int columns = 1;  // of the mesh
  int micro_batches_in_flight = 1;
  std::optional<Bytes> memory_limit;
};

struct StageResult {
  std::optional<Stage> stage;
  double cost = 0;  // in the planner's unit
  std::string reason;
};

StageResult plan_stage(const StageRequest& request);

// Memory of a GPU for parameters, their state and activations: without framework and NCCL's buffers.
Bytes memory_for_operators(const Scenario& scenario, const std::vector<int>& mesh);

}  // namespace slmsim
