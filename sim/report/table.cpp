#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/predict/assumption.h"
#include "sim/report/phrases.h"
#include "sim/report/report.h"
#include "sim/report/uncertainty_text.h"

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

void add_row(std::string& out, const Prediction& p, const Selection* pick, const Seconds* best, std::size_t wide) {
  const DeviceMemory* memory = fullest(p.memory);
  const std::string used =
      memory ? fmt::format("{:.1f}/{:.1f}", memory->total().value / kGibi, memory->limit.value / kGibi) : "-";
  const std::string group = group_text(p.group);
  if (p.status != Status::kOk) {
    out += fmt::format("  {:<{}} {:<20} {:>4} {:>10} {:>10} {:>8} {:>9} {:>6} {:>9} {:>11}  {}\n", p.technique->name,
                       wide, group, p.gpus, "-", "-", "-", "-", "-", "-", used, verdict(p, pick, best));
    return;
  }
  const auto& b = p.breakdown;
  out += fmt::format(
      "  {:<{}} {:<20} {:>4} {:>10} {:>10} {:>8.2f} {:>9} {:>6} {:>9} {:>11}  {}\n", p.technique->name, wide, group,
      p.gpus, duration(p.job), to_text(p.iteration), p.rate_per_gpu.value / kTera, count_text(p.tokens_per_second),
      fmt::format("{:.1f}", 100 * p.mfu),
      fmt::format("{}/{}/{}", share(b.compute + b.optimizer, p.iteration),
                  share(b.exposed_communication + b.overhead, p.iteration), share(b.pipeline_bubble, p.iteration)),
      used, verdict(p, pick, best));
}

void add_selection(std::string& out, const Selection& s) {
  out += fmt::format("  Algorithm 1, {}: {}\n", algorithm_names()[static_cast<std::size_t>(s.algorithm)], picked(s));
  for (const auto& step : s.steps) out += fmt::format("    - {}\n", step);
}

void add_model(std::string& out, const RunResult& result, std::size_t index) {
  const std::string& model = result.scenario.models[index].name;
  const Selection* pick = result.selections.empty() ? nullptr : &result.selections[index];
  const double parameters = parameter_count(build_operator_graph(result.scenario.models[index]));
  std::optional<Seconds> best;
  std::size_t wide = 10;  // of the techniques' column
  for (const auto& p : result.predictions) wide = std::max(wide, std::strlen(p.technique->name));
  for (const auto& p : result.predictions) {
    if (p.model == model && p.status == Status::kOk && (!best || p.job < *best)) best = p.job;
  }
  out += fmt::format("\n{} ({:.0f} M parameters)\n", model, parameters / 1e6);
  if (pick && result.uncertainty) {
    const auto objective = result.scenario.selection.objective;
    out += fmt::format("  pick: {}, {}\n", picked(*pick), pick_text(*result.uncertainty, index, objective));
  } else if (pick) {
    out += fmt::format("  pick: {}\n", picked(*pick));
  }
  out += fmt::format("  {:<{}} {:<20} {:>4} {:>10} {:>10} {:>8} {:>9} {:>6} {:>9} {:>11}\n", "technique", wide, "group",
                     "GPUs", "job", "iteration", "TFLOP/s", "tokens/s", "MFU, %", "time, %", "memory, GiB");
  out += fmt::format("  {:<{}} {:<20} {:>4} {:>10} {:>10} {:>8} {:>9} {:>6} {:>9} {:>11}\n", "", wide, "", "", "", "",
                     "per GPU", "", "", "c/w/b", "used/limit");
  for (const auto& p : result.predictions) {
    if (p.model == model) add_row(out, p, pick, best ? &*best : nullptr, wide);
  }
  if (result.uncertainty) out += fmt::format("\n{}\n", interval_table(*result.uncertainty, result.predictions, model));
  for (const auto& p : result.predictions) {
    if (p.model == model && p.basis)
      out += fmt::format("  {} on {}: computation {}\n", p.technique->name, group_text(p.group), basis_text(*p.basis));
    if (p.model == model && p.round)
      out += fmt::format("  {} on {}: {}\n", p.technique->name, group_text(p.group), round_text(*p.round));
    if (p.model == model && p.status != Status::kOk)
      out += fmt::format("  {} on {}: {}\n", p.technique->name, group_text(p.group), p.reason);
  }
}

// Each once: what techniques say beside their figures hangs on the plan, and seldom on the group.
std::string remarks_text(const std::vector<Prediction>& predictions) {
  std::string out;
  std::set<std::string> told;
  for (const auto& p : predictions) {
    for (const auto& remark : p.remarks) {
      if (p.status == Status::kOk && told.insert(remark).second) out += fmt::format("\nremark: {}", remark);
    }
  }
  return out;
}

}  // namespace

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> kNames = {"table", "json", "csv"};
  return kNames;
}

std::string to_table(const RunResult& result) {
  const Training& t = result.scenario.training;
  std::string out = fmt::format("{}: {} epochs of {:.0f} sequences, {} per iteration, {} iterations\n",
                                result.scenario.name, t.epochs, t.blocks_per_epoch, t.batch, t.steps());
  for (std::size_t i = 0; i < result.scenario.models.size(); ++i) {
    add_model(out, result, i);
    if (!result.selections.empty()) add_selection(out, result.selections[i]);
    if (!result.plans.empty()) out += fmt::format("  slmsim plan: {}\n", result.plans[i]);
  }
  for (const auto& assumption : assumptions_of(result.scenario)) out += fmt::format("\nassumed: {}", assumption.text);
  out += remarks_text(result.predictions);
  if (result.uncertainty) out += fmt::format("\n{}", origin_text(*result.uncertainty));
  out +=
      "\ntime, %: computing / waiting for communication and launch / pipeline bubble, of the GPU that "
      "computes longest\n";
  return out;
}

std::string to_selection_table(const RunResult& result) {
  std::string out = result.scenario.name + "\n";
  for (std::size_t i = 0; i < result.selections.size(); ++i) {
    out += fmt::format("\n{}\n", result.scenario.models[i].name);
    add_selection(out, result.selections[i]);
    add_selection(out, result.others[i]);
  }
  return out;
}

}  // namespace slmsim
