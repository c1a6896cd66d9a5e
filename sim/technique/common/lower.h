// Converts a plan to the tasks of one iteration: computations, collectives and transfers between stages. The technique
// determines how: by operators (operator_run.h), by layers on streams (replica_run.h), or as Megatron-LM
// (megatron_run.h).
#pragma once

#include <optional>

#include "sim/engine/task_graph.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

struct LowerRequest {
  const Plan& plan;
  const OperatorGraph& operators;
  const Scenario& scenario;
  const Network& network;
  const Colouring* alike = nullptr;  // devices that may be folded (fold.h); none: each by itself
  int only_micro_batches = 0;      // number of the plan's micro-batches to lower; 0: all

  int micro_batches() const { return only_micro_batches > 0 ? only_micro_batches : plan.micro_batches; }
};

// `only_micro_batches` must be a multiple of it: with chunks a stage switches chunks after one micro-batch per stage
// (arXiv 2104.04473, section 2.2).
int micro_batch_round(const Plan& plan);

// A graph without tasks.
TaskGraph begin_graph(const LowerRequest& request, std::vector<Link> links);
inline TaskGraph begin_graph(const LowerRequest& request) { return begin_graph(request, request.network.links()); }

struct Lowered {
  TaskGraph graph;
  std::optional<TimeBasis> basis;  // of all computation of the iteration, if GPUs have measured kernels
};

bool has_measured_kernels(const LowerRequest& request);

// Time before an iteration: every GPU's launch, and the driver's messages to the farthest GPU. The driver runs with the
// plan's first GPU.
Seconds driver_launch(const LowerRequest& request);

inline TaskClass class_of(Pass pass) { return pass == Pass::kBackward ? TaskClass::kBackward : TaskClass::kForward; }

// "embedding", "L3", "L0-11", "head": layers from `first` to `last` of `layers`.
std::string layers_text(int first, int last, int layers);

}  // namespace slmsim
