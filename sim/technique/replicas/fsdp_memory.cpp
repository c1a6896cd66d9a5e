#include <algorithm>

#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/replicas/fsdp.h"

namespace slmsim {
namespace {

// A part in fp32 and its gradient; the optimizer's state is added.
constexpr double kParameter = 4, kGradient = 4;

struct Units {
  double root = 0, layers = 0, largest = 0;  // parameters; largest: of the largest layer

  void add(double own) {
    layers += own;
    largest = std::max(largest, own);
  }
  double all() const { return root + layers; }
  // The root and `count` layers.
  double open(double count) const { return root + std::min(layers, count * largest); }
};

struct Parameters {
  Units held, trained;  // with adapters, few of the held parameters are trained
};

Parameters parameters_of(const OperatorGraph& operators) {
  Parameters out;
  const int count = layer_count(operators);
  std::vector<double> held(static_cast<std::size_t>(count), 0), trained = held;
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
    const Operator& op = operators[v];
    const bool inside = is_inside_layers(op, count);
    (inside ? held[op.layer] : out.held.root) += op.is_tied() ? 0.0 : op.weights;
    (inside ? trained[op.layer] : out.trained.root) += op.parameters;
  }
  for (const double own : held) out.held.add(own);
  for (const double own : trained) out.trained.add(own);
  return out;
}

// Upper bound of layers that are whole at a time: the computing one and those that the host may gather meanwhile
// (sim/technique/replicas/fsdp.h).
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
  // Gradients of the root until the end, of a layer while it computes and while the one before it is reduced; without
  // synchronisation of all layers.
  const bool adds_up = fsdp.no_sync && plan.micro_batches > 1;
  const double open = adds_up ? trained.all() : trained.open(2);
  Bytes nccl = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices_of(plan)));
  if (fsdp.is_hybrid()) nccl = nccl * 2.0;  // two communicators
  std::vector<DeviceMemory> out;
  // Gradients reduced in another precision are converted first; a gathered unit's own part in training precision, and
  // with offload in fp32.
  const Bytes buffers =
      nccl + Bytes{(reduced != weight ? trained.largest * reduced : 0.0) +
                   (fsdp.offload ? trained.largest * kParameter + held.largest * weight : trained.largest * weight) /
                       fsdp.shards};
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    const ActivationBytes activations = activations_by_moment(plan, operators, rank, scenario);
    DeviceMemory m = empty_memory(stage.mesh[rank], scenario);
    const Bytes own{fsdp.offload ? 0.0 : part * kParameter + frozen * weight};
    const Bytes gradients{fsdp.offload ? 0.0 : part * kGradient};
    m.parameters = Bytes{whole * weight} + own;
    m.optimizer = Bytes{fsdp.offload ? 0.0 : part * state_of(scenario.training.optimizer)};
    m.buffers = buffers;
    m.nccl = nccl;
    // Gradients are released after the step (zero_grad); those of earlier micro-batches are present when a pass begins.
    DeviceMemory forward = m, backward = m, step = m;
    forward.moment = Moment::kForward;
    forward.activations = activations.kept;
    backward.activations = activations.layer;
    backward.gradients = Bytes{open * weight} + gradients;
    if (plan.micro_batches > 1) {
      forward.gradients = adds_up ? backward.gradients : gradients;
      // At its beginning: all activations and one layer's gradients.
      backward.activations = activations.kept;
    }
    step.moment = Moment::kStep;
    step.parameters = own;
    step.gradients = gradients;
    out.push_back(larger_of(larger_of(backward, forward), step));
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
