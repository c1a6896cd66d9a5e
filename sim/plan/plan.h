// Who does what: which GPUs hold which operators, how each operator is divided over them, and in which order
// the micro-batches run. Everything a planner may decide is here; lowering it to tasks takes no further
// decision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cost/roofline.h"
#include "sim/model/operator_graph.h"
#include "sim/plan/sharding.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Consecutive operators on a mesh of GPUs. A plan without pipeline has one stage.
struct Stage {
  std::size_t first = 0, last = 0;   // operators [first, last) by their number in the operator graph
  std::vector<int> mesh;             // devices, in ring order
  std::vector<Division> shardings;   // of operators first, first + 1, ...
  std::vector<double> batch_shares;  // per device of the mesh: its part of a micro-batch where kBatch; sums to 1
  int columns = 1;                   // of the mesh; its rows follow one another

  MeshShape shape() const { return {static_cast<int>(mesh.size()) / columns, columns}; }
  // The ranks of each group of GPUs along these axes, in ring order.
  std::vector<std::vector<std::size_t>> groups(Axes axes) const;

  bool operator==(const Stage&) const = default;
};

// What data-parallel GPUs do with the gradients they share.
enum class Optimizer {
  kReplicated,  // all-reduce; every GPU updates all parameters
  kDivided,     // ZeRO-2: every GPU owns, updates and gathers its part
};

// Where a state of the training lives.
enum class StatePlace { kGpu, kHost, kDrive };

// Replicas as PyTorch and DeepSpeed run them: what they divide among themselves, and where it lives.
struct ReplicaPlan {
  int stage = 0;  // of ZeRO; 0: DDP
  StatePlace optimizer = StatePlace::kGpu;
  StatePlace parameters = StatePlace::kGpu;  // of stage 3
  Bytes bucket;                              // of DDP

  bool operator==(const ReplicaPlan&) const = default;
};

struct Plan {
  Technique technique = Technique::kData;
  std::vector<Stage> stages;
  int micro_batches = 1;
  Schedule schedule = Schedule::kOneForwardOneBackward;
  Optimizer optimizer = Optimizer::kReplicated;
  GradientCollective gradient_collective = GradientCollective::kReduceScatter;
  Precision gathered = Precision::kFp16;  // of the parameters that kDivided gathers
  bool hierarchical = false;              // gradients are summed inside each VM first
  // One of these where PyTorch, DeepSpeed or Megatron-LM runs the plan.
  std::optional<ReplicaPlan> replicas;
  std::optional<MegatronOptions> megatron;  // all degrees settled

  bool operator==(const Plan&) const = default;
};

// Either a plan or why there is none.
struct PlanResult {
  std::optional<Plan> plan;
  std::string reason;
};

// The sequences of one micro-batch.
inline double micro_batch_sequences(const Plan& plan, const Training& training) {
  return static_cast<double>(training.batch) / plan.micro_batches;
}

// Whether layers are computed anew in the backward pass, whole.
inline bool recomputes_layers(const Plan& plan, const Training& training) {
  return plan.megatron ? plan.megatron->recompute == Recompute::kFull : training.rematerialisation;
}

// Backward passes run in the reverse order of stages; a stage keeps the activations of so many micro-batches.
int micro_batches_in_flight(const Plan& plan, std::size_t stage);

}  // namespace slmsim
