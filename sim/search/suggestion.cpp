#include "sim/search/suggestion.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

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
// Tasks of an inner step of a GPU that trains alone.
constexpr double kTasksOfStepAlone = 4;
// Tasks of a few tries that are made in any case: a tenth of a second.
constexpr double kWorkOfFewTries = 250'000;
constexpr double kFewTries = 3;
// Tasks of the predictions of ways to fit that need no search: about a second.
constexpr double kWorkOfRemedies = 300'000;
// Effort of the search for a way to fit: a fraction of a second.
constexpr double kShortSearch = 0.005;
// A change may multiply the tasks: a chain of a VM's GPUs (NCCL's tree) sends each chunk over each edge, where a ring of equal
// GPUs is one chain of tasks. A larger graph takes more than a tenth of a second to build and simulate.
constexpr std::size_t kMostTasksOfTrial = 200'000;
// Other kernels make no prediction the best that takes longer than this multiple of the best.
constexpr double kFarBehind = 4;
// A pick that waits for a larger share of the time may be faster on fewer GPUs, with a technique that needs less memory.
constexpr double kMostlyWaits = 0.5;

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

Overrides techniques_of(const std::vector<std::string>& names) {
  return {fmt::format("techniques=[{}]", fmt::join(names, ", "))};
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

// Share of the time that it waits.
double waiting_of(const Prediction& p) {
  return (p.breakdown.exposed_communication + p.breakdown.overhead) / p.iteration;
}

// Changes that can save time where this prediction spends it.
std::vector<Overrides> changes_of(const Scenario& scenario, const Prediction& best, const Group& group) {
  const bool waits = waiting_of(best) > kWorth;
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

// The cheapest offer below a cost. One at the edge of memory counts only where the answer is there itself. Jobs are multiplied by
// `factor`.
struct Best {
  double cost = 0;
  bool at_edge = false;
  Objective objective = {};
  double factor = 1;
  std::optional<Suggestion> found = {};
  Overrides change = {};  // the overrides of `found`

  // Whether it is the cheapest so far.
  bool offer(const Prediction& p, const Overrides& set) {
    if (p.status != Status::kOk || (p.fit == Fit::kAtEdge && !at_edge) || cost_of(p, objective) >= cost) return false;
    cost = cost_of(p, objective);
    change = set;
    found = Suggestion{"--set " + set_words(set), fmt::format("{} on {}", p.technique->name, group_text(p.group)),
                       p.job * factor};
    return true;
  }
};

// Offers are predicted at the fitted values; where a fit's prediction is the median over all points, they are compared with the
// same prediction at these values.
Best nothing_found(const RunResult& result, const Prediction& best) {
  const Objective objective = result.scenario.selection.objective;
  Best out{cost_of(best, objective) * (1 - kWorth), best.fit == Fit::kAtEdge, objective};
  if (!result.uncertainty || result.uncertainty->fitted_to.empty()) return out;
  const Prediction centre = predict_cells(result.scenario, std::vector{cell_of(best)}, {}).front();
  if (!centre.is_timed()) return out;
  out.cost = cost_of(centre, objective) * (1 - kWorth);
  out.factor = best.job / centre.job;
  return out;
}

// Tasks of a prediction like this one on a group.
double work_on(const Scenario& scenario, const Prediction& p, const std::vector<std::string>& names) {
  const auto model = std::find_if(scenario.models.begin(), scenario.models.end(),
                                  [&](const Transformer& one) { return one.name == p.model; });
  const Group* group = group_of(scenario, names);
  if (!p.plan || !group || model == scenario.models.end()) return kWorkOfPlan;
  const double gpus = static_cast<double>(group->devices.size()), layers = static_cast<double>(model->layers);
  // In a round the layers of a GPU that trains alone are one task, and micro-batches are added up.
  const double tasks = p.round ? p.round->steps * gpus * (p.plan->round().gpus > 1 ? layers : kTasksOfStepAlone)
                               : gpus * std::min(p.plan->micro_batches, kMostMicroBatches) * layers;
  return kWorkOfPlan + (spans_sites(scenario.platform, group->devices) ? tasks * kWorkOfSites : tasks);
}

// Whether another change hardly makes this the best.
bool is_far_behind(const RunResult& result, const Prediction& best, const Candidate& cell) {
  const Objective objective = result.scenario.selection.objective;
  const auto known = std::ranges::find_if(result.predictions, [&](const Prediction& p) { return cell_of(p) == cell; });
  return known != result.predictions.end() && known->status == Status::kOk &&
         cost_of(*known, objective) > kFarBehind * cost_of(best, objective);
}

// What a scenario with this change may pick in place of the pick so far, the fastest today first; nothing where the change is one
// technique's own.
std::vector<Candidate> rivals_of(const RunResult& result, const Prediction& best, const Overrides& change) {
  if (std::ranges::none_of(change, [](const std::string& one) { return is_of_kernels({one}); })) return {};
  std::vector<const Prediction*> rows;
  for (const auto& p : result.predictions) {
    if (p.model == best.model && p.is_timed() && !is_far_behind(result, best, cell_of(p))) rows.push_back(&p);
  }
  std::ranges::stable_sort(rows, {}, [](const Prediction* p) { return p->job; });
  std::vector<Candidate> out;
  for (const Prediction* p : rows) out.push_back(cell_of(*p));
  return out;
}

// The cells of other groups that a changed scenario may pick, the smallest groups first: techniques that leave the training as
// it is, without those that are far behind today.
std::vector<Candidate> cells_elsewhere(const RunResult& result, const Scenario& changed, const Prediction& best) {
  std::vector<const Group*> groups;
  for (const auto& group : changed.groups) {
    if (group.names != best.group) groups.push_back(&group);
  }
  std::ranges::stable_sort(groups, {}, [](const Group* group) { return group->devices.size(); });
  std::vector<Candidate> out;
  for (const Group* group : groups) {
    for (const auto& technique : changed.techniques) {
      Candidate cell = {best.model, technique.technique->name, group->names};
      if (!changes_training(technique) && !is_far_behind(result, best, cell)) out.push_back(std::move(cell));
    }
  }
  return out;
}

// Techniques that lack memory, on the same GPUs with more micro-batches, with rematerialisation, or with both; at the edge of
// memory with the next number of micro-batches, too.
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

}  // namespace

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

std::optional<Suggestion> faster_than(const RunResult& result, const Prediction& best, double budget,
                                      const VerdictOptions& options) {
  const Scenario& scenario = result.scenario;
  const Group* group = group_of(scenario, best.group);
  if (!options.reload || !group || !best.plan) return std::nullopt;
  Best fastest = nothing_found(result, best);
  double left = std::max(budget, std::min(kFewTries * work_of(scenario, best), kWorkOfFewTries));
  const auto offer = [&](const Scenario& changed, const Candidate& cell, const Overrides& change) {
    const Group* on = group_of(changed, cell.group);
    if (!on || !too_old_gpu(changed, on->devices).empty()) return true;
    left -= work_on(scenario, best, cell.group);
    if (left < 0 || (options.stop && options.stop())) return false;
    fastest.offer(predict_cells(changed, std::vector{cell}, {.most_tasks = kMostTasksOfTrial}).front(), change);
    return true;
  };
  std::vector<Overrides> of_kernels;
  for (const auto& change : changes_of(scenario, best, *group)) {
    if (is_of_kernels(change)) of_kernels.push_back(change);
    const auto changed = left < 0 ? std::nullopt : options.reload(change);
    if (changed) offer(*changed, cell_of(best), change);
  }
  // Together with what is found, fewer micro-batches compute more at once, as long as each halving is worth it.
  const int now = best.plan->micro_batches;
  const auto is_only = [&](int count) {
    return fastest.change == Overrides{micro_batches_override(*best.technique, count)};
  };
  const bool halved = is_only(now / 2), doubled = is_only(2 * now);
  const Overrides others = halved ? Overrides{} : fastest.change;
  left = budget;
  for (int count = now / (halved ? 4 : 2); fastest.found && !doubled && count >= 1; count /= 2) {
    Overrides more = others;
    more.push_back(micro_batches_override(*best.technique, count));
    const auto changed = scenario.training.batch % count == 0 ? options.reload(more) : std::nullopt;
    if (!changed) break;
    const double before = std::exchange(fastest.cost, fastest.cost * (1 - kWorth));
    offer(*changed, cell_of(best), more);
    if (fastest.change == more) continue;
    fastest.cost = before;
    break;
  }
  const auto names = other_techniques(scenario);
  auto with_others = names.empty() ? std::nullopt : options.reload(techniques_of(names));
  if (with_others) {
    std::erase_if(with_others->techniques, changes_training);
    std::vector<Candidate> here, elsewhere;
    for (const auto& t : with_others->techniques) here.push_back({best.model, t.technique->name, best.group});
    if (waiting_of(best) > kMostlyWaits) elsewhere = cells_elsewhere(result, *with_others, best);
    for (const auto& cells : {here, elsewhere}) {
      left = budget;
      for (const Candidate& cell : cells) {
        if (!offer(*with_others, cell, techniques_of({cell.technique}))) break;
      }
    }
  }
  if (waiting_of(best) > kMostlyWaits)
    offer_remedies(result, best.model, options, [&](const auto& p, const auto& set) { fastest.offer(p, set); });
  // With other kernels, other GPUs may be the best.
  left = budget;
  for (const auto& change : of_kernels) {
    const auto changed = left < 0 ? std::nullopt : options.reload(change);
    if (!changed) continue;
    for (const Candidate& cell : cells_elsewhere(result, *changed, best)) {
      if (!offer(*changed, cell, change)) break;
    }
  }
  // The command picks the best with its change, whichever that is.
  left = budget;
  const Overrides change = fastest.change;
  const auto changed = fastest.found ? options.reload(change) : std::nullopt;
  for (const Candidate& cell : changed ? rivals_of(result, best, change) : std::vector<Candidate>()) {
    if (cell != cell_of(best) && !offer(*changed, cell, change)) break;
  }
  return fastest.found;
}

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
