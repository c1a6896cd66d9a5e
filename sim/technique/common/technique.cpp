#include "sim/technique/common/technique.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/operator_graph.h"

namespace slmsim {

namespace {

std::string cannot_train_adapters(const Technique& technique) {
  std::vector<std::string> others;
  for (const Technique* other : technique_table()) {
    if (other->trains_adapters) others.emplace_back(other->name);
  }
  return fmt::format("{} is modelled with all parameters trained; with training.lora choose among {}", technique.name,
                     fmt::join(others, ", "));
}

}  // namespace

PlanResult make_plan(const PlanRequest& request) {
  const Technique& technique = *request.options.technique;
  if (request.model.lora && !technique.trains_adapters) return {std::nullopt, cannot_train_adapters(technique)};
  TechniqueOptions options = request.options;
  const int stated = request.scenario.training.gradient_accumulation;
  if (options.micro_batches() == 0) options.set(kMicroBatches, stated > 0 ? stated : technique.micro_batches(request));
  return technique.plan({request.scenario, request.model, request.operators, request.group, options, request.tables});
}

Plan begin_plan(const PlanRequest& request) {
  Plan plan;
  plan.technique = request.options.technique;
  plan.micro_batches = request.options.micro_batches();
  plan.recompute = request.options.recompute(request.scenario.training.rematerialisation);
  return plan;
}

std::string uneven_tensor(const Transformer& model, int tensor) {
  if (model.heads % tensor == 0 && model.hidden % tensor == 0) return "";
  return fmt::format("{} heads of {} are not divisible by {} GPUs", model.heads, model.hidden, tensor);
}

std::string uneven_replicas(const PlanRequest& request, int replicas) {
  const int batch = request.scenario.training.batch, micro_batches = request.options.micro_batches();
  if (batch % (replicas * micro_batches) == 0) return "";
  return fmt::format("a batch of {} does not divide into {} micro-batches of {} replicas; batches of {} do", batch,
                     micro_batches, replicas, nearest_batches(batch, replicas * micro_batches));
}

Stage grid_stage(const PlanRequest& request, std::size_t first, std::int64_t end, int at, std::size_t wide, int tensor,
                 const std::function<Division(const Operator&)>& division) {
  Stage stage;
  stage.first = stage.last = first;
  const std::size_t count = boost::num_vertices(request.operators);
  for (; stage.last < count && request.operators[stage.last].layer < end; ++stage.last)
    stage.shardings.push_back(division(request.operators[stage.last]));
  const auto begin = request.group.devices.begin() + static_cast<long>(wide) * at;
  stage.mesh.assign(begin, begin + static_cast<long>(wide));
  stage.batch_shares.assign(wide, 1.0 / static_cast<double>(wide));
  stage.columns = tensor;
  return stage;
}

int in_micro_batches(const PlanRequest& request, int replicas, int otherwise) {
  const Training& training = request.scenario.training;
  if (training.micro_batch == 0) return otherwise;
  const int share = training.batch / replicas;
  const int divided = training.batch % replicas == 0 ? share : training.batch;
  int count = 1;  // the largest so far that leaves each replica a sequence
  for (int next = 1; next <= share; ++next) {
    if (divided % next != 0) continue;
    count = next;
    if (training.batch / next <= replicas * training.micro_batch) break;
  }
  return count;
}

int one_sequence_each(const PlanRequest& request) {
  if (request.scenario.training.micro_batch > 0) return all_at_once(request);
  const int batch = request.scenario.training.batch;
  int count = std::max(1, batch / static_cast<int>(request.group.devices.size()));
  while (batch % count != 0) --count;
  return count;
}

int one_sequence(const PlanRequest& request) { return in_micro_batches(request, 1, request.scenario.training.batch); }

int all_at_once(const PlanRequest& request) {
  return in_micro_batches(request, static_cast<int>(request.group.devices.size()), 1);
}

Launcher launched_by_processes(const TechniqueOptions&) { return Launcher::kProcesses; }
Launcher launched_by_driver(const TechniqueOptions&) { return Launcher::kDriverOnFirst; }

std::string not_deepspeeds(const Technique& technique) {
  return fmt::format(
      "{} divides operators or layers, which a DeepSpeed configuration cannot state; a pipeline is part of the model "
      "(deepspeed.pipe.PipelineModule)",
      technique.name);
}

std::string not_alpas(const Technique& technique) {
  return fmt::format("{} is not one of Alpa's methods", technique.name);
}

namespace {

constexpr std::size_t kMostGpusOneByOne = 8;

}  // namespace

std::vector<int> counts_to_try(const Platform& platform) {
  const bool small = platform.devices.size() <= kMostGpusOneByOne;
  std::vector<int> out;
  for (int n = 1; n <= static_cast<int>(platform.devices.size()); n = small ? n + 1 : 2 * n) out.push_back(n);
  return out;
}

std::vector<int> yes_or_no(bool both) { return both ? std::vector{0, 1} : std::vector{0}; }

}  // namespace slmsim
