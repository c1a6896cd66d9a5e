#include "sim/plan/memory.h"

#include <algorithm>
#include <map>

#include "sim/plan/framework_memory.h"
#include "sim/plan/holding.h"
#include "sim/plan/nccl_rules.h"

namespace slmsim {
namespace {

constexpr double kMasterBytes = 4;  // fp32 copy of half-precision weights
constexpr double kMomentBytes = 8;  // Adam's two, fp32

double optimizer_bytes(const Training& training) {
  return kMomentBytes + (element_bytes(training.precision) < kMasterBytes ? kMasterBytes : 0.0);
}

Bytes activations_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                     const Training& training) {
  const Stage& stage = plan.stages[s];
  const double sequences = micro_batch_sequences(plan, training);
  const double in_flight = micro_batches_in_flight(plan, s);
  std::map<int, double> by_layer;
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    by_layer[operators[stage.first + i].layer] +=
        kept_activations(operators, stage, i, rank, sequences, training.precision);
  }
  double all = 0;
  for (const auto& [layer, bytes] : by_layer) all += bytes;
  if (!training.rematerialisation) return Bytes{all * in_flight};
  // Only each layer's input is kept, and one layer at a time is computed anew; embedding and head are kept as they are.
  const int layers = operators[boost::num_vertices(operators) - 1].layer;
  const double share = share_of(stage, 0, rank, 1.0).sequences;
  const double input = operators[0].outputs * sequences * share * element_bytes(training.precision);
  double kept = 0, largest = 0;
  for (const auto& [layer, bytes] : by_layer) {
    const bool again = layer >= 0 && layer < layers;
    kept += again ? input : bytes;
    if (again) largest = std::max(largest, bytes);
  }
  return Bytes{kept * in_flight + largest};
}

Bytes buffers_of(const Plan& plan, const OperatorGraph& operators, std::size_t s, std::size_t rank,
                 const HeldParameters& held, const Scenario& scenario) {
  const Stage& stage = plan.stages[s];
  const Training& training = scenario.training;
  Bytes buffers{0};
  if (stage.mesh.size() > 1) {
    // Summed inside a VM first, a GPU belongs to two communicators.
    buffers += nccl_buffers(scenario.nccl, nccl_view(scenario.platform, stage.mesh)) * (plan.hierarchical ? 2.0 : 1.0);
    buffers += Bytes{held.shared() * element_bytes(training.gradient_precision)};  // fused for one all-reduce
  }
  if (plan.optimizer == Optimizer::kDivided && stage.mesh.size() > 1 &&
      element_bytes(plan.gathered) != element_bytes(training.precision)) {
    buffers += Bytes{held.all * element_bytes(plan.gathered)};  // gathered, then converted
  }
  // What neighbouring stages send: activations of all micro-batches in flight, and one micro-batch's gradients.
  const auto received = [&](std::size_t last_operator, std::size_t index) {
    const double sequences = share_of(stage, index, rank, micro_batch_sequences(plan, training)).sequences;
    return Bytes{operators[last_operator].outputs * sequences * element_bytes(training.precision)};
  };
  if (s > 0) buffers += received(stage.first - 1, 0) * micro_batches_in_flight(plan, s) + scenario.nccl.buffer;
  if (s + 1 < plan.stages.size())
    buffers += received(stage.last - 1, stage.shardings.size() - 1) + scenario.nccl.buffer;
  return buffers;
}

}  // namespace

double state_bytes(const Training& training) {
  return element_bytes(training.precision) + element_bytes(training.gradient_precision) + optimizer_bytes(training);
}

std::vector<DeviceMemory> memory_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  const Training& training = scenario.training;
  const double weight = element_bytes(training.precision);
  // Chunks of an interleaved schedule are on the same GPUs.
  const std::size_t stages = plan.megatron ? static_cast<std::size_t>(plan.megatron->pipeline) : plan.stages.size();
  for (std::size_t s = 0; s < stages; ++s) {
    const Stage& stage = plan.stages[s];
    const HeldParameters held = held_parameters(operators, stage);
    const double part = plan.optimizer == Optimizer::kDivided ? 1.0 / static_cast<double>(stage.mesh.size()) : 1.0;
    for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
      DeviceMemory memory;
      memory.device = stage.mesh[rank];
      memory.limit =
          scenario.platform.devices[static_cast<std::size_t>(memory.device)].gpu.memory * scenario.memory.usable_share;
      memory.parameters = Bytes{held.all * weight};
      // With an all-reduce every GPU adds up all gradients.
      const bool scattered = plan.gradient_collective == GradientCollective::kReduceScatter;
      memory.gradients = Bytes{held.all * (scattered ? part : 1.0) * element_bytes(training.gradient_precision)};
      memory.optimizer = Bytes{held.all * part * optimizer_bytes(training)};
      memory.activations = activations_of(plan, operators, s, rank, training);
      memory.buffers = buffers_of(plan, operators, s, rank, held, scenario);
      memory.framework = scenario.memory.framework;
      if (plan.replicas) hold_as_replica(memory, plan, held.all, scenario);
      if (plan.megatron) hold_as_megatron(memory, plan, static_cast<int>(s), operators, scenario);
      out.push_back(memory);
    }
  }
  return out;
}

}  // namespace slmsim
