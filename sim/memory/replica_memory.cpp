#include "sim/memory/replica_memory.h"

#include <algorithm>

#include <boost/range/iterator_range.hpp>

#include "sim/memory/operator_memory.h"
#include "sim/model/operator_graph.h"
#include "sim/nccl/nccl_rules.h"
#include "sim/plan/holding.h"

namespace slmsim {
namespace {

// Groups that Infinity has in host memory at once: read, updated, written, and one to spare (DeepSpeed's buffer_count).
constexpr double kSwapBuffers = 4;
// Parameters of a rank that ZeRO-3 updates at a time (DeepSpeed's stage3 sub_group_size).
constexpr double kStepped = 1e9;
constexpr int kEngineCopies = 2;  // Framework::gradient_copies of DeepSpeed's engine

// Of the tensors of a model, as compression of this rank takes them.
LowRankBucket all_gradients(const OperatorGraph& operators, int rank) {
  LowRankBucket out;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators)))
    out.add(gradient_tensors(operators[v]), rank);
  return out;
}

// What a GPU holds at each moment of an iteration. DeepSpeed's files are those of release 0.7.1.
class ReplicaMoments {
 public:
  // `held`: parameters on each GPU where they are not divided; `trained`: those that have gradients.
  ReplicaMoments(const Plan& plan, double held, double trained, const CompressionMemory& compressed,
                 const Scenario& scenario)
      : replicas_(plan.replicas()),
        framework_(scenario.framework),
        bytes_(scenario.training),
        compressed_(compressed),
        held_(held),
        trained_(trained),
        ranks_(static_cast<double>(plan.stages.front().mesh.size())),
        several_(plan.micro_batches > 1) {}

  // `empty`: limit, framework, and NCCL's buffers.
  DeviceMemory most(const DeviceMemory& empty, const ActivationBytes& activations) const {
    DeviceMemory always = empty;
    const bool on_drive = replicas_.parameters == StatePlace::kDrive;
    always.parameters = Bytes{on_drive ? 0.0 : bytes_.weight * (replicas_.stage == 3 ? held_ / ranks_ : held_)};
    if (on_gpu()) always.optimizer = Bytes{bytes_.optimizer() * (replicas_.stage == 0 ? trained_ : own())};
    always.buffers += compressed_.kept;
    if (in_buckets() && !replicas_.bucket_views) always.buffers += Bytes{trained_ * bytes_.gradient};
    return larger_of(larger_of(larger_of(backward(always, activations), forward(always, activations)), step(always)),
                     gather(always));
  }

 private:
  bool on_gpu() const { return replicas_.optimizer == StatePlace::kGpu; }
  // DDP's buckets hold copies of all gradients. DeepSpeed's engine without ZeRO, whose optimizer makes two copies, flattens a
  // bucket at a time in their place (engine.py, buffered_allreduce_fallback).
  bool in_buckets() const {
    return replicas_.stage == 0 && replicas_.bucket > Bytes{0} && framework_.gradient_copies < kEngineCopies;
  }
  double own() const { return trained_ / ranks_; }
  // DeepSpeed lets go of gradients when the optimizer has stepped (zero_grad), but for those of earlier micro-batches and
  // ZeRO-3's (stage3.py, __param_id_to_grad_partition); DDP's stay.
  bool keeps_gradients() const { return replicas_.stage == 0 || replicas_.stage == 3 || several_; }

  Bytes gradients() const {
    if (replicas_.stage < 2) return Bytes{bytes_.gradient * trained_};
    return Bytes{on_gpu() ? bytes_.gradient * own() : 0.0};  // to the host they leave bucket by bucket
  }

  Bytes bucket() const { return Bytes{bytes_.gradient * std::min(framework_.reduce_bucket, trained_)}; }
  // There for all of the backward pass: one is filled while the other is reduced. ZeRO-1 reduces when the pass is through,
  // from one that is flattened then; with its optimizer on the host from one that is there before (stage_1_and_2.py,
  // backward, allreduce_bucket, "contiguous_gradients or cpu_offload").
  Bytes filled() const {
    if (replicas_.stage < 2) return bucket() * (replicas_.stage == 1 && !on_gpu() ? 1.0 : 0.0);
    return bucket() * 2.0;
  }
  Bytes open() const {
    return Bytes{replicas_.stage == 3 ? bytes_.weight * std::min(framework_.live_parameters, held_) : 0.0};
  }

  DeviceMemory forward(DeviceMemory m, const ActivationBytes& activations) const {
    m.moment = Moment::kForward;
    if (keeps_gradients()) m.gradients = gradients();
    m.activations = activations.kept;
    m.buffers += open() + filled();
    return m;
  }

  DeviceMemory backward(DeviceMemory m, const ActivationBytes& activations) const {
    m.moment = Moment::kBackward;
    m.gradients = gradients();
    m.activations = activations.layer;
    m.buffers += open() + filled();
    if (replicas_.stage == 1 && on_gpu() && bucket() > m.activations) {
      m.buffers += bucket() - m.activations;  // in their place
    }
    return m;
  }

  DeviceMemory step(DeviceMemory m) const {
    m.moment = Moment::kStep;
    m.gradients = gradients();
    if (replicas_.stage == 0) {
      // Reduced behind the passes bucket by bucket, where DDP does not, and what waits encoded; then copied.
      const Bytes reduced = (in_buckets() ? Bytes{0} : bucket()) + compressed_.passing;
      m.buffers += std::max(reduced, Bytes{trained_ * bytes_.gradient_copy * framework_.gradient_copies});
    } else if (on_gpu()) {
      // Those of its own part, flattened, then converted; by ZeRO-3 a sub-group at a time (stage_1_and_2.py, step;
      // stage3.py, _prepare_fp32_grad_for_sub_group).
      m.gradients = Bytes{bytes_.gradient * own()};
      const double at_once = replicas_.stage == 3 ? std::min(own(), kStepped) : own();
      m.buffers += Bytes{at_once * (bytes_.gradient + bytes_.gradient_copy)};
    } else {
      m.gradients = Bytes{0};
    }
    return m;
  }

  // Gradients are gone.
  DeviceMemory gather(DeviceMemory m) const {
    m.moment = Moment::kStep;
    if (replicas_.stage == 1 || replicas_.stage == 2)
      m.buffers += Bytes{bytes_.weight * std::min(framework_.gather_bucket, held_)};
    return m;
  }

  const ReplicaPlan& replicas_;
  const Framework& framework_;
  StateBytes bytes_;
  CompressionMemory compressed_;
  double held_, trained_, ranks_;
  bool several_;
};

}  // namespace

std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  const Stage& stage = plan.stages.front();
  const Compression& compression = plan.replicas().compression;
  const CompressionMemory compressed =
      compression_memory(compression, all_gradients(operators, compression.rank), static_cast<int>(stage.mesh.size()),
                         element_bytes(scenario.training.gradient_precision));
  const ReplicaMoments moments(plan, held_parameters(operators, stage).all, trained_count(operators), compressed,
                               scenario);
  const Bytes nccl = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices_of(plan)));
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    DeviceMemory empty = empty_memory(stage.mesh[rank], scenario);
    empty.buffers += nccl;
    out.push_back(moments.most(empty, activations_by_moment(plan, operators, rank, scenario)));
  }
  return out;
}

StoreMemory stored_by_replicas(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const ReplicaPlan& replicas = plan.replicas();
  if (replicas.optimizer == StatePlace::kGpu) return {};
  const StateBytes bytes(scenario.training);
  const double ranks = static_cast<double>(plan.stages.front().mesh.size());
  const double part = trained_count(operators) / ranks, weights = parameter_count(operators) / ranks;
  // The CPU's Adam reads gradients in fp32, whatever they were reduced in.
  const double gradient = element_bytes(Precision::kFp32);
  StoreMemory out{Bytes{part * gradient}, {}};
  // Sums of micro-batches, beside these (DeepSpeed's accumulated_grads_in_cpu, __param_id_to_grad_partition).
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
