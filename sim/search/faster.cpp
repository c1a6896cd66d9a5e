// The search for a change that makes a run's pick faster.
#include <algorithm>
#include <optional>

#include "sim/predict/algorithm.h"
#include "sim/search/offer.h"

namespace slmsim {
namespace {

// Tasks of a few tries that are made in any case: a tenth of a second.
constexpr double kWorkOfFewTries = 250'000;
constexpr double kFewTries = 3;
// A change may multiply the tasks: a chain of a VM's GPUs (NCCL's tree) sends each chunk over each edge, where a ring of equal
// GPUs is one chain of tasks. A larger graph takes more than a tenth of a second to build and simulate.
constexpr std::size_t kMostTasksOfTrial = 200'000;
// Other kernels make no prediction the best that takes longer than this multiple of the best.
constexpr double kFarBehind = 4;
// Nor does another number of micro-batches beyond this multiple.
constexpr double kMayOvertake = 2.5;
// A pick that waits for a larger share of the time may be faster on fewer GPUs, with a technique that needs less memory.
constexpr double kMostlyWaits = 0.5;

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

// The other predictions of the model within this multiple of the best, the cheapest first.
std::vector<const Prediction*> rivals_of(const RunResult& result, const Prediction& best, double factor) {
  const Objective objective = result.scenario.selection.objective;
  std::vector<const Prediction*> out;
  for (const auto& p : result.predictions) {
    const bool near = p.is_timed() && cost_of(p, objective) <= factor * cost_of(best, objective);
    if (p.model == best.model && near && cell_of(p) != cell_of(best)) out.push_back(&p);
  }
  std::ranges::stable_sort(out, {}, [&](const Prediction* p) { return cost_of(*p, objective); });
  return out;
}

// The cells of other groups that a changed scenario may pick, the smallest groups first: techniques that leave the training as
// it is, without those that are far behind today.
std::vector<Candidate> cells_elsewhere(const RunResult& result, const Scenario& changed, const Prediction& best) {
  const Objective objective = changed.selection.objective;
  const auto is_far_behind = [&](const Candidate& cell) {
    const auto known =
        std::ranges::find_if(result.predictions, [&](const Prediction& p) { return cell_of(p) == cell; });
    return known != result.predictions.end() && known->status == Status::kOk &&
           cost_of(*known, objective) > kFarBehind * cost_of(best, objective);
  };
  std::vector<const Group*> groups;
  for (const auto& group : changed.groups) {
    if (group.names != best.group) groups.push_back(&group);
  }
  std::ranges::stable_sort(groups, {}, [](const Group* group) { return group->devices.size(); });
  std::vector<Candidate> out;
  for (const Group* group : groups) {
    for (const auto& technique : changed.techniques) {
      Candidate cell = {best.model, technique.technique->name, group->names};
      if (!changes_training(technique) && !is_far_behind(cell)) out.push_back(std::move(cell));
    }
  }
  return out;
}

// Tries changes of a pick one after the other; `budget`: tasks of each kind of change.
class FasterChange {
 public:
  FasterChange(const RunResult& result, const Prediction& best, double budget, const VerdictOptions& options)
      : result_(result),
        scenario_(result.scenario),
        best_(best),
        options_(options),
        budget_(budget),
        fastest_(nothing_found(result, best)) {}

  std::optional<Suggestion> find(const Group& group) {
    const auto changes = changes_of(scenario_, best_, group);
    try_changes(changes);
    try_fewer_micro_batches();
    try_sequences_by_speed();
    try_other_techniques();
    if (waiting_of(best_) > kMostlyWaits)
      offer_remedies(result_, best_.model, options_, [&](const auto& p, const auto& set) { fastest_.offer(p, set); });
    try_kernels_elsewhere(changes);
    try_what_the_command_picks();
    return fastest_.found;
  }

 private:
  bool is_over() const { return left_ < 0 || (options_.stop && options_.stop()); }

  std::optional<Prediction> predicted(const Scenario& changed, const Candidate& cell) {
    const Group* on = group_of(changed, cell.group);
    if (!on || !too_old_gpu(changed, on->devices).empty()) return std::nullopt;
    left_ -= work_on(scenario_, best_, cell.group);
    if (is_over()) return std::nullopt;
    return predict_cells(changed, std::vector{cell}, {.most_tasks = kMostTasksOfTrial}).front();
  }

  // False where the budget is spent.
  bool offer(const Scenario& changed, const Candidate& cell, const Overrides& change) {
    if (const auto p = predicted(changed, cell)) fastest_.offer(*p, change);
    return !is_over();
  }

  void try_changes(const std::vector<Overrides>& changes) {
    left_ = std::max(budget_, std::min(kFewTries * work_of(scenario_, best_), kWorkOfFewTries));
    for (const auto& change : changes) {
      const auto changed = left_ < 0 ? std::nullopt : options_.reload(change);
      if (changed) offer(*changed, cell_of(best_), change);
    }
  }

  // Fewer micro-batches compute more at once, as long as each halving is worth it.
  void offer_fewer(const Prediction& p, const Overrides& others, int count, double cost) {
    for (; count >= 1 && scenario_.training.batch % count == 0; count /= 2) {
      Overrides more = others;
      more.push_back(micro_batches_override(*p.technique, count));
      const auto changed = options_.reload(more);
      const auto one = changed ? predicted(*changed, cell_of(p)) : std::nullopt;
      if (!one || one->status != Status::kOk || cost_of(*one, fastest_.objective) > cost * (1 - kWorth)) return;
      cost = cost_of(*one, fastest_.objective);
      fastest_.offer(*one, more);
    }
  }

  // First together with the best change so far, then on other groups: their GPUs may hold more sequences at once than all can.
  void try_fewer_micro_batches() {
    const int now = best_.plan->micro_batches;
    const auto is_only = [&](int count) {
      return fastest_.change == Overrides{micro_batches_override(*best_.technique, count)};
    };
    const bool halved = is_only(now / 2), doubled = is_only(2 * now);
    left_ = budget_;
    if (fastest_.found && !doubled)
      offer_fewer(best_, halved ? Overrides{} : fastest_.change, now / (halved ? 4 : 2), fastest_.cost);
    left_ = budget_;
    for (const Prediction* p : rivals_of(result_, best_, kMayOvertake)) {
      if (p->status == Status::kOk && p->plan && p->group != best_.group)
        offer_fewer(*p, {}, p->plan->micro_batches / 2, cost_of(*p, fastest_.objective));
    }
  }

  // Techniques that are not far behind on unlike GPUs.
  void try_sequences_by_speed() {
    left_ = budget_;
    for (const Prediction* p : rivals_of(result_, best_, kMayOvertake)) {
      const Overrides change = split_by_speed(scenario_, *p->technique, *group_of(scenario_, p->group));
      const auto changed = change.empty() ? std::nullopt : options_.reload(change);
      if (changed && !offer(*changed, cell_of(*p), change)) break;
    }
  }

  // Techniques that leave the training as it is.
  void try_other_techniques() {
    const auto names = other_techniques(scenario_);
    auto with_others = names.empty() ? std::nullopt : options_.reload(techniques_of(names));
    if (!with_others) return;
    std::erase_if(with_others->techniques, changes_training);
    std::vector<Candidate> here, elsewhere;
    for (const auto& t : with_others->techniques) here.push_back({best_.model, t.technique->name, best_.group});
    if (waiting_of(best_) > kMostlyWaits) elsewhere = cells_elsewhere(result_, *with_others, best_);
    for (const auto& cells : {here, elsewhere}) {
      left_ = budget_;
      for (const Candidate& cell : cells) {
        if (!offer(*with_others, cell, techniques_of({cell.technique}))) break;
      }
    }
  }

  // With other kernels, other GPUs may be the best.
  void try_kernels_elsewhere(const std::vector<Overrides>& changes) {
    left_ = budget_;
    for (const auto& change : changes) {
      const auto changed = left_ < 0 || !is_of_kernels(change) ? std::nullopt : options_.reload(change);
      if (!changed) continue;
      for (const Candidate& cell : cells_elsewhere(result_, *changed, best_)) {
        if (!offer(*changed, cell, change)) break;
      }
    }
  }

  // The best with this change, whichever technique that is.
  void try_what_the_command_picks() {
    left_ = budget_;
    const Overrides change = fastest_.change;
    const bool is_for_all = std::ranges::any_of(change, [](const std::string& one) { return is_of_kernels({one}); });
    const auto changed = is_for_all ? options_.reload(change) : std::nullopt;
    if (!changed) return;
    for (const Prediction* p : rivals_of(result_, best_, kFarBehind)) {
      if (!offer(*changed, cell_of(*p), change)) break;
    }
  }

  const RunResult& result_;
  const Scenario& scenario_;
  const Prediction& best_;
  const VerdictOptions& options_;
  double budget_, left_ = 0;
  Best fastest_;
};

}  // namespace

std::optional<Suggestion> faster_than(const RunResult& result, const Prediction& best, double budget,
                                      const VerdictOptions& options) {
  const Group* group = group_of(result.scenario, best.group);
  if (!options.reload || !group || !best.plan) return std::nullopt;
  return FasterChange(result, best, budget, options).find(*group);
}

}  // namespace slmsim
