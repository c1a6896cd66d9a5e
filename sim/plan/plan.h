// Who does what: which GPUs hold which operators, how each operator is divided over them, and in which order
// the micro-batches run. Everything a planner may decide is here; lowering it to tasks takes no further
// decision.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/cost/compression.h"
#include "sim/cost/roofline.h"
#include "sim/model/operator.h"
#include "sim/plan/round_plan.h"
#include "sim/plan/sharding.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// The names of an option's values, in their order, are those that scenarios use.

// How a pipeline orders its micro-batches. kOneForwardOneBackward: a stage of p keeps at most p - s in flight
// (PipeDream-Flush, arXiv 2006.09503). kGpipe: all forward, then all backward (arXiv 1811.06965). kZeroBubble: 1F1B whose
// backward pass computes the inputs' gradients only, and the weights' s micro-batches later on stage s (ZB-H1, arXiv
// 2401.10241, section 2.2).
enum class Schedule { kOneForwardOneBackward, kGpipe, kZeroBubble };
const std::vector<std::string>& schedule_names();

// Which of a stage's messages and computations wait for each other, by the framework that runs the pipeline
// (sim/lower/pipeline_commands.h).
enum class SendOrder { kAlpa, kDeepSpeed, kMegatron, kAsynchronous };
const std::vector<std::string>& send_order_names();

// How ZeRO-2's GPUs come to own their part of the summed gradients.
enum class GradientCollective { kReduceScatter, kAllReduce };
const std::vector<std::string>& gradient_collective_names();

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

// What GPUs that hold the same parameters tell each other, and when.
enum class Exchange {
  kGradients,   // before every optimizer step
  kParameters,  // after the last step of a round: in between each GPU goes its own way (local SGD, arXiv 1805.09767)
};

// What the job repeats: a round, from one exchange to the next. It is what is lowered and simulated; figures that are told
// of an iteration are of one of its optimizer steps on the mean.
struct Workload {
  int steps = 1;  // optimizer steps of a round, each on a batch of its own
  Exchange exchange = Exchange::kGradients;
  bool backward = true;  // false: forward passes only, nothing is learned
  int warm_up = 0;  // of the job's steps, the first ones, which exchange whole gradients where others compress them
  bool warming = false;  // this is one of them

  bool operator==(const Workload&) const = default;
};

// What data-parallel GPUs do with the gradients they share.
enum class Optimizer {
  kReplicated,  // all-reduce; every GPU updates all parameters
  kDivided,     // ZeRO-2: every GPU owns, updates and gathers its part
};

// Operators divided over meshes, as Alpa runs them.
struct OperatorPlan {
  Schedule schedule = Schedule::kOneForwardOneBackward;
  SendOrder order = SendOrder::kAsynchronous;
  int ahead = 0;  // of 1F1B: forward passes more in flight for each boundary to the last stage
  Optimizer optimizer = Optimizer::kReplicated;
  GradientCollective gradient_collective = GradientCollective::kReduceScatter;
  Precision gathered = Precision::kFp16;  // of the parameters that kDivided gathers
  bool hierarchical = false;              // gradients are summed inside each VM first
  int pieces = 1;                         // in so many pieces one behind the other

  bool operator==(const OperatorPlan&) const = default;
};

// Where a state of the training lives.
enum class StatePlace { kGpu, kHost, kDrive };

// Replicas as PyTorch and DeepSpeed run them: what they divide among themselves, and where it lives.
struct ReplicaPlan {
  int stage = 0;  // of ZeRO; 0: DDP
  StatePlace optimizer = StatePlace::kGpu;
  StatePlace parameters = StatePlace::kGpu;  // of stage 3
  Bytes bucket;                              // of DDP
  bool bucket_views = false;                 // gradients lie in DDP's buckets
  bool no_sync = true;  // of DDP: of several micro-batches only the last one's gradients are reduced
  Bytes buffers;        // of DDP: what its first rank broadcasts before a forward pass
  Compression compression = {};

  bool operator==(const ReplicaPlan&) const = default;
};

// What PyTorch's FullyShardedDataParallel divides (its ShardingStrategy). kHybrid and kHybridGradOp divide inside each VM and
// keep replicas between VMs; kGradOp and kHybridGradOp keep parameters from the forward to the backward pass.
enum class FsdpStrategy { kFull, kGradOp, kHybrid, kHybridGradOp };
const std::vector<std::string>& fsdp_strategy_names();
// When it gathers the next unit in the backward pass: before or after it computes the gradients of this one, or not ahead.
enum class FsdpPrefetch { kBefore, kAfter, kNone };
const std::vector<std::string>& fsdp_prefetch_names();

struct FsdpPlan {
  int shards = 1;  // GPUs over which a parameter is divided: all, or those of a VM
  FsdpStrategy strategy = FsdpStrategy::kFull;
  FsdpPrefetch backward = FsdpPrefetch::kBefore;
  bool forward_prefetch = false;
  bool limit_all_gathers = true;  // at most two freed units behind the one that computes
  bool offload = false;           // parameters, gradients and optimizer in host memory
  bool no_sync = true;            // of several micro-batches only the last one's gradients are reduced

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
      true;  // the tensor-parallel exchange of an input's gradient goes on while that of the weights is computed
  bool distributed_optimizer = false;      // each replica updates its part of the parameters (arXiv 1910.02054, P_os)
  Precision gradients = Precision::kFp16;  // kept, added up and exchanged
  SendOrder order = SendOrder::kAsynchronous;

  bool operator==(const MegatronPlan&) const = default;
};

struct Plan {
  const Technique* technique = nullptr;
  std::vector<Stage> stages;
  int micro_batches = 1;
  Recompute recompute = Recompute::kNone;
  Workload workload = {};
  std::variant<OperatorPlan, ReplicaPlan, MegatronPlan, FsdpPlan, RoundPlan> by;  // who runs it, and how

  const OperatorPlan& operators() const { return std::get<OperatorPlan>(by); }
  const ReplicaPlan& replicas() const { return std::get<ReplicaPlan>(by); }
  const MegatronPlan& megatron() const { return std::get<MegatronPlan>(by); }
  const FsdpPlan& fsdp() const { return std::get<FsdpPlan>(by); }
  const RoundPlan& round() const { return std::get<RoundPlan>(by); }

  bool operator==(const Plan&) const = default;
};

// How its pipeline orders micro-batches and messages, and whether the optimizer's state is divided, whoever runs it.
Schedule schedule_of(const Plan& plan);
SendOrder send_order_of(const Plan& plan);
Optimizer optimizer_of(const Plan& plan);

// Either a plan or why there is none.
struct PlanResult {
  std::optional<Plan> plan;
  std::string reason;
};

// The sequences of one micro-batch.
inline double micro_batch_sequences(const Plan& plan, const Training& training) {
  return static_cast<double>(training.batch) / plan.micro_batches;
}

// Backward passes run in the reverse order of stages; stage `s` of `stages` keeps the activations of so many micro-batches:
// with 1F1B p - s, and `ahead` more for each of the p - s - 1 boundaries behind it.
int micro_batches_in_flight(Schedule schedule, int micro_batches, std::size_t stages, std::size_t stage, int ahead = 0);
// Beside these, micro-batches that are back but for the gradients of weights.
int weights_in_flight(Schedule schedule, int micro_batches, std::size_t stage);

// What share of an operator of a model of so many layers is computed anew in the backward pass.
double share_computed_anew(const Operator& op, Recompute recompute, int layers);
// Whether a layer is computed anew from its input, which is kept.
bool begins_with_input(Recompute recompute);

// What a batch that is cut into micro-batches must be; empty where it is.
std::string uneven_micro_batches(const Training& training, int micro_batches);

// The batches next to one that are multiples of a number: "12 and 16".
std::string nearest_batches(int batch, int factor);

// GPUs of the plan, each once, in the order of their numbers.
std::vector<int> devices_of(const Plan& plan);

}  // namespace slmsim
