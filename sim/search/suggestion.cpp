#include "sim/search/suggestion.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/crew/crew.h"
#include "sim/platform/network.h"
#include "sim/predict/algorithm.h"
#include "sim/search/plan_job.h"

namespace slmsim {
namespace {

// Iterations over paths between sites are simulated several times, until their windows settle.
constexpr double kWorkOfSites = 4;
// A plan takes as long as this many tasks.
constexpr double kWorkOfPlan = 150;
// Micro-batches that repeat are simulated once (sim/predict/repeating.h).
constexpr int kMostMicroBatches = 8;
// Effort of the search for a way to fit: a fraction of a second.
constexpr double kShortSearch = 0.005;

const Group* group_of(const Scenario& scenario, const std::vector<std::string>& names) {
  const auto at = std::find_if(scenario.groups.begin(), scenario.groups.end(),
                               [&](const Group& group) { return group.names == names; });
  return at == scenario.groups.end() ? nullptr : &*at;
}

// Names of the techniques that a scenario may add, in the order of the table: not those of Algorithm 1's trials.
std::vector<std::string> other_techniques(const Scenario& scenario) {
  std::vector<std::string> out;
  for (const Technique* technique : technique_table()) {
    const bool known = std::any_of(scenario.techniques.begin(), scenario.techniques.end(),
                                   [&](const TechniqueOptions& t) { return t.technique == technique; });
    if (!known && technique->trial == Trial::kNone) out.emplace_back(technique->name);
  }
  return out;
}

// 16 bits in place of fp32, where all GPUs have them; else empty.
std::string half_override(const Scenario& scenario) {
  const auto half = half_precision(scenario.platform, all_devices(scenario.platform));
  if (scenario.training.precision != Precision::kFp32 || !half) return "";
  return "training.precision=" + name_in(precision_names(), *half);
}

// Whether a change is of the software's kernels or their number format.
bool is_of_kernels(const Overrides& change) {
  return change.front().starts_with("software.") || change.front().starts_with("training.");
}

// Changes that can save time where this prediction spends it.
std::vector<Overrides> changes_of(const Scenario& scenario, const Prediction& best, const Group& group) {
  const Breakdown& b = best.breakdown;
  const bool waits = (b.exposed_communication + b.overhead).value > kWorth * best.iteration.value;
  std::vector<Overrides> out;
  Overrides stack;
  for (auto& change : changes_to_try(scenario, best, group)) {
    const std::string& first = change.front();
    if (first.starts_with("software.")) stack.insert(stack.end(), change.begin(), change.end());
    if (waits || is_of_kernels(change) || first.starts_with("techniques.")) out.push_back(std::move(change));
  }
  if (stack.size() > 1) out.push_back(std::move(stack));
  // The budget may end before the last one.
  std::stable_partition(out.begin(), out.end(), is_of_kernels);
  return out;
}

struct Best {
  double cost = 0;
  std::optional<Suggestion> found = {};

  void offer(const Prediction& p, Objective objective, const Overrides& set) {
    if (p.status != Status::kOk || cost_of(p, objective) >= cost) return;
    cost = cost_of(p, objective);
    found =
        Suggestion{"--set " + set_words(set), fmt::format("{} on {}", p.technique->name, group_text(p.group)), p.job};
  }
};

}  // namespace

Candidate cell_of(const Prediction& p) { return {p.model, p.technique->name, p.group}; }

std::vector<Prediction> predict_cells(const Scenario& scenario, std::span<const Candidate> cells,
                                      PredictionMemo& memo) {
  const Network network(scenario.platform);
  PredictOptions options;
  options.advice = false;
  options.time_misfits = true;
  auto& plans = memo.lowered_plans(scenario);
  std::vector<Prediction> out(cells.size());
  for (Prediction& p : out) p.status = Status::kUnsupported;
  auto plan = plans.begin();
  for (const auto& model : scenario.models) {
    for (const auto& group : scenario.groups) {
      for (const auto& technique : scenario.techniques) {
        LoweredPlan* known = technique.technique->lower_again ? &*plan : nullptr;
        ++plan;
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (cells[i] == Candidate{model.name, technique.technique->name, group.names})
            out[i] = predict_one({scenario, model, memo.operators(model), group, technique}, network, options, known);
        }
      }
    }
  }
  return out;
}

double work_of(const Scenario& scenario, const Prediction& p) {
  const auto model = std::find_if(scenario.models.begin(), scenario.models.end(),
                                  [&](const Transformer& one) { return one.name == p.model; });
  const Group* group = group_of(scenario, p.group);
  if (!p.plan || !group || model == scenario.models.end()) return kWorkOfPlan;
  const double steps = p.round ? p.round->steps : 1;
  const double tasks =
      steps * p.gpus * std::min(p.plan->micro_batches, kMostMicroBatches) * static_cast<double>(model->layers);
  return kWorkOfPlan + (spans_sites(scenario.platform, group->devices) ? tasks * kWorkOfSites : tasks);
}

std::optional<Suggestion> faster_than(const RunResult& result, const Prediction& best, double budget,
                                      const VerdictOptions& options) {
  const Scenario& scenario = result.scenario;
  const Group* group = group_of(scenario, best.group);
  if (!options.reload || !group || !best.plan) return std::nullopt;
  const Objective objective = scenario.selection.objective;
  const double work = work_of(scenario, best);
  Best fastest{cost_of(best, objective) * (1 - kWorth)};
  PredictionMemo memo;
  const std::vector<Candidate> cell = {cell_of(best)};
  for (const auto& change : changes_of(scenario, best, *group)) {
    budget -= work;
    if (budget < 0 || (options.stop && options.stop())) return fastest.found;
    if (const auto changed = options.reload(change); changed && too_old_gpu(*changed, group->devices).empty())
      fastest.offer(predict_cells(*changed, cell, memo).front(), objective, change);
  }
  const auto names = other_techniques(scenario);
  const Overrides all = {fmt::format("techniques=[{}]", fmt::join(names, ", "))};
  const auto changed = names.empty() ? std::nullopt : options.reload(all);
  if (!changed) return fastest.found;
  for (const auto& technique : changed->techniques) {
    budget -= work;
    if (budget < 0 || (options.stop && options.stop())) break;
    if (changes_training(technique)) continue;
    const std::string& name = technique.technique->name;
    const std::vector<Candidate> other = {{best.model, name, best.group}};
    fastest.offer(predict_cells(*changed, other, memo).front(), objective, {fmt::format("techniques=[{}]", name)});
  }
  return fastest.found;
}

std::optional<Suggestion> way_to_fit(const RunResult& result, const std::string& model, const VerdictOptions& options) {
  if (!options.reload) return std::nullopt;
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
    attempts.push_back({fmt::format("techniques=[{}]", fmt::join(names, ", "))});
    if (const std::string half = half_override(result.scenario); !half.empty())
      attempts.push_back({attempts.back().front(), half});
  }
  for (const Overrides& attempt : attempts) {
    auto scenario = attempt.empty() ? std::optional(result.scenario) : options.reload(attempt);
    if (!scenario) break;
    std::erase_if(scenario->models, [&](const Transformer& one) { return one.name != model; });
    if (!attempt.empty()) std::erase_if(scenario->techniques, changes_training);
    if (scenario->models.empty() || scenario->techniques.empty()) continue;
    const PlanReport report = find_plans(*scenario, job, crew);
    const PlannedModel& found = report.models.front();
    if (found.predictions.empty() || found.predictions.front().status != Status::kOk) continue;
    const Prediction& p = found.predictions.front();
    Overrides set = found.overrides.front();
    if (attempt.size() > 1) set.push_back(attempt.back());
    return Suggestion{"--set " + set_words(set), fmt::format("{} on {}", p.technique->name, group_text(p.group)),
                      p.job};
  }
  return std::nullopt;
}

}  // namespace slmsim
