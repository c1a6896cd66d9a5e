#include "sim/predict/algorithm.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"

namespace slmsim {
namespace {

using Candidates = std::vector<const Prediction*>;

// Rates of equal VMs differ by the rounding of sums of many events.
constexpr double kEqual = 1 + 1e-9;

std::string where(const Prediction& p) {
  const bool edge = p.status == Status::kOk && p.fit == Fit::kAtEdge;
  return fmt::format("{} on {}{}", p.technique->name, group_text(p.group), edge ? ", at the edge of memory" : "");
}

bool runs(const Prediction* p) { return p && p->status == Status::kOk; }

// Name of the technique that the trial runs.
std::string name_of(Trial trial) {
  const auto& table = technique_table();
  const auto at = std::find_if(table.begin(), table.end(), [&](const Technique* t) { return t->trial == trial; });
  return at == table.end() ? "?" : (*at)->name;
}

// The five trials of the printed algorithm and its fall-back.
struct Trials {
  std::vector<std::string> vms;  // V1, V2
  const Prediction* pipeshard = nullptr;
  const Prediction* zero2 = nullptr;
  Candidates single;  // Data and Shard on V1, then on V2: the order of precedence in ties
};

// V1 and V2 are the first two VMs that the scenario's groups name.
Trials find_trials(const std::vector<Prediction>& predictions) {
  Trials trials;
  for (const auto& p : predictions) {
    for (const auto& name : p.group) {
      const std::string vm = name.substr(0, name.find('/'));
      const bool known = std::find(trials.vms.begin(), trials.vms.end(), vm) != trials.vms.end();
      if (!known && trials.vms.size() < 2) trials.vms.push_back(vm);
    }
  }
  for (const auto& p : predictions) {
    if (trials.vms.size() < 2 || p.group != trials.vms) continue;
    if (p.technique->trial == Trial::kPipeline) trials.pipeshard = &p;
    if (p.technique->trial == Trial::kFallback) trials.zero2 = &p;
  }
  for (const auto& vm : trials.vms) {
    for (const Trial trial : {Trial::kReplicas, Trial::kOperators}) {
      for (const auto& p : predictions) {
        if (p.technique->trial == trial && p.group == std::vector<std::string>{vm}) trials.single.push_back(&p);
      }
    }
  }
  return trials;
}

// "Data and Shard".
std::string names_in_one_vm() {
  return fmt::format("{} and {}", name_of(Trial::kReplicas), name_of(Trial::kOperators));
}

double trial_rate(const Prediction* p) { return runs(p) ? p->trial_rate_per_gpu.value / kTera : 0.0; }

std::string rate_text(const Prediction* p) {
  if (!p) return "0 (not among the scenario's runs)";
  if (p->status == Status::kOutOfMemory) return "0 (out of memory)";
  if (p->status == Status::kUnsupported) return "0 (cannot run)";
  return fmt::format("{:.3g} TFLOP/s per GPU", trial_rate(p));
}

const Prediction* best_single(const Trials& trials) {
  const Prediction* best = nullptr;
  for (const Prediction* p : trials.single) {
    if (trial_rate(p) > trial_rate(best) * kEqual) best = p;  // ties stay with V1 and with Data
  }
  return best;
}

void choose(Selection& selection, const Prediction& p) {
  selection.technique = p.technique;
  selection.group = p.group;
}

double percent(double lead) { return 100.0 * lead; }

void explain_trials(Selection& out, const Scenario& scenario, const Trials& trials) {
  const auto add = [&](const std::string& name, const Prediction* p, const std::string& what) {
    out.steps.push_back(fmt::format("{} = {}: {}", name, rate_text(p), p ? where(*p) : what));
  };
  out.steps.push_back(fmt::format("trials of {} epoch{} each, V1 = {}, V2 = {}", scenario.selection.epsilon_epochs,
                                  scenario.selection.epsilon_epochs == 1 ? "" : "s",
                                  trials.vms.empty() ? "none" : trials.vms[0],
                                  trials.vms.size() < 2 ? "none" : trials.vms[1]));
  add("T_p", trials.pipeshard, "Pipeshard on V1+V2");
  for (std::size_t vm = 0; vm < trials.vms.size(); ++vm) {
    for (const auto& [letter, trial] : {std::pair{'d', Trial::kReplicas}, std::pair{'s', Trial::kOperators}}) {
      const auto found = std::find_if(trials.single.begin(), trials.single.end(), [&, of = trial](const Prediction* p) {
        return p->technique->trial == of && p->group.front() == trials.vms[vm];
      });
      add(fmt::format("T_{}{}", letter, vm + 1), found == trials.single.end() ? nullptr : *found,
          name_of(trial) + " on " + trials.vms[vm]);
    }
  }
}

void follow_paper(Selection& out, const Scenario& scenario, const Trials& trials) {
  const double delta = scenario.selection.delta;
  const Prediction* single = best_single(trials);
  const double t_p = trial_rate(trials.pipeshard), t_z = trial_rate(single);
  const std::string reason_for_zero = trials.single.empty()
                                          ? fmt::format("the scenario lacks {} in one VM", names_in_one_vm())
                                          : "nothing runs in one VM";
  out.steps.push_back(single ? fmt::format("T_z = {:.3g}: {}", t_z, where(*single)) : "T_z = 0: " + reason_for_zero);
  if (t_z > 0 && (t_p - t_z) / t_z > delta) {
    out.steps.push_back(fmt::format("T_p leads T_z by {:.1f} % > delta = {:.1f} %: Pipeshard on V1+V2",
                                    percent((t_p - t_z) / t_z), percent(delta)));
    return choose(out, *trials.pipeshard);
  }
  if (t_p > 0 && (t_z - t_p) / t_p > delta) {
    out.steps.push_back(fmt::format("T_z leads T_p by {:.1f} % > delta = {:.1f} %: {}", percent((t_z - t_p) / t_p),
                                    percent(delta), where(*single)));
    return choose(out, *single);
  }
  const std::string reason = t_z <= 0   ? "T_z = 0, so the lead of T_p is not defined"
                             : t_p <= 0 ? "T_p = 0, so the lead of T_z is not defined"
                                        : fmt::format("neither leads by more than delta = {:.1f} %", percent(delta));
  const bool works = runs(trials.zero2);
  out.steps.push_back(fmt::format("{}: run ZeRO2 on V1+V2: {}", reason,
                                  works ? "it works" : fmt::format("T = {}", rate_text(trials.zero2))));
  if (works) return choose(out, *trials.zero2);
  out.steps.emplace_back(trials.single.empty() ? "nothing is returned"
                                               : "nothing is returned: a larger cluster is needed");
}

std::string cost_text(const Prediction& p, Objective objective) {
  switch (objective) {
    case Objective::kTime:
      return fmt::format("{:.1f} min", p.job.value / 60);
    case Objective::kGpuHours:
      return fmt::format("{:.2f} GPU-hours", p.gpu_hours());
    case Objective::kTflopsPerGpu:
      return fmt::format("{:.3g} TFLOP/s per GPU", p.trial_rate_per_gpu.value / kTera);
  }
  return "";
}

// By cost; equal ones in the order of the scenario, so that V1 comes before V2 and Data before Shard.
void order_by_cost(Candidates& candidates, Objective objective) {
  std::sort(candidates.begin(), candidates.end(), [&](const Prediction* a, const Prediction* b) {
    return ranked_cost(*a, objective) < ranked_cost(*b, objective);
  });
  for (auto first = candidates.begin(); first != candidates.end();) {
    const auto last = std::find_if(first, candidates.end(), [&](const Prediction* p) {
      return ranked_cost(*p, objective) > ranked_cost(**first, objective) * (1 + kEqualCosts);
    });
    std::sort(first, last);  // all point into one list
    first = last;
  }
}

void explain_difference(Selection& out, const Selection& paper, const Trials& trials) {
  if (paper.technique == out.technique && paper.group == out.group) {
    out.steps.emplace_back("the study's printed rule picks the same");
    return;
  }
  const std::string theirs =
      paper.technique ? fmt::format("{} on {}", paper.technique->name, group_text(paper.group)) : "nothing";
  const double t_p = trial_rate(trials.pipeshard), t_z = trial_rate(best_single(trials));
  const bool fell_to_zero2 = !paper.technique || paper.technique->trial == Trial::kFallback;
  const std::string why = trials.vms.size() < 2   ? "it needs two VMs"
                          : trials.single.empty() ? fmt::format("it compares {} in one VM", names_in_one_vm())
                          : t_p <= 0 && t_z <= 0  ? "if neither Pipeshard nor a single VM runs, it tries only ZeRO2"
                          : t_z <= 0              ? "it cannot compare when nothing runs in one VM"
                          : t_p <= 0              ? "it cannot compare when Pipeshard fails"
                          : fell_to_zero2         ? "it picks ZeRO2 in a near tie"
                                                  : "it compares rates per GPU, and only Pipeshard, Data and Shard";
  out.steps.push_back(fmt::format("the study's printed rule picks {}: {}", theirs, why));
}

void follow_amended(Selection& out, const Scenario& scenario, const std::vector<Prediction>& predictions,
                    const Trials& trials, const Selection& paper) {
  const Objective objective = scenario.selection.objective;
  const double delta = scenario.selection.delta;
  Candidates candidates;
  for (const auto& p : predictions) {
    if (runs(&p)) candidates.push_back(&p);
  }
  if (candidates.empty()) {
    out.steps.emplace_back(
        "no technique fits on any group: a larger cluster is needed, or the change that an out-of-memory line "
        "suggests");
    return;
  }
  order_by_cost(candidates, objective);
  const Prediction* best = candidates.front();
  out.steps.push_back(fmt::format("best by {} of {} that run: {} with {}", name_in(objective_names(), objective),
                                  candidates.size(), where(*best), cost_text(*best, objective)));
  if (std::any_of(candidates.begin(), candidates.end(), [](const auto* p) { return p->fit == Fit::kAtEdge; }))
    out.steps.push_back(fmt::format("at the edge of memory times count {:g} times", kEdgeSlowdown));
  const Prediction* pick = best;
  const auto changes = [&](const Prediction& p) {
    return one_changes_training(scenario.techniques, p.technique->name);
  };
  bool any_changes = changes(*best);
  std::vector<std::string> ties;
  for (const Prediction* p : candidates) {
    const double behind = ranked_cost(*p, objective) / ranked_cost(*best, objective) - 1.0;
    if (p == best || behind > delta) continue;
    ties.push_back(fmt::format("{} (+{:.1f} %)", where(*p), percent(behind)));
    any_changes = any_changes || changes(*p);
    const bool fewer = p->gpu_hours() < pick->gpu_hours() * (1 - kEqualCosts);
    if (changes(*p) != changes(*pick) ? changes(*pick) : fewer) pick = p;
  }
  if (!ties.empty()) {
    out.steps.push_back(fmt::format(
        "near ties within delta = {:.1f} %: {}; of these{} {} takes the fewest GPU-hours, {:.2f}", percent(delta),
        fmt::join(ties, ", "), any_changes && !changes(*pick) ? ", where the training stays as it is," : "",
        where(*pick), pick->gpu_hours()));
  }
  const auto other = std::find_if(candidates.begin(), candidates.end(), [&](const Prediction* p) {
    return ranked_cost(*p, objective) > ranked_cost(*best, objective) * (1 + delta);
  });
  if (other != candidates.end()) {
    out.steps.push_back(fmt::format("next is {} with {}: {:.1f} % behind > delta", where(**other),
                                    cost_text(**other, objective),
                                    percent(ranked_cost(**other, objective) / ranked_cost(*best, objective) - 1)));
  }
  out.steps.push_back(fmt::format("pick {}", where(*pick)));
  choose(out, *pick);
  explain_difference(out, paper, trials);
}

}  // namespace

double cost_of(const Prediction& p, Objective objective) {
  switch (objective) {
    case Objective::kTime:
      return p.job.value;
    case Objective::kGpuHours:
      return p.gpu_hours();
    case Objective::kTflopsPerGpu:
      return 1.0 / std::max(1.0, p.trial_rate_per_gpu.value);
  }
  return 0;
}

double ranked_cost(const Prediction& p, Objective objective) {
  return cost_of(p, objective) * (p.fit == Fit::kAtEdge ? kEdgeSlowdown : 1.0);
}

Selection select_technique(const Scenario& scenario, const std::vector<Prediction>& predictions, Algorithm algorithm) {
  const Trials trials = find_trials(predictions);
  Selection paper;
  paper.algorithm = Algorithm::kPaper;
  if (!predictions.empty()) paper.model = predictions.front().model;
  explain_trials(paper, scenario, trials);
  follow_paper(paper, scenario, trials);
  if (algorithm == Algorithm::kPaper) return paper;
  Selection amended;
  amended.model = paper.model;
  amended.algorithm = Algorithm::kAmended;
  follow_amended(amended, scenario, predictions, trials, paper);
  return amended;
}

std::vector<Selection> select_techniques(const Scenario& scenario, const std::vector<Prediction>& predictions,
                                         Algorithm algorithm) {
  std::vector<Selection> out;
  for (const auto& model : scenario.models) {
    std::vector<Prediction> own;
    std::copy_if(predictions.begin(), predictions.end(), std::back_inserter(own),
                 [&](const Prediction& p) { return p.model == model.name; });
    out.push_back(select_technique(scenario, own, algorithm));
    out.back().model = model.name;
  }
  return out;
}

void sort_by_time(std::span<const Prediction*> predictions, const Prediction* pick) {
  std::ranges::stable_sort(predictions, {}, &Prediction::job);
  const auto place = std::ranges::find(predictions, pick);
  if (place == predictions.end()) return;
  const auto equal =
      std::ranges::find_if(predictions, [&](const Prediction* p) { return p->job * (1 + kEqualCosts) >= pick->job; });
  std::rotate(equal, place, place + 1);
}

}  // namespace slmsim
