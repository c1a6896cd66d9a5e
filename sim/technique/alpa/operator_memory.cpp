#include <algorithm>
#include <map>

#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/common/holding.h"

namespace slmsim {
namespace {

// Without a backward pass, a micro-batch's activations are freed when it ends.
int in_flight(const Plan& plan, std::size_t s) {
  if (!plan.workload.backward) return 1;
  const OperatorPlan& how = plan.operators();
  return micro_batches_in_flight(how.schedule, plan.micro_batches, plan.stages.size(), s, how.ahead);
}

// Memory of micro-batches whose gradients of weights are pending: inputs of their products, and their outputs'
// gradients (Qi et al., arXiv 2401.10241, table 3).
Bytes kept_for_weights(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                       const Scenario& scenario) {
  const Stage& stage = plan.stages[s];
  double elements = 0;
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const Operator& op = operators[stage.first + i];
    if (op.kind != OperatorKind::kMatrix || !op.has_weights()) continue;
    const Share share = share_of(stage, i, rank, micro_batch_sequences(plan, scenario.training));
    elements += (op.inputs / share.rows + op.outputs / share.columns) * share.sequences;
  }
  return Bytes{elements * element_bytes(scenario.training.precision) *
               weights_in_flight(plan.operators().schedule, plan.micro_batches, s)};
}

Bytes nccl_of_mesh(const Plan& plan, const Stage& stage, const Scenario& scenario) {
  if (stage.mesh.size() == 1) return {};
  // With a first sum inside each VM, a GPU belongs to two communicators.
  return nccl_buffers(scenario.nccl, nccl_view(scenario.platform, stage.mesh)) *
         (plan.operators().hierarchical ? 2.0 : 1.0);
}

// Without NCCL's.
Bytes buffers_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                 const HeldParameters& held, const Scenario& scenario) {
  const Stage& stage = plan.stages[s];
  const Training& training = scenario.training;
  const OperatorPlan& how = plan.operators();
  Bytes buffers{0};
  if (stage.mesh.size() > 1) {
    buffers += Bytes{held.shared() * element_bytes(training.gradient_precision)};  // fused for one all-reduce
  }
  if (how.optimizer == Optimizer::kDivided && stage.mesh.size() > 1 &&
      element_bytes(how.gathered) != element_bytes(training.precision)) {
    buffers += Bytes{held.all * element_bytes(how.gathered)};  // gathered, then converted
  }
  // Buffers for neighbouring stages' sends: activations of all micro-batches in flight, and one micro-batch's
  // gradients.
  const auto received = [&](std::size_t last_operator, std::size_t index) {
    const double sequences = share_of(stage, index, rank, micro_batch_sequences(plan, training)).sequences;
    return Bytes{operators[last_operator].outputs * sequences * element_bytes(training.precision)};
  };
  if (s > 0) buffers += received(stage.first - 1, 0) * in_flight(plan, s) + scenario.nccl.buffer;
  if (s + 1 < plan.stages.size())
    buffers += received(stage.last - 1, stage.shardings.size() - 1) + scenario.nccl.buffer;
  return buffers;
}

}  // namespace

namespace {

// Memory of one micro-batch.
struct LayerActivations {
  std::map<int, double> bytes;  // of each layer during its backward pass; -1 and the last: outside the layers
  double input = 0;             // of a layer's input
  double kept = 0;              // total, of tensors that are not recomputed
  double anew = 0;              // of the largest recomputed layer
};

LayerActivations layer_activations(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                                   const Scenario& scenario) {
  const Training& training = scenario.training;
  const Stage& stage = plan.stages[s];
  const double sequences = micro_batch_sequences(plan, training);
  const int layers = layer_count(operators);
  const bool from_input = begins_with_input(plan.recompute);
  LayerActivations out;
  std::map<int, double> until;
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const Operator& op = operators[stage.first + i];
    const double kept = kept_activations(operators, stage, i, rank, sequences, scenario, plan.recompute);
    until[op.layer] += kept;
    // One layer at a time is recomputed.
    const bool again = from_input && is_inside_layers(op, layers);
    out.bytes[op.layer] += again ? kept_activations(operators, stage, i, rank, sequences, scenario) : kept;
  }
  const double share = share_of(stage, 0, rank, 1.0).sequences;
  out.input = stream_elements(operators) * sequences * share / stage.token_parts *
              scenario.software.stream_bytes(training.precision);
  for (const auto& [layer, bytes] : until) {
    const bool again = from_input && layer >= 0 && layer < layers;
    out.kept += bytes + (again ? out.input : 0.0);
    if (again) out.anew = std::max(out.anew, out.bytes[layer] - bytes);
  }
  return out;
}

}  // namespace

Bytes activations_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                     double in_flight, const Scenario& scenario) {
  const LayerActivations of = layer_activations(plan, operators, s, rank, scenario);
  return Bytes{of.kept * in_flight + of.anew};
}

ActivationBytes activations_by_moment(const Plan& plan, const OperatorGraph& operators, std::size_t rank,
                                      const Scenario& scenario, std::size_t s) {
  const LayerActivations of = layer_activations(plan, operators, s, rank, scenario);
  const int layers = layer_count(operators);
  double largest = 0, behind = 0;
  for (const auto& [layer, bytes] : of.bytes) {
    if (layer >= 0 && layer < layers) largest = std::max(largest, bytes);
    if (layer >= layers) behind += bytes;
  }
  return {Bytes{of.kept + std::max(0.0, of.anew - behind)},
          Bytes{begins_with_input(plan.recompute) ? of.input + largest : largest}, Bytes{of.kept}};
}

std::vector<DeviceMemory> memory_by_operators(const Plan& plan, const OperatorGraph& operators,
                                              const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  const OperatorPlan& how = plan.operators();
  const StateBytes bytes(scenario.training);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const HeldParameters held = held_parameters(operators, stage);
    const double part = how.optimizer == Optimizer::kDivided ? 1.0 / static_cast<double>(stage.mesh.size()) : 1.0;
    // With an all-reduce every GPU accumulates all gradients.
    const bool scattered = how.gradient_collective == GradientCollective::kReduceScatter;
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      DeviceMemory memory = empty_memory(stage.mesh[rank], scenario);
      memory.parameters = Bytes{held.all * bytes.weight};
      if (plan.workload.backward) {
        memory.gradients = Bytes{held.all * (scattered ? part : 1.0) * bytes.gradient};
        memory.optimizer = Bytes{held.all * part * bytes.optimizer()};
      }
      memory.activations = activations_of(plan, operators, s, rank, in_flight(plan, s), scenario);
      memory.activations += kept_for_weights(plan, operators, s, rank, scenario);
      memory.nccl = nccl_of_mesh(plan, stage, scenario);
      memory.buffers = memory.nccl + buffers_of(plan, operators, s, rank, held, scenario);
      out.push_back(memory);
    }
  }
  return out;
}

}  // namespace slmsim
