#include "sim/memory/fsdp_memory.h"

#include <algorithm>

#include "sim/memory/operator_memory.h"
#include "sim/nccl/nccl_rules.h"

namespace slmsim {
namespace {

// A part in fp32 and its gradient; the optimizer's state beside them.
constexpr double kParameter = 4, kGradient = 4;

struct Units {
  double root = 0, layers = 0, largest = 0;  // parameters; of the largest layer
};

Units units_of(const OperatorGraph& operators) {
  Units out;
  const int count = layer_count(operators);
  std::vector<double> layers(static_cast<std::size_t>(count), 0);
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
    const Operator& op = operators[v];
    if (is_inside_layers(op, count))
      layers[static_cast<std::size_t>(op.layer)] += op.parameters;
    else
      out.root += op.parameters;
  }
  for (const double own : layers) {
    out.layers += own;
    out.largest = std::max(out.largest, own);
  }
  return out;
}

// Layers that are whole at a time at most: the one that computes and what the host may gather meanwhile
// (sim/lower/fsdp_passes.h).
double whole_layers(const FsdpPlan& plan, double layers) {
  if (!plan.limit_all_gathers || !plan.frees_after_forward()) return layers;
  const bool ahead = plan.forward_prefetch || plan.backward == FsdpPrefetch::kBefore;
  return std::min(layers, ahead ? 3.0 : 2.0);
}

}  // namespace

std::vector<DeviceMemory> memory_of_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  const FsdpPlan& fsdp = plan.fsdp();
  const Stage& stage = plan.stages.front();
  const Units units = units_of(operators);
  const double all = units.root + units.layers, part = all / fsdp.shards;
  const double weight = element_bytes(scenario.training.precision);
  const double reduced = element_bytes(scenario.training.gradient_precision);
  const double whole = units.root + std::min(units.layers, whole_layers(fsdp, layer_count(operators)) * units.largest);
  // Of the root until the end, of a layer while it computes and while the one before it is reduced; without
  // synchronisation of all.
  const bool adds_up = fsdp.no_sync && plan.micro_batches > 1;
  const double open = adds_up ? all : units.root + std::min(units.layers, 2 * units.largest);
  Bytes nccl = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices_of(plan)));
  if (fsdp.is_hybrid()) nccl = nccl * 2.0;  // two communicators
  std::vector<DeviceMemory> out;
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    DeviceMemory m = empty_memory(stage.mesh[rank], scenario);
    m.activations = activations_of(plan, operators, 0, rank, 1, scenario);
    m.parameters = Bytes{whole * weight + (fsdp.offload ? 0.0 : part * kParameter)};
    m.gradients = Bytes{open * weight + (fsdp.offload ? 0.0 : part * kGradient)};
    m.optimizer = Bytes{fsdp.offload ? 0.0 : part * state_of(scenario.training.optimizer)};
    // What is reduced in another precision is converted first; a gathered unit's own part in training precision, and with
    // offload in fp32.
    m.buffers =
        nccl + Bytes{(reduced != weight ? units.largest * reduced : 0.0) +
                     (fsdp.offload ? units.largest * (kParameter + weight) : units.largest * weight) * (part / all)};
    out.push_back(m);
  }
  return out;
}

StoreMemory stored_by_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  if (!plan.fsdp().offload) return {};
  const double part = parameter_count(operators) / plan.fsdp().shards;
  return {Bytes{part * (kParameter + kGradient + state_of(scenario.training.optimizer))}, {}};
}

}  // namespace slmsim
