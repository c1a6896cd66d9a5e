#include <algorithm>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/replicas/fsdp.h"

namespace slmsim {
namespace {

struct Units {
  double root = 0, layers = 0, largest = 0;  // parameters; largest: of the largest unit of layers

  void add(double own) {
    layers += own;
    largest = std::max(largest, own);
  }
  double all() const { return root + layers; }
  // The root and `count` units.
  double open(double count) const { return root + std::min(layers, count * largest); }
};

struct Parameters {
  Units held, trained;  // with adapters, few of the held parameters are trained
};

// Of a stage, on each of its tensor-parallel GPUs.
Parameters parameters_of(const OperatorGraph& operators, const Stage& stage, const FsdpPlan& fsdp) {
  Parameters out;
  const int count = layer_count(operators);
  std::vector<double> held(static_cast<std::size_t>(count), 0), trained = held;  // by unit of layers
  const int first = std::max(operators[stage.first].layer, 0);
  for (std::size_t v = stage.first; v < stage.last; ++v) {
    const Operator& op = operators[v];
    const bool inside = is_inside_layers(op, count);
    const auto unit = static_cast<std::size_t>(std::max(op.layer - first, 0) / fsdp.unit_layers);
    (inside ? held[unit] : out.held.root) += op.is_tied() ? 0.0 : op.weights / fsdp.tensor.parts(inside);
    (inside ? trained[unit] : out.trained.root) += op.parameters / fsdp.tensor.parts(inside);
  }
  for (const double own : held) out.held.add(own);
  for (const double own : trained) out.trained.add(own);
  return out;
}

// Upper bound of units of layers that are whole at a time: the computing one and those that the host may gather meanwhile
// (sim/technique/replicas/fsdp.h).
double whole_layers(const FsdpPlan& plan, double layers) {
  if (!plan.limit_all_gathers || !plan.frees_after_forward() || plan.pipeline > 1) return layers;
  const bool ahead = plan.forward_prefetch || plan.backward == FsdpPrefetch::kBefore;
  return std::min(layers, ahead ? 3.0 : 2.0);
}

// NCCL's buffers of a rank: the communicators of its replicas, of equal positions in their groups, of its tensor-parallel
// GPUs and of all GPUs, and of messages to its neighbours, over two channels each way.
Bytes nccl_of_rank(const Plan& plan, std::size_t s, const Scenario& scenario) {
  const FsdpPlan& fsdp = plan.fsdp();
  const std::vector<int>& mesh = plan.stages[s].mesh;
  const auto tensor = static_cast<std::size_t>(fsdp.tensor.tensor);
  std::vector<int> shards, copies;
  for (int i = 0; i < fsdp.shards; ++i) shards.push_back(mesh[static_cast<std::size_t>(i) * tensor]);
  for (int i = 0; i < fsdp.replicas; i += fsdp.shards) copies.push_back(mesh[static_cast<std::size_t>(i) * tensor]);
  std::vector<std::vector<int>> groups = {shards, copies, {mesh.begin(), mesh.begin() + fsdp.tensor.tensor}};
  if (fsdp.pipeline > 1 || tensor > 1) groups.push_back(devices_of(plan));
  return nccl_of_groups(groups, static_cast<int>(s), fsdp.pipeline, scenario);
}

// A GPU of a stage.
DeviceMemory memory_of_rank(const Plan& plan, std::size_t s, std::size_t rank, Bytes nccl,
                            const OperatorGraph& operators, const Scenario& scenario) {
  const FsdpPlan& fsdp = plan.fsdp();
  const Stage& stage = plan.stages[s];
  const auto [held, trained] = parameters_of(operators, stage, fsdp);
  const double part = trained.all() / fsdp.shards, frozen = (held.all() - trained.all()) / fsdp.shards;
  const double weight = element_bytes(scenario.training.precision);
  // A part of the parameters, or of their gradients, in the format that the optimizer updates.
  const double updated = scenario.training.update().element();
  const double reduced = element_bytes(scenario.training.gradient_precision);
  const double whole = held.open(whole_layers(fsdp, layer_count(operators)));
  // Gradients of the root until the end, of a layer while it computes and while the one before it is reduced; without
  // synchronisation of all layers, which a pipeline adds up in the precision of the reduction.
  const bool pipeline = fsdp.pipeline > 1;
  const bool adds_up = pipeline || (fsdp.no_sync && plan.micro_batches > 1);
  const double open = pipeline  ? trained.all() * std::max(reduced, weight)
                      : adds_up ? trained.all() * weight
                                : trained.open(2) * weight;
  const ActivationBytes activations = activations_by_moment(plan, operators, rank, scenario, s);
  // Further micro-batches of 1F1B.
  const double others = micro_batches_in_flight(schedule_of(plan), plan.micro_batches, plan.stages.size(), s) - 1;
  DeviceMemory m = empty_memory(stage.mesh[rank], scenario);
  const Bytes own{fsdp.offload ? 0.0 : part * updated + frozen * weight};
  const Bytes gradients{fsdp.offload ? 0.0 : part * updated};
  m.parameters = Bytes{whole * weight} + own;
  m.optimizer = Bytes{fsdp.offload ? 0.0 : part * state_of(scenario.training.optimizer)};
  // Gradients reduced in another precision are converted first; a gathered unit's own part in training precision, and
  // with offload in that of the update.
  m.buffers =
      nccl + Bytes{(reduced != weight ? trained.largest * reduced : 0.0) +
                   (fsdp.offload ? trained.largest * updated + held.largest * weight : trained.largest * weight) /
                       fsdp.shards};
  m.nccl = nccl;
  // Gradients are released after the step (zero_grad); those of earlier micro-batches are present when a pass begins.
  DeviceMemory forward = m, backward = m, step = m;
  forward.moment = Moment::kForward;
  forward.activations = activations.kept + activations.each * others;
  backward.activations = activations.layer + activations.each * others;
  backward.gradients = Bytes{open} + gradients;
  if (plan.micro_batches > 1) {
    forward.gradients = adds_up ? backward.gradients : gradients;
    // At its beginning: all activations and one layer's gradients.
    backward.activations = forward.activations;
  }
  step.moment = Moment::kStep;
  step.parameters = own;
  step.gradients = gradients;
  return larger_of(larger_of(backward, forward), step);
}

}  // namespace

std::vector<DeviceMemory> memory_of_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Bytes nccl = nccl_of_rank(plan, s, scenario);
    for (std::size_t rank = 0; rank < plan.stages[s].mesh.size(); ++rank)
      out.push_back(memory_of_rank(plan, s, rank, nccl, operators, scenario));
  }
  return out;
}

StoreMemory stored_by_fsdp(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  if (!plan.fsdp().offload) return {};
  const double all = parameter_count(operators), trained = trained_count(operators);
  return {Bytes{(trained * (2 * scenario.training.update().element() + state_of(scenario.training.optimizer)) +
                 (all - trained) * element_bytes(scenario.training.precision)) /
                plan.fsdp().shards},
          {}};
}

}  // namespace slmsim
