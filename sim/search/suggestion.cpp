#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/crew/crew.h"
#include "sim/platform/network.h"
#include "sim/predict/algorithm.h"
#include "sim/search/offer.h"
#include "sim/search/plan_job.h"

namespace slmsim {
namespace {

// Iterations over paths between sites are simulated several times, until their windows settle.
constexpr double kWorkOfSites = 4;
// A plan takes as long as this many tasks.
constexpr double kWorkOfPlan = 150;
// Micro-batches that repeat are simulated once (sim/predict/repeating.h).
constexpr int kMostMicroBatches = 8;
// Tasks of an inner step of a GPU that trains alone.
constexpr double kTasksOfStepAlone = 4;
constexpr int kStepsBesideExchange = 6;  // two before those that repeat them, lowered twice
// Tasks of the predictions of ways to fit that need no search: about a second.
constexpr double kWorkOfRemedies = 300'000;
// Effort of the search for a way to fit: a fraction of a second.
constexpr double kShortSearch = 0.005;

// 16 bits in place of fp32, where all GPUs have them; else empty.
std::string half_override(const Scenario& scenario) {
  const auto half = half_precision(scenario.platform, all_devices(scenario.platform));
  if (scenario.training.precision != Precision::kFp32 || !half) return "";
  return "training.precision=" + name_in(precision_names(), *half);
}

}  // namespace

bool Best::offer(const Prediction& p, const Overrides& set) {
  if (p.status != Status::kOk || (p.fit == Fit::kAtEdge && !at_edge) || cost_of(p, objective) >= cost) return false;
  cost = cost_of(p, objective);
  change = set;
  found = Suggestion{"--set " + set_words(set), fmt::format("{} on {}", p.technique->name, group_text(p.group)),
                     p.job * factor};
  return true;
}

const Group* group_of(const Scenario& scenario, const std::vector<std::string>& names) {
  const auto at = std::find_if(scenario.groups.begin(), scenario.groups.end(),
                               [&](const Group& group) { return group.names == names; });
  return at == scenario.groups.end() ? nullptr : &*at;
}

std::vector<std::string> other_techniques(const Scenario& scenario) {
  std::vector<std::string> out;
  for (const Technique* technique : technique_table()) {
    const bool known = std::any_of(scenario.techniques.begin(), scenario.techniques.end(),
                                   [&](const TechniqueOptions& t) { return t.technique == technique; });
    if (!known && technique->trial == Trial::kNone) out.emplace_back(technique->name);
  }
  return out;
}

Overrides techniques_of(const std::vector<std::string>& names) {
  return {fmt::format("techniques=[{}]", fmt::join(names, ", "))};
}

double work_on(const Scenario& scenario, const Prediction& p, const std::vector<std::string>& names) {
  const auto model = std::find_if(scenario.models.begin(), scenario.models.end(),
                                  [&](const Transformer& one) { return one.name == p.model; });
  const Group* group = group_of(scenario, names);
  if (!p.plan || !group || model == scenario.models.end()) return kWorkOfPlan;
  const double gpus = static_cast<double>(group->devices.size()), layers = static_cast<double>(model->layers);
  // In a round the layers of a GPU that trains alone are one task, and micro-batches are added up.
  const auto* round = std::get_if<RoundPlan>(&p.plan->by);
  const double of_step = !round            ? std::min(p.plan->micro_batches, kMostMicroBatches) * layers
                         : round->gpus > 1 ? layers
                                           : kTasksOfStepAlone;
  int steps = p.round ? p.round->steps : 1;
  const auto replica_in_vm = [&] {
    const auto of_replica = static_cast<std::size_t>(round->gpus);
    return !spans_vms(scenario.platform, std::span(p.plan->stages.front().mesh).first(of_replica));
  };
  // Other steps repeat these (sim/predict/passages.h).
  if (round && replica_in_vm()) steps = std::min(steps, round->fragments * (kStepsBesideExchange + round->delay));
  const double tasks = steps * gpus * of_step;
  return kWorkOfPlan + (spans_sites(scenario.platform, group->devices) ? tasks * kWorkOfSites : tasks);
}

void offer_remedies(const RunResult& result, const std::string& name, const VerdictOptions& options,
                    const std::function<void(const Prediction&, const Overrides&)>& offer) {
  double left = kWorkOfRemedies;
  for (const bool again : {false, true}) {
    if (again && result.scenario.training.rematerialisation) return;
    const Overrides first = again ? Overrides{"training.rematerialisation=yes"} : Overrides{};
    const auto scenario = again ? options.reload(first) : std::optional(result.scenario);
    if (!scenario) continue;
    const auto model = std::ranges::find(scenario->models, name, &Transformer::name);
    if (model == scenario->models.end()) continue;
    const OperatorGraph operators = build_operator_graph(*model);
    for (const Prediction& p : result.predictions) {
      if (p.model != name || p.status != Status::kOutOfMemory || !p.plan) continue;
      const Group* group = group_of(*scenario, p.group);
      const auto technique = std::ranges::find(scenario->techniques, p.technique, &TechniqueOptions::technique);
      if (!group || technique == scenario->techniques.end()) continue;
      const PlanRequest request{*scenario, *model, operators, *group, *technique};
      const int now = p.plan->micro_batches;
      bool at_edge = true;
      for (int least = again ? now : now + 1; at_edge;) {
        const int count = fitting_micro_batches(request, least);
        if (count == 0) break;
        left -= work_on(result.scenario, p, p.group);
        if (left < 0 || (options.stop && options.stop())) return;
        Overrides set = first;
        if (count != now) set.push_back(micro_batches_override(*p.technique, count));
        const auto changed = options.reload(set);
        if (!changed) break;
        const Prediction fits = predict_cells(*changed, std::vector{cell_of(p)}).front();
        offer(fits, set);
        at_edge = fits.fit == Fit::kAtEdge;
        least = count + 1;
      }
    }
  }
}

Candidate cell_of(const Prediction& p) { return {p.model, p.technique->name, p.group}; }

std::vector<Prediction> predict_cells(const Scenario& scenario, std::span<const Candidate> cells,
                                      PredictOptions options) {
  const Network network(scenario.platform);
  options.advice = false;
  options.time_misfits = true;
  std::vector<Prediction> out(cells.size());
  for (Prediction& p : out) p.status = Status::kUnsupported;
  for (const auto& model : scenario.models) {
    std::optional<OperatorGraph> operators;
    for (const auto& group : scenario.groups) {
      for (const auto& technique : scenario.techniques) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (cells[i] != Candidate{model.name, technique.technique->name, group.names}) continue;
          if (!operators) operators.emplace(build_operator_graph(model));
          try {
            out[i] = predict_one({scenario, model, *operators, group, technique}, network, options);
          } catch (const TooManyTasks&) {  // remains unsupported
          }
        }
      }
    }
  }
  return out;
}

double work_of(const Scenario& scenario, const Prediction& p) { return work_on(scenario, p, p.group); }

std::optional<Suggestion> way_to_fit(const RunResult& result, const std::string& model, const VerdictOptions& options) {
  if (!options.reload) return std::nullopt;
  Best fastest{std::numeric_limits<double>::infinity(), false, result.scenario.selection.objective};
  Best at_edge{fastest.cost, true, fastest.objective};
  offer_remedies(result, model, options, [&](const auto& p, const auto& set) {
    fastest.offer(p, set);
    at_edge.offer(p, set);
  });
  const auto found_any = [&] { return fastest.found || at_edge.found; };
  PlanJob job;
  job.objective = PlanObjective::kTime;
  job.list = 1;
  job.effort = kShortSearch;
  job.explain = false;
  PlanCrewOptions crew;
  crew.jobs = options.threads;
  crew.stop = options.stop;
  // The scenario's techniques, then all others, then these with numbers of 16 bits.
  std::vector<Overrides> attempts = {{}};
  if (const auto names = other_techniques(result.scenario); !names.empty()) {
    attempts.push_back(techniques_of(names));
    if (const std::string half = half_override(result.scenario); !half.empty())
      attempts.push_back({attempts.back().front(), half});
  }
  for (const Overrides& attempt : attempts) {
    if (found_any() && !attempt.empty()) break;
    auto scenario = attempt.empty() ? std::optional(result.scenario) : options.reload(attempt);
    if (!scenario) break;
    std::erase_if(scenario->models, [&](const Transformer& one) { return one.name != model; });
    if (!attempt.empty()) std::erase_if(scenario->techniques, changes_training);
    if (scenario->models.empty() || scenario->techniques.empty()) continue;
    const PlanReport report = find_plans(*scenario, job, crew);
    const PlannedModel& planned = report.models.front();
    if (planned.predictions.empty()) continue;
    Overrides set = planned.overrides.front();
    if (attempt.size() > 1) set.push_back(attempt.back());
    // The search takes all GPUs.
    for (Best* best : {&fastest, &at_edge}) {
      if (best->offer(planned.predictions.front(), set) && options.of_groups)
        best->found->choice += " (leave --group out)";
    }
  }
  return fastest.found ? fastest.found : at_edge.found;
}

}  // namespace slmsim
