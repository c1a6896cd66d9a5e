// Megatron-LM (arXiv 1909.08053; 2104.04473; 2205.05198): layers divided by tensor parallelism inside groups of GPUs,
// consecutive layers on the stages of a pipeline, and replicas of all that.
//
// Ranks lie as Megatron-LM numbers them: tensor-parallel ones next to each other, then replicas, then stages.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/lower/megatron_run.h"
#include "sim/memory/megatron_memory.h"
#include "sim/planner/option.h"
#include "sim/technique/technique.h"

namespace slmsim {
namespace {

constexpr std::int64_t kMostGpus = 8192, kMostChunks = 1024;

const Option<int> kTensorDegree{
    count_option({"tensor", "GPUs over which a layer is divided.", "all that pipeline and data leave"}, kMostGpus, 0)};
const Option<int> kPipeline{count_option({"pipeline", "Stages of the pipeline."}, kMostGpus, 1)};
const Option<int> kReplicas{count_option({"data", "Replicas of the pipeline."}, kMostGpus, 1)};
const Option<int> kChunks{
    count_option({"chunks", "Chunks of layers per GPU; more than 1 is the interleaved schedule (arXiv 2104.04473)."},
                 kMostChunks, 1)};
const Option<bool> kSequenceParallel{
    flag_option({"sequence_parallel", "Whether norms and residuals are divided by tokens (arXiv 2205.05198)."})};

// Degrees with what was left open settled; 0 where nothing fits.
MegatronPlan degrees_of(const TechniqueOptions& options, int gpus) {
  MegatronPlan m{options.get(kTensorDegree), options.get(kPipeline), options.get(kReplicas), options.get(kChunks),
                 options.get(kSequenceParallel)};
  // With chunks Megatron-LM overlaps messages and computing (overlap_p2p_comm, its default there).
  m.order = options.get(kOrder).value_or(m.chunks > 1 ? SendOrder::kAsynchronous : SendOrder::kMegatron);
  if (m.tensor == 0) m.tensor = gpus / (m.pipeline * m.data);
  return m;
}

Division division_of(const Operator& op, const MegatronPlan& m) {
  const Sharding batch = m.data > 1 ? Sharding::kBatch : Sharding::kReplicated;
  return {batch, m.tensor == 1 ? Sharding::kReplicated : tensor_sharding(op)};
}

std::string misfit(const PlanRequest& request, const MegatronPlan& m) {
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
  if (m.chunks > 1 && m.order != SendOrder::kAsynchronous)
    return "with chunks messages overlap computing: order asynchronous";
  if (pipeline == 1 && request.options.get(kOrder)) return "order is of a pipeline's messages; set pipeline";
  const int micro_batches = request.options.micro_batches();
  if (request.scenario.training.batch % (data * micro_batches) != 0)
    return fmt::format("a batch of {} does not divide into {} micro-batches of {} replicas",
                       request.scenario.training.batch, micro_batches, data);
  if (m.chunks > 1 && micro_batches % pipeline != 0)
    return fmt::format("the interleaved schedule needs micro-batches in multiples of {} stages, not {}", pipeline,
                       micro_batches);
  return "";
}

PlanResult plan_megatron(const PlanRequest& request) {
  const MegatronPlan m = degrees_of(request.options, static_cast<int>(request.group.devices.size()));
  if (std::string problem = misfit(request, m); !problem.empty()) return {std::nullopt, std::move(problem)};
  Plan plan = begin_plan(request);
  plan.by = m;
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

// As many as there are stages.
int micro_batches(const PlanRequest& request) { return std::max(1, request.options.get(kPipeline)); }

int layer_step(const TechniqueOptions& options) { return options.get(kPipeline) * options.get(kChunks); }

// Degrees as one value, by pipeline and then by tensor; 0: those that the scenario gives.
constexpr int kPerPipeline = 1 << 16;

std::vector<int> degrees_to_try(const VariationRequest& r) {
  const MegatronPlan own = degrees_of(r.base, r.group.gpus);
  const std::vector<int> counts = counts_to_try(r.scenario.platform);
  std::vector<int> out = {0};
  for (const int pipeline : counts) {
    const bool cuts = r.group.gpus % pipeline == 0 && r.model.layers % (std::int64_t{pipeline} * own.chunks) == 0;
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
  options.set(kTensorDegree, tensor);
  options.set(kPipeline, pipeline);
  options.set(kReplicas, gpus / (tensor * pipeline));  // all that is left
  if (pipeline == 1) options.set(kChunks, 1);
}

std::string degrees_text(const TechniqueOptions& options, int value) {
  if (value == 0) return "";
  return fmt::format("{} tensor x {} pipeline x {} data", options.get(kTensorDegree), options.get(kPipeline),
                     options.get(kReplicas));
}

std::vector<Variation> variations() {
  return {{.values = degrees_to_try, .apply = set_degrees, .words = degrees_text}};
}

ExportWays exports(const ExportRequest& request) {
  const MegatronPlan& m = request.plan.megatron();
  ExportWays out;
  out.deepspeed.cannot = not_deepspeeds(*request.plan.technique);
  out.alpa.cannot = not_alpas(*request.plan.technique);
  out.megatron.tensor = m.tensor;
  auto& words = out.megatron.pipeline.emplace();
  words = {fmt::format("--pipeline-model-parallel-size {}", m.pipeline)};
  if (m.chunks > 1)
    words.push_back(fmt::format("--num-layers-per-virtual-pipeline-stage {}",
                                request.model.layers / (std::int64_t{m.pipeline} * m.chunks)));
  if (m.sequence_parallel) words.emplace_back("--sequence-parallel");
  return out;
}

}  // namespace

extern const Technique kMegatron = {
    .name = "Megatron",
    .summary = "Megatron-LM: tensor, pipeline and data parallelism",
    .looks = {"#6a8fb0", "#000000", "d", "-", ""},
    .options = {&kTensorDegree, &kPipeline, &kReplicas, &kChunks, &kSequenceParallel, &kOrder, &kRecompute},
    .micro_batches = micro_batches,
    .plan = plan_megatron,
    .lower = lower_megatron,
    .memory = memory_of_megatron,
    .launcher = launched_by_processes,
    .recompute = recompute_as_told,
    .layer_step = layer_step,
    .variations = variations,
    .exports = exports,
};

}  // namespace slmsim
