#include <algorithm>

#include <boost/range/iterator_range.hpp>

#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/replicas/replicas.h"

namespace slmsim {
namespace {

// Sub-groups of Infinity in host memory at once: read, updated, written, and one spare (DeepSpeed's buffer_count).
constexpr double kSwapBuffers = 4;
// Parameters of a rank in one update of ZeRO-3 (DeepSpeed's stage3 sub_group_size).
constexpr double kStepped = 1e9;
constexpr int kEngineCopies = 2;  // Framework::gradient_copies of DeepSpeed's engine

// The model's tensors as compression of this rank treats them.
LowRankBucket all_gradients(const OperatorGraph& operators, int rank) {
  LowRankBucket out;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators)))
    out.add(gradient_tensors(operators[v]), rank);
  return out;
}

// Elements of the largest trained tensor.
double largest_tensor(const OperatorGraph& operators) {
  double out = 0;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    const Operator& op = operators[v];
    const bool table = op.kind == OperatorKind::kEmbedding;
    const double own = table ? static_cast<double>(op.rows * op.columns) : op.weights - op.bias;
    if (op.parameters > 0) out = std::max(out, own);
  }
  return out;
}

// Bytes that a forward pass with recomputed layers under autocast does not hold at one time: the layers' 16-bit weights, which its
// cache frees at the end (aten/src/ATen/autocast_mode.cpp, clear_cache), and the gradient of the logits, 4 bytes of fp32 less the
// logits themselves, which the model's function holds until it returns.
Bytes never_at_once(const Plan& plan, const OperatorGraph& operators, std::size_t rank, const Scenario& scenario) {
  if (!scenario.software.autocast || !begins_with_input(plan.recompute)) return {};
  const double size = element_bytes(scenario.training.precision), full = element_bytes(Precision::kFp32);
  const Stage& stage = plan.stages.front();
  const int layers = layer_count(operators);
  double weights = 0, logits = 0;
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const Operator& op = operators[stage.first + i];
    if (op.kind == OperatorKind::kMatrix && is_inside_layers(op, layers)) weights += op.weights;
    if (op.kind == OperatorKind::kLoss)
      logits += op.outputs * share_of(stage, i, rank, micro_batch_sequences(plan, scenario.training)).sequences;
  }
  return Bytes{std::min(size * weights, (full - size) * logits)};
}

// Memory of a GPU at each moment of an iteration. References to DeepSpeed's files are to release 0.7.1.
class ReplicaMoments {
 public:
  ReplicaMoments(const Plan& plan, const OperatorGraph& operators, const CompressionMemory& compressed,
                 const Scenario& scenario, std::size_t ranks)
      : replicas_(plan.replicas()),
        framework_(scenario.framework),
        training_(scenario.training),
        software_(scenario.software),
        bytes_(scenario.training),
        compressed_(compressed),
        held_(held_parameters(operators, plan.stages.front()).all),
        trained_(trained_count(operators)),
        largest_(largest_tensor(operators)),
        tied_(tied_parameters(operators)),
        ranks_(static_cast<double>(ranks)),
        several_(plan.micro_batches > 1) {}

  // `empty`: limit, framework, and NCCL's buffers.
  // `apart`: of never_at_once.
  DeviceMemory most(const DeviceMemory& empty, const ActivationBytes& activations, Bytes apart) const {
    DeviceMemory always = empty;
    const bool on_drive = replicas_.parameters == StatePlace::kDrive;
    always.parameters = Bytes{on_drive ? 0.0 : bytes_.weight * (replicas_.stage == 3 ? held_ / ranks_ : held_)};
    if (on_gpu()) always.optimizer = Bytes{bytes_.optimizer() * (replicas_.stage == 0 ? trained_ : own())};
    always.buffers += compressed_.kept;
    if (in_buckets() && !replicas_.bucket_views) always.buffers += Bytes{trained_ * bytes_.gradient};
    return larger_of(
        larger_of(larger_of(backward(always, activations), forward(always, activations, apart)), step(always)),
        gather(always));
  }

 private:
  bool on_gpu() const { return replicas_.optimizer == StatePlace::kGpu; }
  // DDP's buckets hold copies of all gradients. DeepSpeed's engine without ZeRO, whose optimizer makes two copies,
  // flattens one bucket at a time instead (engine.py, buffered_allreduce_fallback).
  bool in_buckets() const { return is_torch() && ranks_ > 1; }
  // PyTorch alone, without DeepSpeed's engine.
  bool is_torch() const {
    return replicas_.stage == 0 && replicas_.bucket > Bytes{0} && framework_.gradient_copies < kEngineCopies;
  }
  double own() const { return trained_ / ranks_; }
  // DeepSpeed releases gradients after the optimizer's step (zero_grad), except those of earlier micro-batches and
  // ZeRO-3's (stage3.py, __param_id_to_grad_partition). So does PyTorch since 2.0 (Optimizer.zero_grad, set_to_none),
  // except for those in DDP's buckets.
  bool keeps_gradients() const {
    if (several_ || replicas_.stage == 3) return true;
    if (is_torch()) return in_buckets() && replicas_.bucket_views;
    return replicas_.stage == 0;
  }
  // 16-bit copies of the weights are freed with the activations for which autocast keeps them.
  Bytes copies_left(Bytes parameters) const { return is_torch() && software_.autocast ? Bytes{0} : parameters; }
  // Temporaries of PyTorch's Adam during its step: over lists of tensors (foreach) the roots of all second moments,
  // tensor by tensor two of the largest (torch/optim/adamw.py).
  Bytes temporaries() const {
    if (!is_torch() || !training_.update().is_adam()) return {};
    const double element = training_.update().element();
    if (software_.adam_kernel == "adam_foreach") return Bytes{element * trained_};
    return Bytes{software_.adam_kernel == "adam_single" ? 2 * element * largest_ : 0.0};
  }

  Bytes gradients() const {
    if (replicas_.stage < 2) return Bytes{bytes_.gradient * trained_};
    return Bytes{on_gpu() ? bytes_.gradient * own() : 0.0};  // to the host they leave bucket by bucket
  }

  Bytes bucket() const { return Bytes{bytes_.gradient * std::min(framework_.reduce_bucket, trained_)}; }
  // Buckets present during the whole backward pass: one is filled while the other is reduced. ZeRO-1 reduces after the
  // pass, from a bucket that is flattened then; with its optimizer on the host, from one that exists before
  // (stage_1_and_2.py, backward, allreduce_bucket, "contiguous_gradients or cpu_offload").
  Bytes filled() const {
    if (replicas_.stage < 2) return bucket() * (replicas_.stage == 1 && !on_gpu() ? 1.0 : 0.0);
    return bucket() * 2.0;
  }
  Bytes open() const {
    return Bytes{replicas_.stage == 3 ? bytes_.weight * std::min(framework_.live_parameters, held_) : 0.0};
  }

  DeviceMemory forward(DeviceMemory m, const ActivationBytes& activations, Bytes apart) const {
    m.moment = Moment::kForward;
    if (is_torch()) m.parameters -= apart;
    if (keeps_gradients()) m.gradients = gradients();
    m.activations = activations.kept;
    m.buffers += open() + filled();
    return m;
  }

  DeviceMemory backward(DeviceMemory m, const ActivationBytes& activations) const {
    m.moment = Moment::kBackward;
    m.gradients = gradients();
    m.parameters = copies_left(m.parameters);
    m.activations = activations.layer;
    m.buffers += open() + filled();
    // A tied table's gradient by the lookup is added to the head's after the layers' backward pass.
    const Bytes table{is_torch() ? bytes_.gradient * tied_ : 0.0};
    m.buffers += std::max(Bytes{0}, table - m.activations);
    if (replicas_.stage == 1 && on_gpu() && bucket() > m.activations) {
      m.buffers += bucket() - m.activations;  // in their place
    }
    return m;
  }

  DeviceMemory step(DeviceMemory m) const {
    m.moment = Moment::kStep;
    m.gradients = gradients();
    if (replicas_.stage == 0) {
      m.parameters = copies_left(m.parameters);
      // Gradients reduced after the passes bucket by bucket, where DDP does not, and encoded data; then copies.
      const Bytes reduced = (is_torch() ? Bytes{0} : bucket()) + compressed_.passing;
      const Bytes copied{trained_ * bytes_.gradient_copy * framework_.gradient_copies};
      m.buffers += std::max(reduced, copied + temporaries());
    } else if (on_gpu()) {
      // Gradients of its own part, flattened, then converted; in ZeRO-3 a sub-group at a time (stage_1_and_2.py, step;
      // stage3.py, _prepare_fp32_grad_for_sub_group).
      m.gradients = Bytes{bytes_.gradient * own()};
      const double at_once = replicas_.stage == 3 ? std::min(own(), kStepped) : own();
      m.buffers += Bytes{at_once * (bytes_.gradient + bytes_.gradient_copy)};
    } else {
      m.gradients = Bytes{0};
    }
    return m;
  }

  // Gradients are freed.
  DeviceMemory gather(DeviceMemory m) const {
    m.moment = Moment::kStep;
    if (replicas_.stage == 1 || replicas_.stage == 2)
      m.buffers += Bytes{bytes_.weight * std::min(framework_.gather_bucket, held_)};
    return m;
  }

  const ReplicaPlan& replicas_;
  const Framework& framework_;
  const Training& training_;
  const Software& software_;
  StateBytes bytes_;
  CompressionMemory compressed_;
  double held_, trained_, largest_, tied_, ranks_;
  bool several_;
};

}  // namespace

std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario) {
  return memory_of_replicas(plan, operators, scenario, plan.stages.front().mesh.size());
}

std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario,
                                             std::size_t ranks) {
  std::vector<DeviceMemory> out;
  const Stage& stage = plan.stages.front();
  const Compression& compression = plan.replicas().compression;
  const CompressionMemory compressed =
      compression_memory(compression, all_gradients(operators, compression.rank), static_cast<int>(stage.mesh.size()),
                         element_bytes(scenario.training.gradient_precision));
  const ReplicaMoments moments(plan, operators, compressed, scenario, ranks);
  const Bytes nccl = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices_of(plan)));
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    DeviceMemory empty = empty_memory(stage.mesh[rank], scenario);
    empty.buffers += nccl;
    empty.nccl = nccl;
    out.push_back(moments.most(empty, activations_by_moment(plan, operators, rank, scenario),
                               never_at_once(plan, operators, rank, scenario)));
  }
  return out;
}

StoreMemory stored_by_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const ReplicaPlan& replicas = plan.replicas();
  if (replicas.optimizer == StatePlace::kGpu) return {};
  const StateBytes bytes(scenario.training);
  const double ranks = static_cast<double>(plan.stages.front().mesh.size());
  const double part = trained_count(operators) / ranks, weights = parameter_count(operators) / ranks;
  // The CPU's Adam reads gradients in fp32, independent of the precision of the reduction.
  const double gradient = element_bytes(Precision::kFp32);
  StoreMemory out{Bytes{part * gradient}, {}};
  // In addition, sums over micro-batches (DeepSpeed's accumulated_grads_in_cpu, __param_id_to_grad_partition).
  if (plan.micro_batches > 1) out.host += Bytes{part * bytes.gradient};
  if (replicas.optimizer == StatePlace::kHost) {
    out.host += Bytes{part * bytes.optimizer() + (replicas.stage == 3 ? weights * bytes.weight : 0.0)};
  } else {
    const bool parameters_too = replicas.parameters == StatePlace::kDrive;
    out.drive = Bytes{part * bytes.optimizer() + (parameters_too ? weights * bytes.weight : 0.0)};
    out.host += Bytes{kSwapBuffers * std::min(part, scenario.framework.sub_group) * (bytes.optimizer() + gradient)};
  }
  return out;
}

}  // namespace slmsim
