#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/base/text.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Prices of GPUs take precedence over those of VMs (sim/predict/predict.h).
std::string currency_of(const Scenario& scenario) {
  return scenario.plan.dollars_per_hour.empty() ? scenario.platform.vms.front().type.currency : "USD";
}

std::string cost_text(double cost, const PlanReport& report) {
  switch (report.objective) {
    case PlanObjective::kTime:
      return duration(Seconds{cost});
    case PlanObjective::kP90:
      return job_duration(cost);
    case PlanObjective::kCost:
      return fmt::format("{:.3g} {}", cost, currency_of(report.scenario));
    case PlanObjective::kEnergy:
      return fmt::format("{:.3g} kWh", cost / kJoulesPerKwh);
    case PlanObjective::kDeadline:
      return fmt::format("{:.1f} % on time", 100 * on_time(cost, report.scenario.job->samples));
    case PlanObjective::kGpuHours:
      return fmt::format("{:.3g} GPU-hours", cost);
    case PlanObjective::kDollars:
      return fmt::format("{:.3g} $", cost);
  }
  return "";
}

// Where the other plan's additional time per sequence goes.
std::string why_behind(const Prediction& first, const Prediction& other) {
  // Batches may differ: scaled to an iteration of the first one.
  const double scale = other.iterations / first.iterations;
  std::vector<std::string> more, less;
  const Seconds small = first.iteration * 0.005;
  for (const auto& part : kTimeParts) {
    const Seconds difference = other.breakdown.*part.time * scale - first.breakdown.*part.time;
    if (difference > small) more.push_back(fmt::format("{} +{}", part.words, to_text(difference)));
    if (Seconds{0} - difference > small)
      less.push_back(fmt::format("{} -{}", part.words, to_text(Seconds{0} - difference)));
  }
  more.insert(more.end(), less.begin(), less.end());
  if (more.empty()) return other.startup > first.startup ? "a longer start-up" : "much the same";
  return fmt::format("{}", fmt::join(more, ", "));
}

// The command that predicts a plan of the list again. Overrides that the plan restates are dropped.
std::string run_command(const PlanReport& report, const PlannedModel& m, std::size_t plan) {
  std::vector<std::string> paths;
  for (const auto& text : m.overrides[plan]) paths.push_back(parse_override(text).path);
  std::string out = fmt::format("slmsim run {} --model {}", report.file.empty() ? "SCENARIO" : shell_word(report.file),
                                shell_word(m.model));
  for (const auto& text : report.overrides) {
    const std::string path = parse_override(text).path;
    const bool anew = std::ranges::any_of(
        paths, [&](const std::string& other) { return path == other || path.starts_with(other + "."); });
    if (!anew) out += " --set " + shell_word(text);
  }
  for (const auto& text : m.overrides[plan]) out += " --set " + shell_word(text);
  return out;
}

std::string pick_text(const Pick& pick) {
  if (!pick.technique) return "nothing works";
  return fmt::format("{} on {}: {}", pick.technique->name, group_text(pick.group), duration(pick.job));
}

std::vector<std::string> remarks_of(const PlannedModel& m) {
  std::vector<const Prediction*> listed;
  for (const auto& p : m.predictions) listed.push_back(&p);
  return remarks_of(listed);
}

std::vector<std::string> names_of(const std::vector<const Technique*>& techniques) {
  std::vector<std::string> out;
  out.reserve(techniques.size());
  for (const Technique* technique : techniques) out.emplace_back(technique->name);
  return out;
}

// Says whether using VMs together is worth their distance.
std::string far_apart_text(const PlanReport& report, const PlannedModel& m) {
  const auto line = [&](const char* what, const NamedPlan& p) {
    return wrapped("  ", fmt::format("best{}: {}, {} on {} ({}), {}", what,
                                     p.listed ? fmt::format("{}.", *p.listed + 1) : "behind the list",
                                     p.technique->name, group_text(p.group), p.description, cost_text(p.cost, report)));
  };
  const bool changed = m.unchanged && !m.search.best.empty() && m.unchanged->cost > m.search.best.front().cost &&
                       !(m.one_vm && m.several_vms && m.unchanged->cost == m.one_vm->cost);
  std::string unchanged = changed ? line(", the training unchanged", *m.unchanged) : "";
  if (!m.one_vm || !m.several_vms) return unchanged;
  std::string best =
      unchanged + line(" on several VMs", *m.several_vms) + line(" on one VM, the training unchanged", *m.one_vm);
  const double ratio = m.one_vm->cost / m.several_vms->cost;
  if (report.objective == PlanObjective::kDeadline) return best;
  return best +
         wrapped("  ", ratio > 1
                           ? fmt::format("several VMs win by a factor of {:.3g}", ratio)
                           : fmt::format("several VMs do not win: the best simulated plan takes {:.3g} times as much",
                                         1 / ratio));
}

std::vector<Assumption> assumptions_of_list(const PlanReport& report) {
  std::vector<const Prediction*> predictions;
  for (const auto& model : report.models) {
    for (const auto& p : model.predictions) predictions.push_back(&p);
  }
  return assumptions_of(report.scenario, predictions);
}

std::size_t refused_count(const SearchResult& s) {
  return std::accumulate(s.refused.begin(), s.refused.end(), std::size_t{0},
                         [](std::size_t sum, const RefusedChoices& those) { return sum + those.count; });
}

// Why no plan is listed.
std::string none_text(const SearchResult& s) {
  if (s.refused.empty()) return "nothing fits";
  return s.unfit == 0 ? "nothing runs" : "nothing runs: what could run does not fit";
}

// Kinds of reasons for which choices cannot run.
std::string refused_text(const SearchResult& s) {
  constexpr std::size_t kMostKinds = 4;
  std::string out;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < std::min(kMostKinds, s.refused.size()); ++i) {
    shown += s.refused[i].count;
    out += wrapped("  ", fmt::format("{} cannot run: {}", s.refused[i].count, s.refused[i].reason));
  }
  const std::size_t others = refused_count(s) - shown;
  if (others > 0)
    out += fmt::format("  {} cannot run for {}\n", others,
                       count_of(static_cast<double>(s.refused.size() - kMostKinds), "other reason"));
  return out;
}

void add_model(std::string& out, const PlanReport& report, const PlannedModel& m) {
  const SearchResult& s = m.search;
  const std::size_t refused = refused_count(s);
  out +=
      "\n" + wrapped("", fmt::format("{}: {} choices; {} planned, {}{} do not fit, {} simulated; {}", m.model,
                                     s.choices, s.assessed, refused > 0 ? fmt::format("{} cannot run, ", refused) : "",
                                     s.unfit, s.simulated,
                                     s.proven       ? "no other is better than the first"
                                     : s.given_left ? "stopped before all that slmsim run compares was tried"
                                     : s.stopped    ? "stopped before the end"
                                     : std::isfinite(s.least_left) ? "the others were not evaluated"
                                                                   : "no better one among them"));
  out += refused_text(s);
  if (s.thinned) out += "  too many groups of GPUs; not all were searched\n";
  if (s.best.empty()) {
    out +=
        s.stopped ? "  nothing found in time; a longer --time-limit may help\n" : fmt::format("  {}\n", none_text(s));
    return;
  }
  out += fmt::format("     {:<14} {:>10} {:>10} {:>5} {:>11}  {}\n",
                     report.objective == PlanObjective::kTime ? "" : name_in(plan_objective_names(), report.objective),
                     "job", "iteration", "GPUs", "memory, GiB", "plan");
  for (std::size_t i = 0; i < s.best.size(); ++i) {
    const Prediction& p = m.predictions[i];
    const DeviceMemory* memory = fullest(p.memory);
    const std::string factor = i == 0 ? "best" : fmt::format("{:.3g} x", s.best[i].cost / s.best[0].cost);
    const std::string cost = report.objective == PlanObjective::kTime ? factor : cost_text(s.best[i].cost, report);
    const std::string figures = fmt::format(
        "  {}. {:<14} {:>10} {:>10} {:>5} {:>11}  ", i + 1, cost, duration(p.job), to_text(p.iteration), p.gpus,
        memory ? fmt::format("{:.1f}/{:.1f}", memory->total().value / kGibi, memory->limit.value / kGibi) : "-");
    const std::string whole = fmt::format("{}{}: {}\n", figures, place_of(p), m.descriptions[i]);
    out += whole.size() <= kTextWidth + 1 ? whole
                                          : wrapped(figures, place_of(p) + ":") + wrapped("     ", m.descriptions[i]);
  }
  for (std::size_t i = 0; i < s.best.size(); ++i) {
    if (i < m.jobs.size() && m.jobs[i])
      out += wrapped("  ", fmt::format("whole jobs in {}.: {}", i + 1, job_line(*m.jobs[i])));
  }
  for (std::size_t i = 1; i < s.best.size(); ++i)
    out += wrapped(
        "  ", fmt::format("behind in {}. by: {} per iteration", i + 1, why_behind(m.predictions[0], m.predictions[i])));
  for (std::size_t i = 0; i < s.best.size(); ++i) {
    const Prediction& p = m.predictions[i];
    if (p.round) out += wrapped("  ", fmt::format("in {}.: {}", i + 1, round_text(*p.round)));
    if (p.warm_up) out += wrapped("  ", fmt::format("in {}.: {}", i + 1, warm_up_text(*p.warm_up)));
  }
  for (std::size_t i = 0; i < s.best.size(); ++i) {
    if (!m.alike[i].empty())
      out += wrapped("  ", fmt::format("equal to {}. on one GPU: {}", i + 1, fmt::join(names_of(m.alike[i]), ", ")));
  }
  for (const auto& remark : remarks_of(m)) out += wrapped("  ", "remark: " + remark);
  out += far_apart_text(report, m);
  for (const auto& limit : m.limits)
    out += wrapped("  ", fmt::format("limits 1.: {} ({:.0f} %), if {}", limit.name,
                                     100 * (limit.given_back / m.predictions[0].iteration), limit.what));
  out += fmt::format("  the same by: {}\n", run_command(report, m, 0));
}

Json model_json(const PlanReport& report, const PlannedModel& m) {
  Json list = Json::array();
  for (std::size_t i = 0; i < m.search.best.size(); ++i) {
    const Prediction& p = m.predictions[i];
    const DeviceMemory* memory = fullest(p.memory);
    list.push_back({{"technique", p.technique->name},
                    {"group", in_ranges(p.group)},
                    {"gpus", p.gpus},
                    {"cost", rounded(m.search.best[i].cost)},
                    {"minutes", rounded(p.job.value / 60)},
                    {"iteration_s", rounded(p.iteration.value)},
                    {"gpu_hours", rounded(p.gpu_hours())},
                    {"breakdown_s", breakdown_json(p.breakdown)},
                    {"memory_bytes", memory ? std::llround(memory->total().value) : 0},
                    {"memory_limit_bytes", memory ? std::llround(memory->limit.value) : 0},
                    {"job", i < m.jobs.size() && m.jobs[i] ? job_json(*m.jobs[i]) : Json(nullptr)},
                    {"options", m.descriptions[i]},
                    {"alike", names_of(m.alike[i])},
                    {"set", m.overrides[i]},
                    {"command", run_command(report, m, i)},
                    {"behind_by", i == 0 ? "" : why_behind(m.predictions[0], p)}});
  }
  Json limits = Json::array();
  for (const auto& limit : m.limits)
    limits.push_back({{"name", limit.name}, {"given_back_s", rounded(limit.given_back.value)}, {"what", limit.what}});
  const SearchResult& s = m.search;
  Json refused = Json::array();
  for (const auto& those : s.refused) refused.push_back({{"count", those.count}, {"reason", those.reason}});
  Json out = {{"model", m.model},
              {"objective", name_in(plan_objective_names(), report.objective)},
              {"choices", s.choices},
              {"planned", s.assessed},
              {"unfit", s.unfit},
              {"refused", refused},
              {"simulated", s.simulated},
              {"proven", s.proven},
              {"stopped", s.stopped},
              {"groups_left_out", s.thinned},
              {"least_left", s.proven || !std::isfinite(s.least_left) ? Json(nullptr) : Json(rounded(s.least_left))},
              {"plans", list},
              {"limits", limits}};
  if (const auto remarks = remarks_of(m); !remarks.empty()) out["remarks"] = remarks;
  const auto named = [](const NamedPlan& p) {
    return Json{{"technique", p.technique->name},
                {"group", in_ranges(p.group)},
                {"options", p.description},
                {"cost", rounded(p.cost)},
                {"listed", p.listed ? Json(*p.listed + 1) : Json(nullptr)}};
  };
  if (m.unchanged) out["training_unchanged"] = named(*m.unchanged);
  if (m.one_vm && m.several_vms) {
    out["one_vm"] = named(*m.one_vm);
    out["several_vms"] = named(*m.several_vms);
  }
  return out;
}

}  // namespace

std::string to_plan_table(const PlanReport& report) {
  std::string out = fmt::format("{}: the best plans by {}\n", report.scenario.name,
                                name_in(plan_objective_names(), report.objective));
  for (const auto& model : report.models) add_model(out, report, model);
  if (const auto assumed = assumptions_of_list(report); !assumed.empty())
    out += "\n" + wrapped("", fmt::format("assumed: {}; slmsim run {} --assumed lists them",
                                          count_of(static_cast<double>(assumed.size()), "value"),
                                          report.file.empty() ? "SCENARIO" : shell_word(report.file)));
  return out;
}

std::string to_plan_json(const std::vector<PlanReport>& reports) {
  Json list = Json::array();
  for (const auto& report : reports) {
    Json models = Json::array();
    for (const auto& model : report.models) models.push_back(model_json(report, model));
    list.push_back({{"schema", "slmsim/plan/1"},
                    {"scenario", report.scenario.name},
                    {"models", models},
                    {"assumed", assumed_json(assumptions_of_list(report))}});
  }
  return to_text(list);
}

std::string to_plan_markdown(const std::vector<PlanReport>& reports) {
  std::string out = "| scenario | model | Algorithm 1, printed | amended | best plan | |\n|---|---|---|---|---|---|\n";
  for (const auto& report : reports) {
    for (const auto& m : report.models) {
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", report.scenario.name, m.model, pick_text(m.printed_pick),
                         pick_text(m.amended_pick), best_plan(m), m.search.proven ? "proven" : "not proven");
    }
  }
  for (const auto& report : reports) {
    const std::string assumed = assumed_line(assumptions_of_list(report));
    if (!assumed.empty()) out += fmt::format("\n{}, {}\n", report.scenario.name, assumed);
  }
  return out;
}

std::string best_plan(const PlannedModel& planned) {
  if (planned.predictions.empty())
    return planned.search.stopped ? "no plan found within the time limit" : none_text(planned.search);
  const Prediction& p = planned.predictions.front();
  return fmt::format("{} on {}, {}: {}", p.technique->name, group_text(p.group), planned.descriptions.front(),
                     duration(p.job));
}

}  // namespace slmsim
