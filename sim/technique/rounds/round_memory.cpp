#include <algorithm>

#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/rounds/rounds.h"

namespace slmsim {
namespace {

constexpr double kOuterState = 2 * kFp32Bytes;  // bytes per parameter

// NCCL's buffers between the same GPU of every replica, and inside a replica.
Bytes buffers_of_nccl(const Plan& plan, const Scenario& scenario) {
  const std::vector<int>& mesh = plan.stages.front().mesh;
  const auto size = static_cast<std::size_t>(plan.round().gpus);
  std::vector<int> across;
  for (std::size_t rank = 0; rank < mesh.size(); rank += size) across.push_back(mesh[rank]);
  Bytes out = nccl_buffers(scenario.nccl, nccl_view(scenario.platform, across));
  const std::vector<int> inside(mesh.begin(), mesh.begin() + static_cast<std::ptrdiff_t>(size));
  if (size > 1) out += nccl_buffers(scenario.nccl, nccl_view(scenario.platform, inside));
  return out;
}

Bytes outer_state(const Plan& plan, const OperatorGraph& operators) {
  const RoundPlan& how = plan.round();
  if (how.update == OuterUpdate::kAverage) return {};
  return Bytes{kOuterState * trained_count(operators) / how.gpus};
}

}  // namespace

std::vector<DeviceMemory> memory_of_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  std::vector<DeviceMemory> out;
  const RoundPlan& how = plan.round();
  const auto fragments = fragment_parameters(operators, how.fragments);
  const double exchanged = *std::max_element(fragments.begin(), fragments.end()) / how.gpus;
  const bool encoded = how.format != ExchangeFormat::kFp32;
  const Bytes exchange = Bytes{kFp32Bytes * exchanged} + (encoded ? wire_bytes(how.format, exchanged) : Bytes{0});
  const Bytes nccl = buffers_of_nccl(plan, scenario);
  // DDP's, inside a replica: copies of the gradients.
  const Bytes buckets{how.gpus > 1 ? trained_count(operators) * StateBytes(scenario.training).gradient : 0.0};
  // Inside a replica as under DDP, or alone.
  Plan steps = plan;
  steps.by = ReplicaPlan{.bucket = how.bucket};
  for (DeviceMemory m : memory_of_replicas(steps, operators, scenario, static_cast<std::size_t>(how.gpus))) {
    if (!how.outer_on_host) m.optimizer += outer_state(plan, operators);
    m.buffers += nccl - m.nccl;
    m.nccl = nccl;
    // After the last step its activations and gradients are freed; a delayed exchange runs beside the steps.
    DeviceMemory between = m;
    between.moment = Moment::kStep;
    between.activations = between.gradients = Bytes{0};
    between.buffers = nccl + exchange + buckets;
    if (how.delay > 0) m.buffers += exchange;
    out.push_back(larger_of(m, between));
  }
  return out;
}

StoreMemory stored_by_rounds(const Plan& plan, const OperatorGraph& operators, const Scenario&) {
  if (!plan.round().outer_on_host) return {};
  // The CPU's update reads differences in fp32.
  const double own = trained_count(operators) / plan.round().gpus;
  return {outer_state(plan, operators) + Bytes{kFp32Bytes * own}, {}};
}

}  // namespace slmsim
