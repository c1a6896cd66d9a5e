// Pipeshard: Alpa's inter-operator parallelism. Layers become stages on meshes of GPUs, and operators are divided
// inside a stage.
//
// By default Alpa's uniform stages: one per VM (inside a single VM one per GPU), layers split evenly by their FLOPs,
// the embedding in the first stage and the head in the last. With `stages: auto`, or by planner kSlmsim, the
// inter-operator planner chooses both.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/compute/operator_graph.h"
#include "sim/engine/pending.h"
#include "sim/engine/simulate.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/planned.h"
#include "sim/technique/alpa/planner/speed.h"
#include "sim/technique/alpa/planner/stage_choice.h"
#include "sim/technique/alpa/planner/stage_plan.h"

namespace slmsim {
namespace {

// Tasks of a plan that is simulated to choose among others, for some tens of milliseconds.
constexpr std::size_t kMostTasksOfChoice = 5'000;

// One mesh per VM of the group, in the group's order; for a group inside one VM one mesh per GPU. With `stages` given,
// that number of meshes of equal size in the group's order.
std::vector<std::vector<int>> meshes_of(const Platform& platform, const std::vector<int>& devices, int stages) {
  std::vector<std::vector<int>> meshes;
  if (stages > 0) {
    const std::size_t size = devices.size() / static_cast<std::size_t>(stages);
    for (std::size_t i = 0; i < devices.size(); i += size)
      meshes.emplace_back(devices.begin() + static_cast<long>(i), devices.begin() + static_cast<long>(i + size));
    return meshes;
  }
  std::map<int, std::size_t> mesh_of_vm;
  for (const int device : devices) {
    const int vm = platform.devices[device].vm;
    const auto [at, is_new] = mesh_of_vm.try_emplace(vm, meshes.size());
    if (is_new) meshes.emplace_back();
    meshes[at->second].push_back(device);
  }
  if (meshes.size() > 1) return meshes;
  meshes.clear();
  for (const int device : devices) meshes.push_back({device});
  return meshes;
}

// Cost of each layer in each stage: FLOPs, or seconds on the slowest GPU of the stage's mesh, shared by all its GPUs.
// The embedding counts with the first layer and the head with the last.
std::vector<std::vector<double>> layer_costs(const PlanRequest& request, const std::vector<std::vector<int>>& meshes) {
  const auto& [scenario, model, operators, group, options, tables] = request;
  const bool by_speed = options.get(kSplit) == StageSplit::kSpeed;
  const std::vector<int> kinds = gpu_kinds(scenario.platform);
  std::map<int, std::vector<Seconds>> times_of;  // by kind of GPU
  std::vector<std::vector<double>> costs;
  for (const auto& mesh : meshes) {
    std::vector<Seconds> slowest(boost::num_vertices(operators));
    for (std::size_t i = 0; by_speed && i < mesh.size(); ++i) {
      std::vector<Seconds>& times = times_of[kinds[mesh[i]]];
      if (times.empty()) times = operator_times(operators, scenario.platform.devices[mesh[i]].gpu, scenario);
      for (std::size_t v = 0; v < times.size(); ++v) slowest[v] = std::max(slowest[v], times[v]);
    }
    costs.emplace_back(static_cast<std::size_t>(model.layers), 0.0);
    for (std::size_t v = 0; v < slowest.size(); ++v) {
      const double cost = by_speed ? slowest[v].value / static_cast<double>(mesh.size()) : operators[v].matrix.flops();
      costs.back()[std::clamp<std::int64_t>(operators[v].layer, 0, model.layers - 1)] += cost;
    }
  }
  return costs;
}

// First operator of each stage and, last, the number of operators: cuts between layers that minimise the largest cost
// of a stage; dynamic programming over stages and layers.
std::vector<std::size_t> balanced_cuts(const OperatorGraph& operators, const std::vector<std::vector<double>>& costs) {
  const std::size_t count = boost::num_vertices(operators), stages = costs.size(), n = costs.front().size();
  std::vector<std::size_t> starts;  // first operator of each layer; the first layer's stage also takes the embedding
  for (std::size_t v = 0; v < count; ++v) {
    const auto layer =
        static_cast<std::size_t>(std::clamp<std::int64_t>(operators[v].layer, 0, static_cast<std::int64_t>(n) - 1));
    if (layer == starts.size()) starts.push_back(v);
  }
  // best[s][l]: smallest maximum when layers 0..l-1 make s stages.
  std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, 1e300));
  std::vector<std::vector<std::size_t>> cut(stages + 1, std::vector<std::size_t>(n + 1, 0));
  best[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s) {
    std::vector<double> before(n + 1, 0.0);
    for (std::size_t l = 0; l < n; ++l) before[l + 1] = before[l] + costs[s - 1][l];
    for (std::size_t l = s; l <= n; ++l) {
      for (std::size_t k = l; k-- > s - 1;) {
        if (before[l] - before[k] > best[s][l]) break;  // from earlier layers on it is larger
        const double largest = std::max(best[s - 1][k], before[l] - before[k]);
        if (largest <= best[s][l]) {
          best[s][l] = largest;
          cut[s][l] = k;
        }
      }
    }
  }
  std::vector<std::size_t> cuts = {count};
  for (std::size_t s = stages, l = n; s > 0; --s) {
    l = cut[s][l];
    cuts.push_back(l == 0 ? 0 : starts[l]);
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

struct StageSelection {
  std::vector<ChosenStage> stages;
  std::string reason;  // if there are no stages
};

// Alpa's UniformStageOption: equal meshes, layers of equal FLOPs; or of equal time on unequal meshes.
StageSelection uniform_stages(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, tables] = request;
  const auto meshes = meshes_of(scenario.platform, group.devices, options.get(kStages));
  if (static_cast<std::int64_t>(meshes.size()) > model.layers) {
    return {{},
            fmt::format("{} stages need at least one layer each; {} has {}", meshes.size(), model.name, model.layers)};
  }
  // A planner may leave a pipeline a single stage.
  if (meshes.size() < 2 && !planner_cuts_stages(options)) return {{}, "a pipeline needs at least two GPUs"};
  const auto cuts = balanced_cuts(operators, layer_costs(request, meshes));
  StageSelection chosen;
  for (std::size_t s = 0; s < meshes.size(); ++s) chosen.stages.push_back({cuts[s], cuts[s + 1], meshes[s]});
  return chosen;
}

// The order of micro-batches and messages; a reason where these are incompatible.
struct Orders {
  OperatorPlan plan;
  const char* reason = nullptr;
};

Orders orders_of(const TechniqueOptions& options) {
  const Schedule schedule = options.get(kSchedule);
  const bool zero_bubble = schedule == Schedule::kZeroBubble;
  const SendOrder order = send_order_by(options);
  const int ahead = options.get(kAhead);
  const bool of_stream = order == SendOrder::kDeepSpeed || order == SendOrder::kMegatron;
  Orders out{{.schedule = schedule, .order = order, .ahead = ahead}};
  if (ahead > 0 && schedule != Schedule::kOneForwardOneBackward)
    out.reason = "ahead is for schedule 1f1b";
  else if (zero_bubble && order != SendOrder::kAsynchronous)
    out.reason = "schedule zb-h1 needs order asynchronous: it sends each message once computed";
  else if (of_stream && (schedule != Schedule::kOneForwardOneBackward || ahead > 0))
    out.reason = "DeepSpeed's and Megatron-LM's order is that of schedule 1f1b, without ahead";
  return out;
}

// A plan without stages.
PlanResult begin_pipeline(const PlanRequest& request) {
  const auto& [scenario, model, operators, group, options, tables] = request;
  if (std::string uneven = uneven_micro_batches(scenario.training, options.micro_batches()); !uneven.empty())
    return {std::nullopt, std::move(uneven)};
  const int wanted = options.get(kStages);
  if (wanted > 0 && group.devices.size() % static_cast<std::size_t>(wanted) != 0)
    return {std::nullopt, fmt::format("{} GPUs do not divide into {} stages", group.devices.size(), wanted)};
  const Orders orders = orders_of(options);
  if (orders.reason) return {std::nullopt, orders.reason};
  PlanResult begun{begin_plan(request), ""};
  begun.plan->by = orders.plan;
  return begun;
}

// Why a stage's GPUs do not divide by the tensor degree; empty where they do.
std::string uneven_mesh(std::size_t gpus, int tensor) {
  if (gpus % static_cast<std::size_t>(tensor) == 0) return "";
  return fmt::format("a stage of {} GPUs does not divide into groups of {} for tensor parallelism", gpus, tensor);
}

// The plan of these stages; `network`: for a planner that cuts them.
PlanResult with_stages(const PlanRequest& request, PlanResult begun, const std::vector<ChosenStage>& chosen,
                       const Network* network) {
  const TechniqueOptions& options = request.options;
  const bool by_slmsim = options.get(kPlanner) == Planner::kSlmsim;
  Plan& plan = *begun.plan;
  for (const auto& [first, last, mesh] : chosen) {
    const int in_flight = micro_batches_in_flight(options.get(kSchedule), options.micro_batches(), chosen.size(),
                                                  plan.stages.size(), options.get(kAhead));
    std::optional<Bytes> limit;
    // Half a percent less, for the data of neighbouring stages.
    if (by_slmsim) limit = memory_for_operators(request.scenario, mesh) * 0.995;
    const int tensor = std::max(1, options.get(kTensor));
    if (std::string uneven = uneven_mesh(mesh.size(), tensor); !uneven.empty())
      return {std::nullopt, std::move(uneven)};
    StageRequest stage{request, network, first, last, mesh, tensor, in_flight, limit};
    StageResult result = plan_stage(stage);
    if (!result.stage) {  // the fastest one then shows the missing memory
      stage.memory_limit.reset();
      result = plan_stage(stage);
    }
    plan.stages.push_back(std::move(*result.stage));
  }
  return begun;
}

// Mean of a few iterations after the first ones, from new connections.
Seconds lasting_iteration(const PlanRequest& request, const Plan& plan, const Network& network) {
  constexpr int kFirst = 16, kMeant = 16;
  LowerRequest lowering{plan, request.operators, request.scenario, network};
  lowering.most_tasks = kMostTasksOfChoice;
  const TaskGraph graph = lower_operators(lowering).graph;
  const Successors successors(graph);
  Timeline iteration;
  Seconds sum{0};
  for (int i = 0; i < kFirst + kMeant; ++i) {
    const std::vector<ConnectionState> before = iteration.connections;
    iteration = simulate(graph, before, {}, &successors, std::move(iteration));
    if (i >= kFirst) sum += iteration.end;
  }
  return sum / kMeant;
}

PlanResult plan_pipeshard(const PlanRequest& request) {
  PlanResult begun = begin_pipeline(request);
  if (!begun.plan) return begun;
  std::optional<Network> network;
  std::vector<std::vector<ChosenStage>> chosen;
  if (planner_cuts_stages(request.options)) chosen = choose_stages(request, network.emplace(request.scenario.platform));
  // Where nothing fits, equal stages are used to report the missing memory.
  if (chosen.empty()) {
    StageSelection uniform = uniform_stages(request);
    if (uniform.stages.empty()) return {std::nullopt, std::move(uniform.reason)};
    chosen.push_back(std::move(uniform.stages));
  }
  std::vector<PlanResult> plans;
  plans.reserve(chosen.size());
  for (const auto& stages : chosen) plans.push_back(with_stages(request, begun, stages, network ? &*network : nullptr));
  if (plans.size() == 1 || std::ranges::any_of(plans, [](const PlanResult& one) { return !one.plan; }))
    return std::move(plans.front());
  std::size_t best = 0;
  try {
    std::vector<Seconds> times;
    times.reserve(plans.size());
    for (const PlanResult& one : plans) times.push_back(lasting_iteration(request, *one.plan, *network));
    best = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
  } catch (const TooManyTasks&) {  // the formula chooses
  }
  return std::move(plans[best]);
}

PlanResult outline_pipeshard(const PlanRequest& request) {
  PlanResult begun = begin_pipeline(request);
  if (!begun.plan) return begun;
  std::vector<Stage> stages;
  StageSelection chosen = uniform_stages(request);
  const int tensor = std::max(1, request.options.get(kTensor));
  for (const auto& [first, last, mesh] : chosen.stages) {
    if (chosen.reason.empty()) chosen.reason = uneven_mesh(mesh.size(), tensor);
    stages.push_back({.first = first, .last = last, .mesh = mesh, .columns = tensor});
  }
  if (chosen.reason.empty()) {
    begun.plan->stages = std::move(stages);
  } else if (!planner_cuts_stages(request.options)) {
    return {std::nullopt, std::move(chosen.reason)};
  }
  return begun;
}

StageCuts cuts_of_pipeshard(const PlanRequest& request) {
  return planner_cuts_stages(request.options) ? stage_cuts(request) : StageCuts{};
}

// The planner may start with a GPU other than the group's first.
Launcher launcher(const TechniqueOptions& options) {
  return options.get(kPlanner) == Planner::kAlpa ? Launcher::kDriverOnFirst : Launcher::kDriverOfPlan;
}

// Values of the stages: 0 one per VM, 1 the planner's, else their number.
constexpr int kPlanners = 1;

Variation stages_variation() {
  return {.values =
              [](const VariationRequest& r) {
                const auto layers = r.model.layers;
                const bool per_vm = r.group.gpus > 1 && (r.group.vms > 1 ? r.group.vms : r.group.gpus) <= layers;
                std::vector<int> out;
                // Planner slmsim takes its own stages, or a stated number.
                if (per_vm && r.so_far.get(kPlanner) == Planner::kAlpa) out.push_back(0);
                out.push_back(kPlanners);
                for (const int n : counts_to_try(r.scenario.platform)) {
                  if (n > 1 && n <= layers && r.group.gpus % n == 0) out.push_back(n);
                }
                return out;
              },
          .apply = [](TechniqueOptions& o, int value, const Scenario&,
                      int) { o.set(kStages, value == kPlanners ? kAutomatic : value); },
          .words = [](const TechniqueOptions& o, int value) -> std::string {
            if (value > 1) return fmt::format("{} stages", value);
            if (o.get(kPlanner) == Planner::kSlmsim) return "";
            return value == kPlanners ? "stages by Alpa's planner" : "a stage per VM";
          },
          .with = 0};
}

// Values of the schedule: those of Schedule, and 1F1B with one further micro-batch in flight for each boundary.
constexpr int kOneAhead = 3;

std::vector<Variation> pipeshard_variations() {
  Variation planner = planner_variation();
  planner.values = [](const VariationRequest& r) {
    // Planner slmsim orders the VMs itself.
    return yes_or_no(!(r.group.reordered && r.group.vms <= static_cast<int>(kMostVmsPermuted)));
  };
  const Variation split = {
      .values = [](const VariationRequest& r) { return yes_or_no(!planner_cuts_stages(r.so_far)); },
      .apply = [](TechniqueOptions& o, int value, const Scenario&,
                  int) { o.set(kSplit, static_cast<StageSplit>(value)); },
      .words = [](const TechniqueOptions&, int value) -> std::string { return value == 1 ? "split by speed" : ""; }};
  const Variation schedule = {
      .values =
          [](const VariationRequest&) {
            return std::vector{0, 1, 2, kOneAhead};
          },
      .apply =
          [](TechniqueOptions& o, int value, const Scenario&, int) {
            o.set(kSchedule, value == kOneAhead ? Schedule::kOneForwardOneBackward : static_cast<Schedule>(value));
            o.set(kAhead, value == kOneAhead ? 1 : 0);
          },
      .words = [](const TechniqueOptions&, int value) -> std::string {
        constexpr std::array kWords = {"", "GPipe", "zero bubble", "1 ahead"};
        return kWords[value];
      }};
  Variation tensor = tensor_variation();
  tensor.with = 1;  // the stages
  return {planner, stages_variation(), split, schedule, tensor};
}

TechniqueExports exports_of_pipeshard(const ExportRequest& request) {
  TechniqueExports out;
  out.deepspeed.cannot = not_deepspeeds(*request.plan.technique);
  out.megatron = planned_for_megatron(request);
  out.alpa = alpa_pipeline(request);
  const OperatorPlan& how = request.plan.operators();
  if (how.order == SendOrder::kAsynchronous) out.torch = pipeline_of_torch(request.plan);
  if (how.schedule == Schedule::kZeroBubble)
    out.alpa.cannot = "Alpa's schedules do not compute the gradients of weights separately";
  else if (how.order != SendOrder::kAlpa)
    out.alpa.cannot = "the order of its messages differs from Alpa's; leave order out";
  else if (how.ahead > 1)
    out.alpa.cannot = "Alpa's 1f1b_overlap_friendly has one more in flight for each boundary; choose ahead 1";
  for (auto& note : notes_on_planner(request)) out.alpa.notes.push_back(std::move(note));
  return out;
}

}  // namespace

extern const Technique kPipeshard = {
    .name = "Pipeshard",
    .summary = "Alpa's inter-operator parallelism: stages on VMs, operators divided inside",
    .usual = true,
    .trial = Trial::kPipeline,
    .style = {"#9c3d00", "#d55e00", "D", "0 1 1", ""},
    .options = {&kPlanner, &kTensor, &kSchedule, &kAhead, &kOrder, &kSplit, &kStages},
    .micro_batches = one_sequence,
    .plan = plan_pipeshard,
    .outline = outline_pipeshard,
    .cuts = cuts_of_pipeshard,
    .lower = lower_operators,
    .memory = memory_by_operators,
    .launcher = launcher,
    .remarks = remarks_on_division,
    .variations = pipeshard_variations,
    .exports = exports_of_pipeshard,
};

}  // namespace slmsim
