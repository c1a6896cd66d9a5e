// Megatron-LM (arXiv 1909.08053; 2104.04473; 2205.05198): layers divided by tensor parallelism inside groups of GPUs,
// consecutive layers on the stages of a pipeline, and replicas of the whole.
//
// Ranks are in Megatron-LM's order: tensor-parallel ones next to each other, then replicas, then stages.
#include "sim/technique/megatron/megatron.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/common/technique.h"

namespace slmsim {
namespace {

constexpr std::int64_t kMostGpus = 32'000, kMostChunks = 1024;

const Option<int> kTensorDegree{
    count_option({"tensor", "GPUs over which a layer is divided.", "GPUs / (pipeline x data)"}, kMostGpus, 0)};
const Option<int> kPipeline{count_option({"pipeline", "Stages of the pipeline."}, kMostGpus, 1)};
const Option<int> kReplicas{count_option({"data", "Replicas of the pipeline."}, kMostGpus, 1)};
const Option<int> kChunks{
    count_option({"chunks", "Chunks of layers per GPU; more than 1 is the interleaved schedule (arXiv 2104.04473)."},
                 kMostChunks, 1)};
const Option<bool> kSequenceParallel{
    flag_option({"sequence_parallel", "Whether norms and residuals are divided by tokens (arXiv 2205.05198)."})};
const Option<bool> kOverlap{yes_option(
    {"overlap", "Whether the tensor-parallel exchange of an input's gradient hides behind the gradient of the weights.",
     "yes, as Megatron-LM since 2022"})};
const Option<bool> kDistributedOptimizer{
    flag_option({"distributed_optimizer", "Whether replicas divide the optimizer's state and its update."})};
const Option<int> kOptimizerInstances{
    count_option({"optimizer_instances",
                  "With distributed_optimizer, groups of replicas that each divide the optimizer's state inside."},
                 kMostGpus, 1)};
constexpr std::int64_t kMostLayers = 1 << 20;
const Option<int> kFirstLayers{count_option(
    {"first_stage_layers", "Layers on the pipeline's first stage.", "as on the other stages"}, kMostLayers, 0)};
const Option<int> kLastLayers{count_option(
    {"last_stage_layers", "Layers on the pipeline's last stage.", "as on the other stages"}, kMostLayers, 0)};

// The degrees, with unstated ones determined; 0 where nothing fits.
MegatronPlan degrees_of(const TechniqueOptions& options, int gpus) {
  MegatronPlan m;
  m.tensor = options.get(kTensorDegree);
  m.pipeline = options.get(kPipeline);
  m.data = options.get(kReplicas);
  m.chunks = options.get(kChunks);
  m.sequence_parallel = options.get(kSequenceParallel);
  m.overlap = options.get(kOverlap);
  m.distributed_optimizer = options.get(kDistributedOptimizer);
  m.optimizer_instances = options.get(kOptimizerInstances);
  // With chunks Megatron-LM overlaps messages and computing (overlap_p2p_comm, its default there).
  m.order = options.get(kOrder).value_or(m.chunks > 1 ? SendOrder::kAsynchronous : SendOrder::kMegatron);
  if (m.tensor == 0) m.tensor = gpus / (m.pipeline * m.data);
  return m;
}

Division division_of(const Operator& op, const MegatronPlan& m) {
  const Sharding batch = m.data > 1 ? Sharding::kBatch : Sharding::kReplicated;
  return {batch, m.tensor == 1 ? Sharding::kReplicated : tensor_sharding(op)};
}

// Layers of the first and last stages, where the scenario states them, and of each other stage, if the rest is
// divisible; or numbers of layers whose weights are about a stage's share.
struct StageLayers {
  int first = 0, last = 0, stages = 1;  // 0: equal to the others
  std::vector<std::int64_t> ends;       // by weights: layers up to and including each stage

  StageLayers(const TechniqueOptions& options, const MegatronPlan& m)
      : first(options.get(kFirstLayers)), last(options.get(kLastLayers)), stages(m.pipeline * m.chunks) {}
  StageLayers(const PlanRequest& request, const MegatronPlan& m) : StageLayers(request.options, m) {
    if (request.scenario.software.stages_by_weights && first + last == 0 && m.chunks == 1 && m.pipeline > 1 &&
        request.model.layers + 1 >= m.pipeline)
      ends = ends_by_weights(request.operators);
  }
  // A stage ends with the layer by which the sum passes its share (nanotron/models/base.py, build_model); the last one has
  // the head, each other one a layer at least.
  std::vector<std::int64_t> ends_by_weights(const OperatorGraph& operators) const {
    const std::int64_t layers = layer_count(operators);
    std::vector<double> until(static_cast<std::size_t>(layers) + 1);
    for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
      const Operator& op = operators[v];
      if (op.layer >= 0 && op.kind == OperatorKind::kMatrix) until[static_cast<std::size_t>(op.layer)] += op.weights;
    }
    std::partial_sum(until.begin(), until.end(), until.begin());
    std::vector<std::int64_t> out;
    for (int s = 0; s + 1 < stages; ++s) {
      const double share = until.back() * (s + 1) / stages;
      const auto passes = std::upper_bound(until.begin(), until.end(), share) - until.begin() + 1;
      const std::int64_t least = out.empty() ? 1 : out.back() + 1, most = layers - (stages - 2 - s);
      out.push_back(std::clamp<std::int64_t>(passes, least, most));
    }
    out.push_back(layers);
    return out;
  }
  int others() const { return stages - (first > 0 ? 1 : 0) - (last > 0 ? 1 : 0); }
  std::int64_t each(std::int64_t layers) const { return others() == 0 ? 0 : (layers - first - last) / others(); }
  bool divide(std::int64_t layers) const {
    if (!ends.empty()) return true;
    const std::int64_t rest = layers - first - last;
    return others() == 0 ? rest == 0 : rest >= others() && rest % others() == 0;
  }
  // Number of layers up to and including stage s.
  std::int64_t until(int s, std::int64_t layers) const {
    if (s + 1 == stages) return layers;
    if (!ends.empty()) return ends[static_cast<std::size_t>(s)];
    return first > 0 ? first + s * each(layers) : (s + 1) * each(layers);
  }
};

std::string misfit(const PlanRequest& request, const MegatronPlan& m) {
  const int gpus = static_cast<int>(request.group.devices.size());
  const auto [tensor, pipeline, data] = std::array{m.tensor, m.pipeline, m.data};
  if (tensor < 1 || tensor * pipeline * data != gpus)
    return fmt::format("tensor {} x pipeline {} x data {} is not {} GPUs", std::max(tensor, 1), pipeline, data, gpus);
  if (std::string uneven = uneven_tensor(request.model, tensor); !uneven.empty()) return uneven;
  const StageLayers layers(request, m);
  if (layers.first + layers.last > 0 && (pipeline == 1 || m.chunks > 1))
    return "first_stage_layers and last_stage_layers need a pipeline without chunks";
  if (!layers.divide(request.model.layers)) {
    if (layers.first + layers.last > 0)
      return fmt::format(
          "{} layers minus {} and {} of the first and the last stage are not divisible by {} other stages",
          request.model.layers, layers.first, layers.last, layers.others());
    return fmt::format("{} layers do not divide into {} stages of {} chunks{}", request.model.layers, pipeline,
                       m.chunks, m.chunks == 1 ? "; see first_stage_layers" : "");
  }
  if (m.optimizer_instances > 1 && (!m.distributed_optimizer || data % m.optimizer_instances != 0))
    return fmt::format("optimizer_instances {} {}", m.optimizer_instances,
                       m.distributed_optimizer ? fmt::format("does not divide {} replicas", data)
                                               : "needs distributed_optimizer: yes");
  if (m.chunks > 1 && pipeline == 1) return "the interleaved schedule needs a pipeline; set pipeline";
  if (m.chunks > 1 && m.order != SendOrder::kAsynchronous)
    return "chunks need order asynchronous: messages overlap computation";
  if (request.options.recompute(false) == Recompute::kOperators)
    return "recompute: operators is for PyTorch's own checkpoints; Megatron-LM has none, selective and full";
  if (pipeline == 1 && request.options.get(kOrder)) return "order is for the messages of a pipeline; set pipeline";
  const int micro_batches = request.options.micro_batches();
  if (std::string uneven = uneven_replicas(request, data); !uneven.empty()) return uneven;
  if (m.chunks > 1 && micro_batches % pipeline != 0)
    return fmt::format("the interleaved schedule needs micro-batches in multiples of {} stages, not {}", pipeline,
                       micro_batches);
  return "";
}

PlanResult plan_megatron(const PlanRequest& request) {
  MegatronPlan m = degrees_of(request.options, static_cast<int>(request.group.devices.size()));
  // Gradients of bf16 are accumulated in fp32, regardless of the scenario (megatron/training/arguments.py).
  const Training& training = request.scenario.training;
  m.gradients = training.precision == Precision::kBf16 ? Precision::kFp32 : training.gradient_precision;
  if (std::string problem = misfit(request, m); !problem.empty()) return {std::nullopt, std::move(problem)};
  Plan plan = begin_plan(request);
  plan.by = m;
  const StageLayers layers(request, m);
  const std::size_t wide = static_cast<std::size_t>(m.tensor * m.data);
  std::size_t op = 0;
  for (int s = 0; s < layers.stages; ++s) {
    const std::int64_t end = s + 1 == layers.stages ? request.model.layers + 1 : layers.until(s, request.model.layers);
    plan.stages.push_back(grid_stage(request, op, end, s % m.pipeline, wide, m.tensor,
                                     [&](const Operator& one) { return division_of(one, m); }));
    op = plan.stages.back().last;
  }
  return {std::move(plan), ""};
}

// One micro-batch per stage.
int micro_batches(const PlanRequest& request) {
  const int replicas = std::max(1, request.options.get(kReplicas));
  return in_micro_batches(request, replicas, std::max(1, request.options.get(kPipeline)));
}

std::int64_t layers_at(const TechniqueOptions& options, std::int64_t k) {
  const StageLayers layers(options, degrees_of(options, 0));
  return layers.first + layers.last + k * std::max(layers.others(), 1);
}

// Degrees as one value, by pipeline and then by tensor; 0: the scenario's.
constexpr int kPerPipeline = 1 << 16;

std::vector<int> degrees_to_try(const VariationRequest& r) {
  const MegatronPlan own = degrees_of(r.base, r.group.gpus);
  const std::vector<int> counts = counts_to_try(r.scenario.platform);
  std::vector<int> out = {0};
  for (const int pipeline : counts) {
    const bool cuts = r.group.gpus % pipeline == 0 &&
                      (pipeline == own.pipeline || r.model.layers % (std::int64_t{pipeline} * own.chunks) == 0);
    if (pipeline > 1 && !cuts) continue;
    for (const int tensor : counts) {
      const int in_stage = r.group.gpus / pipeline;
      const bool repeats = pipeline == own.pipeline && tensor == own.tensor && in_stage == own.tensor * own.data;
      if (in_stage % tensor == 0 && !repeats) out.push_back(pipeline * kPerPipeline + tensor);
    }
  }
  return out;
}

void set_degrees(TechniqueOptions& options, int value, const Scenario&, int gpus) {
  if (value == 0) return;
  const int pipeline = value / kPerPipeline, tensor = value % kPerPipeline;
  if (pipeline != options.get(kPipeline)) {  // unequal stages belong to the scenario's own number
    options.set(kFirstLayers, 0);
    options.set(kLastLayers, 0);
  }
  options.set(kTensorDegree, tensor);
  options.set(kPipeline, pipeline);
  options.set(kReplicas, gpus / (tensor * pipeline));  // all remaining GPUs
  if (pipeline == 1) options.set(kChunks, 1);
}

std::string degrees_text(const TechniqueOptions& options, int value) {
  if (value == 0) return "";
  return fmt::format("{} tensor x {} pipeline x {} data", options.get(kTensorDegree), options.get(kPipeline),
                     options.get(kReplicas));
}

std::vector<Variation> megatron_variations() {
  return {{.values = degrees_to_try, .apply = set_degrees, .words = degrees_text}};
}

TechniqueExports exports_of_megatron(const ExportRequest& request) {
  const MegatronPlan& m = request.plan.megatron();
  TechniqueExports out;
  out.deepspeed.cannot = not_deepspeeds(*request.plan.technique);
  out.alpa.cannot = not_alpas(*request.plan.technique);
  out.megatron.tensor = m.tensor;
  auto& words = out.megatron.pipeline.emplace();
  words = {fmt::format("--pipeline-model-parallel-size {}", m.pipeline)};
  if (m.chunks > 1)
    words.push_back(fmt::format("--num-layers-per-virtual-pipeline-stage {}",
                                request.model.layers / (std::int64_t{m.pipeline} * m.chunks)));
  if (m.sequence_parallel) words.emplace_back("--sequence-parallel");
  if (!m.overlap) words.emplace_back("--no-async-tensor-model-parallel-allreduce");
  for (const auto* option : {&kFirstLayers, &kLastLayers}) {
    const int layers = request.setup.options.get(*option);
    if (layers > 0)
      words.push_back(
          fmt::format("--decoder-{}-pipeline-num-layers {}", option == &kFirstLayers ? "first" : "last", layers));
  }
  if (m.distributed_optimizer) words.emplace_back("--use-distributed-optimizer");
  if (m.optimizer_instances > 1)
    words.push_back(fmt::format("--num-distributed-optimizer-instances {}", m.optimizer_instances));
  return out;
}

}  // namespace

extern const Technique kMegatron = {
    .name = "Megatron",
    .summary = "Megatron-LM: tensor, pipeline and data parallelism",
    .style = {"#1c2733", "#000000", "d", "-", ""},
    .options = {&kTensorDegree, &kPipeline, &kReplicas, &kChunks, &kSequenceParallel, &kOverlap, &kDistributedOptimizer,
                &kOptimizerInstances, &kFirstLayers, &kLastLayers, &kOrder},
    .micro_batches = micro_batches,
    .plan = plan_megatron,
    .lower = lower_megatron,
    .memory = memory_of_megatron,
    .launcher = launched_by_processes,
    .layers_at = layers_at,
    .variations = megatron_variations,
    .exports = exports_of_megatron,
};

}  // namespace slmsim
