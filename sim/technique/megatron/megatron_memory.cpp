#include <algorithm>
#include <map>

#include "sim/compute/operator_graph.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/megatron/megatron.h"

namespace slmsim {
namespace {

// Maximum number of micro-batches whose activations a stage holds: for 1F1B the number of remaining stages, itself
// included. With v chunks a chunk has a v-th of a micro-batch's activations, and its first backward pass follows 2 (p -
// s - 1) + (v - 1) p forward passes of the warm-up and one more (arXiv 2104.04473, section 2.2; Megatron-LM's
// forward_backward_pipelining_with_interleaving): for the first stage p + (p - 1) / v (arXiv 2205.05198, section
// 4.2.3).
double micro_batches_in_flight(const MegatronPlan& m, int stage, int micro_batches) {
  const int behind = m.pipeline - stage - 1;
  if (m.chunks == 1) return std::min(micro_batches, behind + 1);
  const int passes = 2 * behind + (m.chunks - 1) * m.pipeline + 1;
  return static_cast<double>(std::min(micro_batches * m.chunks, passes)) / m.chunks;
}

// NCCL's buffers of a rank of this stage: of the communicators of all GPUs (start-up, loss), of its tensor-parallel ones, its
// replicas and, for the gradients' norm, the GPUs of its replica (megatron/mpu/initialize.py); and of messages to its
// neighbours, over two channels each way.
Bytes nccl_of_rank(const Plan& plan, int pipeline_stage, const Scenario& scenario) {
  const MegatronPlan& o = plan.megatron();
  const std::vector<int>& mesh = plan.stages[pipeline_stage].mesh;
  const auto tensor = static_cast<std::size_t>(o.tensor);
  std::vector<int> replicas, replica;
  for (std::size_t at = 0; at < mesh.size(); at += tensor) replicas.push_back(mesh[at]);
  for (int s = 0; s < o.pipeline; ++s)
    replica.insert(replica.end(), plan.stages[s].mesh.begin(), plan.stages[s].mesh.begin() + o.tensor);
  const std::vector<int> divided(mesh.begin(), mesh.begin() + o.tensor);
  return nccl_of_groups({devices_of(plan), divided, replicas, replica}, pipeline_stage, o.pipeline, scenario);
}

// Memory of each rank of a pipeline stage, without NCCL's buffers and the framework. Gradients stay from step to step,
// and an optimizer that converts them does so after the activations are freed.
DeviceMemory held_by_stage(const Plan& plan, int pipeline_stage, const OperatorGraph& operators,
                           const Scenario& scenario) {
  const MegatronPlan& o = plan.megatron();
  Training training = scenario.training;
  training.gradient_precision = o.gradients;
  const StateBytes bytes(training);
  const double element = element_bytes(scenario.training.precision);
  const double sequences = static_cast<double>(scenario.training.batch) / (o.data * plan.micro_batches);
  const double tensor = o.tensor, spread = o.sequence_parallel ? tensor : 1;
  const int layers = layer_count(operators);
  const double input = stream_elements(operators) * sequences * element;  // bytes of a layer's input
  const AttentionKernel attention = attention_on_all(devices_of(plan), scenario);
  const bool selective = plan.recompute == Recompute::kSelective;
  Software software = scenario.software;
  software.loss_memory = software.sharded_loss_memory;
  double parameters = 0, kept = 0, largest = 0, ends = 0, held = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (static_cast<int>(s) % o.pipeline != pipeline_stage) continue;
    const Stage& stage = plan.stages[s];
    std::map<int, double> by_layer;
    double summed = 0;  // outputs that tensor-parallel GPUs add up, whole on each
    for (std::size_t v = stage.first; v < stage.last; ++v) {
      const Operator& op = operators[v];
      parameters += op.parameters;
      const double saved = kept_bytes(op, scenario.training.precision, attention, software) * sequences;
      // Korthikanti et al. (arXiv 2205.05198, table 2): inputs of divided products, norms and dropouts are whole.
      const bool whole =
          tensor_sharding(op) == Sharding::kReplicated || op.role == Role::kQkv || op.role == Role::kMlpUp;
      const bool inside = is_inside_layers(op, layers);
      if (o.tensor > 1 && op.has_weights() && tensor_sharding(op) == Sharding::kRow)
        summed += op.outputs * sequences * element;
      const double own = saved / (whole ? spread : tensor);
      if (!inside)
        ends += own;
      else
        by_layer[op.layer] += selective && op.is_attention_core() ? 0.0 : own;
      // The core is recomputed from Q, K and V (section 5).
      if (inside && selective && op.role == Role::kQkv) by_layer[op.layer] += op.outputs * sequences * element / tensor;
    }
    held = std::max(held, summed);
    if (s > 0 && s + 1 == plan.stages.size() && stage.last > 0)  // the last stage's copy of a tied embedding
      parameters += tied_parameters(operators);
    for (const auto& [layer, own] : by_layer) {
      kept += plan.recompute == Recompute::kFull ? input / spread : own;
      if (plan.recompute == Recompute::kFull) largest = std::max(largest, own);
    }
  }
  parameters /= tensor;
  const double in_flight = micro_batches_in_flight(o, pipeline_stage, plan.micro_batches);
  DeviceMemory m;
  m.parameters = Bytes{parameters * bytes.weight};
  m.gradients = Bytes{parameters * bytes.gradient};
  const double updated = parameters / o.optimizer_parts();
  m.optimizer = Bytes{updated * bytes.optimizer()};
  if (software.ddp_buckets && o.data > 1) m.buffers = Bytes{parameters * bytes.weight};
  DeviceMemory step = m, passed = m;
  step.moment = Moment::kStep;
  step.buffers += Bytes{updated * bytes.gradient_copy * scenario.framework.gradient_copies};
  // Logits are freed before layers are recomputed.
  m.activations = Bytes{kept * in_flight + std::max(largest, ends)};
  // The host launches a pass ahead of the GPU, so the sums' stream still holds them when their memory is wanted again.
  m.held = passed.held = Bytes{held};
  m.buffers += m.held;
  passed.buffers += passed.held;
  // At the end of a pass backward, before its gradients are added to fp32 sums.
  if (software.ddp_buckets && bytes.gradient > bytes.weight) passed.gradients += Bytes{parameters * bytes.weight};
  passed.activations = Bytes{kept * (in_flight - 1) + largest};
  return larger_of(larger_of(m, passed), step);
}

}  // namespace

std::vector<DeviceMemory> memory_of_megatron(const Plan& plan, const OperatorGraph& operators,
                                             const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  for (int s = 0; s < plan.megatron().pipeline; ++s) {
    const DeviceMemory held = held_by_stage(plan, s, operators, scenario);
    const Bytes nccl = nccl_of_rank(plan, s, scenario);
    for (const int device : plan.stages[s].mesh) {
      DeviceMemory memory = held;
      const DeviceMemory empty = empty_memory(device, scenario);
      memory.device = device;
      memory.limit = empty.limit;
      memory.framework = empty.framework;
      memory.edge = empty.edge;
      memory.nccl = nccl;
      memory.buffers += nccl;
      out.push_back(memory);
    }
  }
  return out;
}

}  // namespace slmsim
