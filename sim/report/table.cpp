#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/base/quantity.h"
#include "sim/compute/operator_graph.h"
#include "sim/platform/site_route.h"
#include "sim/predict/assumption.h"
#include "sim/report/phrases.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

std::string verdict(const Prediction& p, const Selection* pick, const Seconds* best) {
  if (p.status == Status::kOutOfMemory) return "out of memory";
  if (p.status == Status::kUnsupported) return "cannot run";
  if (pick && pick->technique == p.technique && pick->group == p.group) return "<- pick";
  return best && p.job > *best ? fmt::format("{:.3g} x", p.job / *best) : "fastest";
}

// Three digits: "109 k".
std::string count_text(double value) {
  return value >= 1e6   ? fmt::format("{:.3g} M", value / 1e6)
         : value >= 1e3 ? fmt::format("{:.3g} k", value / 1e3)
                        : fmt::format("{:.3g}", value);
}

std::string share(Seconds part, Seconds whole) {
  return fmt::format("{:.0f}", whole.value > 0 ? 100 * (part / whole) : 0.0);
}

// A column has one unit, so that its numbers can be compared by eye: the largest in which the shortest time is at least
// `least_value`.
struct TimeUnit {
  const char* name;
  double seconds;
  std::string text(Seconds time) const {
    const double value = time.value / seconds;
    return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
  }
};

TimeUnit unit_of(const std::vector<Seconds>& times, double least_value, std::initializer_list<TimeUnit> units) {
  TimeUnit out = *units.begin();
  if (times.empty()) return out;
  const Seconds least = *std::min_element(times.begin(), times.end());
  for (const auto& unit : units) {
    if (least.value >= least_value * unit.seconds) out = unit;
  }
  return out;
}

struct Columns {
  TimeUnit job{"s", 1}, iteration{"s", 1};
  std::size_t technique = 10, group = 5;
  std::string currency;  // empty: nothing has a price
  std::optional<Seconds> best;
  const Selection* pick = nullptr;
};

std::string cost_text(double cost) {
  return cost == 0    ? "0"
         : cost < 1   ? fmt::format("{:.2g}", cost)
         : cost < 100 ? fmt::format("{:.2f}", cost)
                      : fmt::format("{:.0f}", cost);
}

// All columns except the technique and the verdict.
std::string figures(const Prediction& p, const Columns& columns) {
  const DeviceMemory* memory = fullest(p.memory);
  const std::string used =
      memory ? fmt::format("{:.1f}/{:.1f}", memory->total().value / kGibi, memory->limit.value / kGibi) : "-";
  const bool runs = p.status == Status::kOk;
  const auto cell = [&](const std::string& text) { return runs ? text : std::string("-"); };
  const auto& b = p.breakdown;
  std::string out = fmt::format("{:<{}} {:>4} {:>8} {:>9}", group_text(p.group), columns.group, p.gpus,
                                cell(columns.job.text(p.job)), cell(columns.iteration.text(p.iteration)));
  out += fmt::format(" {:>8} {:>8} {:>6} {:>9} {:>11}", cell(fmt::format("{:.2f}", p.rate_per_gpu.value / kTera)),
                     cell(count_text(p.tokens_per_second)), cell(fmt::format("{:.1f}", 100 * p.mfu)),
                     cell(fmt::format("{}/{}/{}", share(b.compute + b.optimizer, p.iteration),
                                      share(b.exposed_communication + b.overhead, p.iteration),
                                      share(b.pipeline_bubble, p.iteration))),
                     used);
  out += fmt::format(" {:>7} {:>6}", cell(count_text(p.gpu_hours())),
                     cell(p.bill.energy ? count_text(p.bill.energy->value / kJoulesPerKwh) : "?"));
  if (!columns.currency.empty()) out += fmt::format(" {:>7}", cell(p.bill.cost ? cost_text(*p.bill.cost) : "?"));
  return out;
}

Columns columns_of(const std::vector<const Prediction*>& rows) {
  Columns out;
  std::vector<Seconds> jobs, iterations;
  for (const Prediction* p : rows) {
    out.technique = std::max(out.technique, std::strlen(p->technique->name));
    out.group = std::max(out.group, group_text(p->group).size());
    if (p->status != Status::kOk) continue;
    if (!out.best || p->job < *out.best) out.best = p->job;
    jobs.push_back(p->job);
    iterations.push_back(p->iteration);
    if (p->bill.cost) out.currency = p->bill.currency;
  }
  out.job = unit_of(jobs, 1, {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}});
  out.iteration = unit_of(iterations, 0.1, {{"ms", 1e-3}, {"s", 1}});
  return out;
}

// Techniques with the same result on a group, as all have on one GPU, share a row.
void add_rows(std::string& out, const std::vector<const Prediction*>& rows, const Columns& columns) {
  for (std::size_t i = 0; i < rows.size();) {
    const std::string text = figures(*rows[i], columns);
    std::string names = rows[i]->technique->name,
                remark = verdict(*rows[i], columns.pick, columns.best ? &*columns.best : nullptr);
    std::size_t next = i + 1;
    for (; next < rows.size() && rows[next]->status == Status::kOk && figures(*rows[next], columns) == text; ++next) {
      const Prediction& p = *rows[next];
      if (p.job != rows[i]->job || p.round || p.warm_up) break;
      names += fmt::format(" = {}", p.technique->name);
      if (const std::string other = verdict(p, columns.pick, columns.best ? &*columns.best : nullptr);
          other == "<- pick")
        remark = fmt::format("<- pick {}", p.technique->name);
    }
    if (next > i + 1 && names.size() > columns.technique) {
      out += fmt::format("  {}:\n  {:<{}} {}  {}\n", names, "", columns.technique, text, remark);
    } else {
      out += fmt::format("  {:<{}} {}  {}\n", names, columns.technique, text, remark);
    }
    i = next;
  }
}

std::string head_text(const Columns& columns) {
  std::string first = fmt::format("  {:<{}} {:<{}} {:>4} {:>8} {:>9} {:>8} {:>8} {:>6} {:>9} {:>11} {:>7} {:>6}",
                                  "technique", columns.technique, "group", columns.group, "GPUs", "job,", "iteration",
                                  "TFLOP/s", "tokens/s", "MFU, %", "time, %", "memory, GiB", "GPU-", "energy");
  std::string second = fmt::format("  {:<{}} {:<{}} {:>4} {:>8} {:>9} {:>8} {:>8} {:>6} {:>9} {:>11} {:>7} {:>6}", "",
                                   columns.technique, "", columns.group, "", columns.job.name, columns.iteration.name,
                                   "per GPU", "", "", "c/w/b", "used/limit", "hours", "kWh");
  if (!columns.currency.empty()) {
    first += fmt::format(" {:>7}", "cost,");
    second += fmt::format(" {:>7}", columns.currency);
  }
  return first + "\n" + second + "\n";
}

std::string parameters_text(double count) {
  return count < 1e10 ? fmt::format("{:.0f} M parameters", count / 1e6)
                      : fmt::format("{:.1f} B parameters", count / 1e9);
}

void add_selection(std::string& out, const Selection& s) {
  out += fmt::format("  Algorithm 1, {}: {}\n", name_in(algorithm_names(), s.algorithm), picked(s));
  for (const auto& step : s.steps) out += fmt::format("    - {}\n", step);
}

void add_model(std::string& out, const RunResult& result, std::size_t index) {
  const std::string& model = result.scenario.models[index].name;
  const Selection* pick = result.selections.empty() ? nullptr : &result.selections[index];
  const OperatorGraph operators = build_operator_graph(result.scenario.models[index]);
  const double parameters = parameter_count(operators), trained = trained_count(operators);
  std::vector<const Prediction*> rows;
  for (const auto& p : result.predictions) {
    if (p.model == model) rows.push_back(&p);
  }
  Columns columns = columns_of(rows);
  columns.pick = pick;
  const std::string adapters =
      trained < parameters ? fmt::format(", of which adapters of {:.3g} M are trained", trained / 1e6) : "";
  out += fmt::format("\n{} ({}{})\n", model, parameters_text(parameters), adapters);
  if (pick && result.uncertainty) {
    const auto objective = result.scenario.selection.objective;
    out += fmt::format("  pick: {}, {}\n", picked(*pick), pick_text(*result.uncertainty, index, objective));
  } else if (pick) {
    out += fmt::format("  pick: {}\n", picked(*pick));
  }
  out += head_text(columns);
  add_rows(out, rows, columns);
  if (result.uncertainty) out += fmt::format("\n{}\n", interval_table(*result.uncertainty, result.predictions, model));
  if (!result.jobs.empty()) out += job_table(result, model);
  for (const auto& p : result.predictions) {
    if (p.model == model && p.basis)
      out += fmt::format("  {} on {}: computation {}\n", p.technique->name, group_text(p.group), basis_text(*p.basis));
    if (p.model == model && p.round)
      out += fmt::format("  {} on {}: {}\n", p.technique->name, group_text(p.group), round_text(*p.round));
    if (p.model == model && p.warm_up)
      out += fmt::format("  {} on {}: {}\n", p.technique->name, group_text(p.group), warm_up_text(*p.warm_up));
    if (p.model == model && p.status != Status::kOk)
      out += fmt::format("  {} on {}: {}\n", p.technique->name, group_text(p.group), p.reason);
  }
}

// Platforms with many sites list them in JSON only.
constexpr std::size_t kMostRoutes = 10;
std::string ways_text(const Platform& platform) {
  const auto routes = site_routes(platform, kMostRoutes + 1);
  std::string out;
  for (std::size_t i = 0; i < routes.size() && i < kMostRoutes; ++i) out += fmt::format("  {}\n", to_text(routes[i]));
  if (routes.size() > kMostRoutes) out += "  more pairs of sites: see --format json\n";
  return out;
}

// Each remark once: a technique's remarks depend on the plan, and rarely on the group. Those with the same beginning up to a
// colon share a line.
std::string remarks_text(const std::vector<Prediction>& predictions) {
  std::string out, head;
  std::set<std::string> seen;
  std::vector<std::string> all;
  for (const auto& p : predictions) {
    for (const auto& remark : p.remarks) {
      if (p.status == Status::kOk && seen.insert(remark).second) all.push_back(remark);
    }
  }
  const auto head_of = [](const std::string& remark) { return remark.substr(0, remark.find(": ")); };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return head_of(a) < head_of(b); });
  for (const auto& remark : all) {
    const bool goes_on = head_of(remark) != remark && head_of(remark) == head;
    out += goes_on ? fmt::format(", {}", remark.substr(head.size() + 2)) : fmt::format("\nremark: {}", remark);
    head = head_of(remark);
  }
  return out;
}

// "; memory is highest at: backward pass (DDP), optimizer step (ZeRO-1)"
std::string moments_text(const std::vector<Prediction>& predictions) {
  std::map<Moment, std::vector<std::string>> by_moment;
  for (const auto& p : predictions) {
    const DeviceMemory* memory = fullest(p.memory);
    if (!memory) continue;
    auto& names = by_moment[memory->moment];
    if (std::find(names.begin(), names.end(), p.technique->name) == names.end()) names.emplace_back(p.technique->name);
  }
  std::string out;
  for (const auto& [moment, names] : by_moment)
    out += fmt::format("{}{} ({})", out.empty() ? "; memory is highest at: " : ", ", name_of(moment),
                       fmt::join(names, ", "));
  return out;
}

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> kNames = {"table", "json", "csv"};
  return kNames;
}

std::string to_table(const RunResult& result) {
  const Training& t = result.scenario.training;
  std::string out = fmt::format("{}: {}, {} per iteration, {} iterations\n", result.scenario.name, extent_text(t),
                                t.batch, t.steps());
  out += ways_text(result.scenario.platform);
  if (const Platform& p = result.scenario.platform; p.vms.size() > 2 && sites_with_vms(p).size() > 1)
    out += fmt::format("  compared: {}\n", compared_text(result.scenario));
  for (std::size_t i = 0; i < result.scenario.models.size(); ++i) {
    add_model(out, result, i);
    if (!result.selections.empty()) add_selection(out, result.selections[i]);
    if (!result.plans.empty()) out += fmt::format("  slmsim plan: {}\n", result.plans[i]);
  }
  if (const std::string assumed = assumed_line(all_assumptions(result)); !assumed.empty()) out += "\n" + assumed;
  out += remarks_text(result.predictions);
  if (result.uncertainty) out += fmt::format("\n{}", origin_text(*result.uncertainty));
  out +=
      "\ntime, %: computing / waiting for communication and launch / pipeline bubble, of the GPU that "
      "computes longest";
  return out + moments_text(result.predictions) + "\n";
}

std::string to_selection_table(const RunResult& result) {
  std::string out = result.scenario.name + "\n";
  for (std::size_t i = 0; i < result.selections.size(); ++i) {
    out += fmt::format("\n{}\n", result.scenario.models[i].name);
    add_selection(out, result.selections[i]);
    add_selection(out, result.others[i]);
  }
  if (const std::string assumed = assumed_line(all_assumptions(result)); !assumed.empty()) out += "\n" + assumed + "\n";
  return out;
}

}  // namespace slmsim
