#include "sim/memory/replica_memory.h"

#include <algorithm>

#include <boost/range/iterator_range.hpp>

#include "sim/memory/operator_memory.h"
#include "sim/nccl/nccl_rules.h"
#include "sim/plan/holding.h"

namespace slmsim {
namespace {

// Groups that Infinity has in host memory at once: read, updated, written, and one to spare (DeepSpeed's buffer_count).
constexpr double kSwapBuffers = 4;

// Of the tensors of a model, as compression of this rank takes them.
LowRankBucket all_gradients(const OperatorGraph& operators, int rank) {
  LowRankBucket out;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators)))
    out.add(gradient_tensors(operators[v]), rank);
  return out;
}

// Fills in all but the activations, which are there.
// `held`: parameters on each GPU where they are not divided; `parameters`: those that are trained.
void hold(DeviceMemory& m, const Plan& plan, double held, double parameters, const LowRankBucket& all, Bytes nccl,
          const Scenario& scenario) {
  const ReplicaPlan& replicas = plan.replicas();
  const Framework& framework = scenario.framework;
  const StateBytes bytes(scenario.training);
  const int ranks = static_cast<int>(plan.stages.front().mesh.size());
  const double part = parameters / ranks;
  const bool on_gpu = replicas.optimizer == StatePlace::kGpu;
  m.parameters = Bytes{bytes.weight * (replicas.stage == 3 ? held / ranks : held)};
  if (replicas.parameters == StatePlace::kDrive) m.parameters = Bytes{0};
  m.gradients = Bytes{bytes.gradient * (replicas.stage < 2 ? parameters : part)};
  if (!on_gpu && replicas.stage >= 2) m.gradients = Bytes{0};  // they leave bucket by bucket
  Bytes while_stepping{0}, while_passing{0};
  Bytes kept{0};  // of compression, from step to step
  if (replicas.stage == 0) {
    m.optimizer = Bytes{parameters * (bytes.optimizer() + bytes.gradient_copy)};
    const bool in_buckets = replicas.bucket > Bytes{0};
    // DDP keeps its buckets; DeepSpeed copies one after the other, behind the passes.
    while_stepping = Bytes{std::min(in_buckets ? parameters : framework.reduce_bucket, parameters) * bytes.gradient};
    if (in_buckets) while_passing = while_stepping;
    const auto compressed = compression_memory(replicas.compression, all, ranks, bytes.gradient);
    kept = compressed.kept;
    // On a slow network what is encoded waits for its turn until the activations are gone.
    while_stepping += compressed.passing;
  } else {
    m.optimizer = Bytes{on_gpu ? part * bytes.optimizer() : 0.0};
    if (on_gpu) while_stepping = Bytes{part * bytes.gradient_copy};
    // One bucket is filled while the other is reduced; a bucket is never more than all there is.
    while_passing = Bytes{std::min(framework.reduce_bucket, parameters) * bytes.gradient} * 2.0;
    if (replicas.stage == 3)
      while_passing += Bytes{bytes.weight * std::min(framework.live_parameters, held)};
    else
      while_stepping += Bytes{std::min(framework.gather_bucket, parameters) * bytes.weight};
  }
  // Activations are gone when the optimizer steps.
  m.buffers = nccl + kept + while_passing + std::max(Bytes{0}, while_stepping - while_passing - m.activations);
}

}  // namespace

std::vector<DeviceMemory> memory_of_replicas(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  const Stage& stage = plan.stages.front();
  const double held = held_parameters(operators, stage).all, trained = trained_count(operators);
  const LowRankBucket all = all_gradients(operators, plan.replicas().compression.rank);
  const Bytes nccl = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices_of(plan)));
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    DeviceMemory memory = empty_memory(stage.mesh[rank], scenario);
    memory.activations = activations_of(plan, operators, 0, rank, 1, scenario);
    hold(memory, plan, held, trained, all, nccl, scenario);
    out.push_back(memory);
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
