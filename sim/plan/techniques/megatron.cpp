// Megatron-LM (arXiv 1909.08053; 2104.04473; 2205.05198): layers divided by tensor parallelism inside groups of GPUs,
// consecutive layers on the stages of a pipeline, and replicas of all that.
//
// Ranks lie as Megatron-LM numbers them: tensor-parallel ones next to each other, then replicas, then stages.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/plan/techniques/technique_plan.h"

namespace slmsim {
namespace {

Division division_of(const Operator& op, const MegatronOptions& m) {
  const Sharding batch = m.data > 1 ? Sharding::kBatch : Sharding::kReplicated;
  if (m.tensor == 1) return {batch, Sharding::kReplicated};
  const bool alike = op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kResidual;
  const bool rows = op.kind == OperatorKind::kEmbedding || op.name == "projection" || op.name == "mlp down";
  return {batch, alike ? Sharding::kReplicated : rows ? Sharding::kRow : Sharding::kColumn};
}

std::string misfit(const PlanRequest& request, const MegatronOptions& m) {
  const int gpus = static_cast<int>(request.group.devices.size());
  const auto [tensor, pipeline, data] = std::array{m.tensor, m.pipeline, m.data};
  if (tensor < 1 || tensor * pipeline * data != gpus)
    return fmt::format("tensor {} x pipeline {} x data {} is not {} GPUs", std::max(tensor, 1), pipeline, data, gpus);
  if (request.model.heads % tensor != 0 || request.model.hidden % tensor != 0)
    return fmt::format("{} heads of {} do not divide by {} GPUs", request.model.heads, request.model.hidden, tensor);
  const int virtual_stages = pipeline * m.chunks;
  if (request.model.layers % virtual_stages != 0)
    return fmt::format("{} layers do not divide into {} stages of {} chunks", request.model.layers, pipeline, m.chunks);
  if (m.chunks > 1 && pipeline == 1) return "the interleaved schedule needs a pipeline; set pipeline";
  const int micro_batches = request.options.micro_batches;
  if (request.scenario.training.batch % (data * micro_batches) != 0)
    return fmt::format("a batch of {} does not divide into {} micro-batches of {} replicas",
                       request.scenario.training.batch, micro_batches, data);
  if (m.chunks > 1 && micro_batches % pipeline != 0)
    return fmt::format("the interleaved schedule needs micro-batches in multiples of {} stages, not {}", pipeline,
                       micro_batches);
  return "";
}

}  // namespace

PlanResult plan_megatron(const PlanRequest& request) {
  MegatronOptions m = request.options.megatron;
  const int gpus = static_cast<int>(request.group.devices.size());
  if (m.tensor == 0) m.tensor = gpus / (m.pipeline * m.data);
  if (!m.recompute) m.recompute = request.scenario.training.rematerialisation ? Recompute::kFull : Recompute::kNone;
  if (std::string problem = misfit(request, m); !problem.empty()) return {std::nullopt, std::move(problem)};
  Plan plan;
  plan.technique = request.options.technique;
  plan.micro_batches = request.options.micro_batches;
  plan.megatron = m;
  const int stages = m.pipeline * m.chunks;
  const auto each = static_cast<int>(request.model.layers) / stages;
  const std::size_t wide = static_cast<std::size_t>(m.tensor * m.data);
  std::size_t op = 0;
  const std::size_t count = boost::num_vertices(request.operators);
  for (int s = 0; s < stages; ++s) {
    Stage stage;
    stage.first = op;
    const int end = s + 1 == stages ? static_cast<int>(request.model.layers) + 1 : (s + 1) * each;
    for (; op < count && request.operators[op].layer < end; ++op)
      stage.shardings.push_back(division_of(request.operators[op], m));
    stage.last = op;
    const auto first = request.group.devices.begin() + static_cast<long>(wide) * (s % m.pipeline);
    stage.mesh.assign(first, first + static_cast<long>(wide));
    stage.batch_shares.assign(wide, 1.0 / static_cast<double>(wide));
    stage.columns = m.tensor;
    plan.stages.push_back(std::move(stage));
  }
  return {std::move(plan), ""};
}

}  // namespace slmsim
