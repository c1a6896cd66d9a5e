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

  void add(double own) {
    layers += own;
    largest = std::max(largest, own);
  }
  double all() const { return root + layers; }
  // The root and so many layers.
  double open(double count) const { return root + std::min(layers, count * largest); }
};

struct Parameters {
  Units held, trained;  // with adapters, few of those held are trained
};

Parameters parameters_of(const OperatorGraph& operators) {
  Parameters out;
  const int count = layer_count(operators);
  std::vector<double> held(static_cast<std::size_t>(count), 0), trained = held;
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
    const Operator& op = operators[v];
    const bool inside = is_inside_layers(op, count);
    (inside ? held[static_cast<std::size_t>(op.layer)] : out.held.root) += op.is_tied() ? 0.0 : op.weights;
    (inside ? trained[static_cast<std::size_t>(op.layer)] : out.trained.root) += op.parameters;
  }
  for (const double own : held) out.held.add(own);
  for (const double own : trained) out.trained.add(own);
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
  const auto [held, trained] = parameters_of(operators);
  const double part = trained.all() / fsdp.shards, frozen = (held.all() - trained.all()) / fsdp.shards;
  const double weight = element_bytes(scenario.training.precision);
  const double reduced = element_bytes(scenario.training.gradient_precision);
  const double whole = held.open(whole_layers(fsdp, layer_count(operators)));
  // Of the root until the end, of a layer while it computes and while the one before it is reduced; without
  // synchronisation of all.
  const bool adds_up = fsdp.no_sync && plan.micro_batches > 1;
  const double open = adds_up ? trained.all() : trained.open(2);
  Bytes nccl = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices_of(plan)));
  if (fsdp.is_hybrid()) nccl = nccl * 2.0;  // two communicators
  std::vector<DeviceMemory> out;
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    DeviceMemory m = empty_memory(stage.mesh[rank], scenario);
    m.activations = activations_of(plan, operators, 0, rank, 1, scenario);
    m.parameters = Bytes{whole * weight + (fsdp.offload ? 0.0 : part * kParameter + frozen * weight)};
    m.gradients = Bytes{open * weight + (fsdp.offload ? 0.0 : part * kGradient)};
    m.optimizer = Bytes{fsdp.offload ? 0.0 : part * state_of(scenario.training.optimizer)};
    // What is reduced in another precision is converted first; a gathered unit's own part in training precision, and with
    // offload in fp32.
    m.buffers =
        nccl + Bytes{(reduced != weight ? trained.largest * reduced : 0.0) +
                     (fsdp.offload ? trained.largest * kParameter + held.largest * weight : trained.largest * weight) /
                         fsdp.shards};
    out.push_back(m);
  }
  return out;
}

StoreMemory stored_by_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  if (!plan.fsdp().offload) return {};
  const double all = parameter_count(operators), trained = trained_count(operators);
  return {Bytes{(trained * (kParameter + kGradient + state_of(scenario.training.optimizer)) +
                 (all - trained) * element_bytes(scenario.training.precision)) /
                plan.fsdp().shards},
          {}};
}

}  // namespace slmsim
