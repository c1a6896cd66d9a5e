// A complete plan: the GPUs of each operator, the division of each operator over them, and the order of the
// micro-batches. It holds all decisions of a planner; lowering it to tasks decides nothing.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/compute/compression.h"
#include "sim/compute/operator.h"
#include "sim/compute/roofline.h"
#include "sim/scenario/scenario.h"
#include "sim/technique/common/sharding.h"
#include "sim/technique/rounds/round_plan.h"

namespace slmsim {

// Names of option values are in enumerator order and are those that scenarios use.

// The order of a pipeline's micro-batches. kOneForwardOneBackward: stage s of p keeps at most p - s in flight
// (PipeDream-Flush, arXiv 2006.09503). kGpipe: all forward, then all backward (arXiv 1811.06965). kZeroBubble: 1F1B
// whose backward pass computes the inputs' gradients only, and the weights' s micro-batches later on stage s (ZB-H1,
// arXiv 2401.10241, section 2.2).
enum class Schedule { kOneForwardOneBackward, kGpipe, kZeroBubble };
const std::vector<std::string>& schedule_names();

// The dependencies between a stage's messages and computations, by the framework that runs the pipeline
// (sim/technique/common/pipeline_commands.h).
enum class SendOrder { kAlpa, kDeepSpeed, kMegatron, kAsynchronous };
const std::vector<std::string>& send_order_names();

// The collective by which ZeRO-2's GPUs obtain their part of the summed gradients.
enum class GradientCollective { kReduceScatter, kAllReduce };
const std::vector<std::string>& gradient_collective_names();

// Consecutive operators on a mesh of GPUs. A plan without pipeline has one stage.
struct Stage {
  std::size_t first = 0, last = 0;   // operators [first, last) by their number in the operator graph
  std::vector<int> mesh;             // devices, in ring order
  std::vector<Division> shardings;   // of operators first, first + 1, ...
  std::vector<double> batch_shares;  // per device of the mesh: its part of a micro-batch where kBatch; sums to 1
  int columns = 1;                   // of the mesh, in row-major order
  // GPUs of a row that divide the tokens of operators which tensor parallelism leaves whole (arXiv 2205.05198).
  int token_parts = 1;

  MeshShape shape() const { return {static_cast<int>(mesh.size()) / columns, columns}; }
  std::vector<std::vector<std::size_t>> groups(Axes axes) const { return groups_along(axes, shape()); }

  bool operator==(const Stage&) const = default;
};

// The exchange between GPUs with the same parameters, and its time.
enum class Exchange {
  kGradients,   // before every optimizer step
  kParameters,  // after the last step of a round; in between the GPUs train independently (local SGD, arXiv 1805.09767)
};

// The repeated unit of a job: a round, from one exchange to the next. It is lowered and simulated; reported figures of
// an iteration are means over its optimizer steps.
struct Workload {
  int steps = 1;  // optimizer steps of a round, each on a batch of its own
  Exchange exchange = Exchange::kGradients;
  bool backward = true;  // false: forward passes only
  int warm_up = 0;       // number of the job's first steps that exchange whole gradients where later ones compress them
  bool warming = false;  // this is such a step

  bool operator==(const Workload&) const = default;
};

// Treatment of shared gradients by data-parallel GPUs.
enum class Optimizer {
  kReplicated,  // all-reduce; every GPU updates all parameters
  kDivided,     // ZeRO-2: every GPU owns, updates and gathers its part
};

// Operators divided over meshes, as in Alpa.
struct OperatorPlan {
  Schedule schedule = Schedule::kOneForwardOneBackward;
  SendOrder order = SendOrder::kAsynchronous;
  int ahead = 0;  // for 1F1B: additional forward passes in flight per boundary to the last stage
  Optimizer optimizer = Optimizer::kReplicated;
  GradientCollective gradient_collective = GradientCollective::kReduceScatter;
  Precision gathered = Precision::kFp16;  // of the parameters that kDivided gathers
  bool hierarchical = false;              // gradients are summed inside each VM first
  int pieces = 1;                         // number of pieces, one after the other

  bool operator==(const OperatorPlan&) const = default;
};

// Storage of a state of the training.
enum class StatePlace { kGpu, kHost, kDrive };

// Replicas as PyTorch and DeepSpeed run them: the division of their states, and their storage.
struct ReplicaPlan {
  int stage = 0;  // of ZeRO; 0: DDP
  StatePlace optimizer = StatePlace::kGpu;
  StatePlace parameters = StatePlace::kGpu;  // for stage 3
  Bytes bucket;                              // of DDP
  bool bucket_views = false;                 // gradients lie in DDP's buckets
  bool no_sync = true;  // for DDP: of several micro-batches, only the last one's gradients are reduced
  Bytes buffers;        // for DDP: broadcast by its first rank before a forward pass
  Compression compression = {};

  bool operator==(const ReplicaPlan&) const = default;
};

// States that PyTorch's FullyShardedDataParallel divides (its ShardingStrategy). kHybrid and kHybridGradOp divide
// inside groups of replicas, a VM each by default, and keep copies between groups; kGradOp and kHybridGradOp keep parameters from the forward to the
// backward pass.
enum class FsdpStrategy { kFull, kGradOp, kHybrid, kHybridGradOp };
const std::vector<std::string>& fsdp_strategy_names();
// The time at which FSDP gathers the next unit in the backward pass: before or after the gradients of the current unit,
// or without prefetching.
enum class FsdpPrefetch { kBefore, kAfter, kNone };
const std::vector<std::string>& fsdp_prefetch_names();

// Embedding, head and loss under tensor parallelism by PyTorch's DTensor. kDivided: by the vocabulary. kGathered: likewise,
// but logits are gathered for the loss. kWhole: on each GPU.
enum class TensorEnds { kDivided, kGathered, kWhole };
const std::vector<std::string>& tensor_ends_names();

// Tensor parallelism by PyTorch's DTensor: exchanges around the products of a layer.
struct TensorPlan {
  int tensor = 1;                 // GPUs over which a layer is divided
  bool sequence_parallel = true;  // norms and residuals by tokens
  bool by_product = false;        // inputs are exchanged for each product, not once for the products that share them
  TensorEnds ends = TensorEnds::kDivided;

  // GPUs over which an operator's weights are divided.
  int parts(bool inside_layers) const { return inside_layers || ends != TensorEnds::kWhole ? tensor : 1; }
  bool operator==(const TensorPlan&) const = default;
};

// Ranks are in the order tensor-parallel GPUs, replicas, stages.
struct FsdpPlan {
  int shards = 1;    // replicas over which a parameter is divided: all, or those of a VM or another group
  int replicas = 1;  // of each stage
  int pipeline = 1;  // stages; parameters then stay whole from the first micro-batch to the last
  int unit_layers = 1;
  TensorPlan tensor = {};
  bool states_groups = false;  // the size of a hybrid strategy's groups is the scenario's, not a VM's
  FsdpStrategy strategy = FsdpStrategy::kFull;
  FsdpPrefetch backward = FsdpPrefetch::kBefore;
  bool forward_prefetch = false;
  bool limit_all_gathers = true;  // at most two freed units behind the computing one
  bool offload = false;           // parameters, gradients and optimizer in host memory
  bool no_sync = true;            // of several micro-batches, only the last one's gradients are reduced

  bool is_grid() const { return tensor.tensor > 1 || pipeline > 1; }
  bool is_hybrid() const { return strategy == FsdpStrategy::kHybrid || strategy == FsdpStrategy::kHybridGradOp; }
  bool frees_after_forward() const { return strategy == FsdpStrategy::kFull || strategy == FsdpStrategy::kHybrid; }

  bool operator==(const FsdpPlan&) const = default;
};

// Degrees of Megatron-LM; tensor x pipeline x data GPUs.
struct MegatronPlan {
  int tensor = 1, pipeline = 1, data = 1;
  int chunks = 1;  // of layers per GPU: more than 1 is the interleaved schedule (arXiv 2104.04473)
  bool sequence_parallel = false;
  bool overlap =
      true;  // the tensor-parallel exchange of an input's gradient overlaps with the computation of the weights' gradient
  bool distributed_optimizer = false;      // each replica updates its part of the parameters (arXiv 1910.02054, P_os)
  int optimizer_instances = 1;             // groups of replicas that divide the optimizer's state among themselves
  Precision gradients = Precision::kFp16;  // stored, accumulated and exchanged
  SendOrder order = SendOrder::kAsynchronous;

  // Replicas that divide the optimizer's state.
  int optimizer_parts() const { return distributed_optimizer ? data / optimizer_instances : 1; }

  bool operator==(const MegatronPlan&) const = default;
};

struct Plan {
  const Technique* technique = nullptr;
  std::vector<Stage> stages;
  int micro_batches = 1;
  Recompute recompute = Recompute::kNone;
  Workload workload = {};
  std::variant<OperatorPlan, ReplicaPlan, MegatronPlan, FsdpPlan, RoundPlan> by;  // the framework that runs it

  const OperatorPlan& operators() const { return std::get<OperatorPlan>(by); }
  const ReplicaPlan& replicas() const { return std::get<ReplicaPlan>(by); }
  const MegatronPlan& megatron() const { return std::get<MegatronPlan>(by); }
  const FsdpPlan& fsdp() const { return std::get<FsdpPlan>(by); }
  const RoundPlan& round() const { return std::get<RoundPlan>(by); }

  bool operator==(const Plan&) const = default;
};

// The pipeline's order of micro-batches and messages, and whether the optimizer's state is divided, for any framework.
Schedule schedule_of(const Plan& plan);
SendOrder send_order_of(const Plan& plan);
Optimizer optimizer_of(const Plan& plan);

// A plan, or the reason why there is none.
struct PlanResult {
  std::optional<Plan> plan;
  std::string reason;
};

// The sequences of one micro-batch.
inline double micro_batch_sequences(const Plan& plan, const Training& training) {
  return static_cast<double>(training.batch) / plan.micro_batches;
}

// Whether each GPU computes its own sequences: all operators are divided by the batch alone, in one stage.
bool deals_sequences(const Plan& plan);

// Number of micro-batches whose activations stage `stage` of `stages` keeps: with 1F1B p - s, and `ahead` more for each
// of the p - s - 1 boundaries behind it. Backward passes run in the reverse order of stages.
int micro_batches_in_flight(Schedule schedule, int micro_batches, std::size_t stages, std::size_t stage, int ahead = 0);
// In addition to these, micro-batches whose gradients of weights are still to be computed.
int weights_in_flight(Schedule schedule, int micro_batches, std::size_t stage);

// Recomputed share of an operator in the backward pass, in a model of `layers` layers.
double share_computed_anew(const Operator& op, Recompute recompute, int layers);
// Whether a layer is recomputed from its input, which is kept.
bool begins_with_input(Recompute recompute);

// The condition that a batch violates if it cannot be cut into these micro-batches; empty where it can.
std::string uneven_micro_batches(const Training& training, int micro_batches);

// The nearest multiples of a number around a batch: "12 and 16".
std::string nearest_batches(int batch, int factor);

// GPUs of the plan, each once, in ascending order.
std::vector<int> devices_of(const Plan& plan);

struct StageTables;

// Input of a technique's planning function.
struct PlanRequest {
  const Scenario& scenario;
  const Transformer& model;
  const OperatorGraph& operators;
  const Group& group;
  const TechniqueOptions& options;
  // Known figures of stages (sim/technique/alpa/planner/stage_choice.h), to which the planner adds; none: it keeps its own.
  StageTables* tables = nullptr;
};

// A scenario with one group of GPUs and one technique's options: the input of a plan.
struct RunSetup {
  Scenario scenario;
  Group group;
  TechniqueOptions options;
};

}  // namespace slmsim
