#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/name_in.h"
#include "sim/predict/row.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Used and total size, over host memories or over drives.
std::string store_text(const LargestModel& model, bool drive) {
  Bytes used{0}, limit{0};
  for (const auto& store : model.stores) {
    if (store.drive != drive) continue;
    used += store.used;
    limit += store.limit;
  }
  return limit > Bytes{0} ? fmt::format("{:.0f}/{:.0f}", used.value / kGibi, limit.value / kGibi) : "-";
}

// Assumptions on stored state and the framework's memory; times and paths do not matter here.
std::vector<Assumption> assumptions_on_memory(const LargestResult& result) {
  std::vector<Assumption> out = assumptions_of(result.scenario);
  std::erase_if(out, [](const Assumption& one) { return one.measure != kTorchStep && one.about != "software.stack"; });
  return out;
}

Json model_json(const LargestModel& m, const Platform& platform) {
  Json memory = Json::array();
  for (const auto& d : m.memory) memory.push_back(memory_json(d, platform));
  return {{"model", m.model},
          {"technique", m.technique->name},
          {"group", in_ranges(m.group)},
          {"layers", m.layers},
          {"parameters", rounded(m.parameters)},
          {"memory", memory},
          {"stores", stores_json(m.stores)},
          {"limit", m.limit}};
}

Json result_json(const LargestResult& result) {
  Json models = Json::array();
  for (const auto& m : result.models) models.push_back(model_json(m, result.scenario.platform));
  return {{"schema", "slmsim/max-model/1"},
          {"scenario", result.scenario.name},
          {"models", models},
          {"assumed", assumed_json(assumptions_on_memory(result))}};
}

std::string precision_text(Precision precision) { return name_in(precision_names(), precision); }

std::string percent(std::optional<double> error) { return error ? fmt::format("{:+.1f} %", 100 * *error) : ""; }

std::string summary_line(const std::string& what, const ErrorSummary& summary) {
  if (summary.cells == 0) return fmt::format("{}: nothing to compare.\n", what);
  return fmt::format("{}: {} cells, median absolute error {:.1f} %, worst {:.1f} %.\n", what, summary.cells,
                     100 * summary.median, 100 * summary.worst);
}

std::string predicted_status(const StepComparison& step) {
  const auto& status = step.prediction.status;
  return status == Status::kOk ? "" : status == Status::kOutOfMemory ? "out of memory" : "cannot run";
}

std::string time_cell(Seconds time) { return fmt::format("{:.2f}", 1e3 * time.value); }
std::string memory_cell(Bytes size) { return fmt::format("{:.2f}", size.value / kGibi); }

// Explains a table without rows: predictions that did not run use no links.
std::string none_text(const RunResult& result) {
  const auto& all = result.predictions;
  if (std::ranges::none_of(all, [](const Prediction& p) { return p.is_timed(); }))
    return "  none: nothing ran, for the reasons above\n";
  const auto& vms = result.scenario.platform.vms;
  if (std::ranges::all_of(vms, [](const Vm& vm) { return vm.type.inside.empty(); }))
    return "  none: no VM type of this platform describes its inside (docs/scenario.md, The inside of a node)\n";
  return "  none: the VM types of what ran do not describe their inside (docs/scenario.md, The inside of a node)\n";
}

std::vector<Assumption> assumptions_of_all(const ExplainResult& result) {
  std::vector<const Prediction*> predictions;
  for (const auto& e : result.explanations) predictions.push_back(&e.prediction);
  return assumptions_by_time(result.scenario, predictions);
}

void add_explanation(std::string& out, const Explanation& e) {
  const Prediction& p = e.prediction;
  const std::string of = fmt::format("{}, {} on {}: ", p.model, p.technique->name, group_text(p.group));
  out += "\n";
  if (p.status != Status::kOk) {
    out += wrapped(
        "", fmt::format("{}{}; {}", of, p.status == Status::kOutOfMemory ? "out of memory" : "cannot run", p.reason));
    return;
  }
  std::string advice = e.advice;
  for (std::size_t at = advice.find("--set "); at != std::string::npos; at = advice.find("--set ", at))
    advice[at + 5] = kNoBreak;
  out += fmt::format("{}{} per iteration\n", of, to_text(p.iteration)) + wrapped("  ", advice);
  const std::size_t width = column_width(e.limits.single, 0, [](const auto& limit) { return limit.name; });
  for (const auto& limit : e.limits.single) {
    out += wrapped(fmt::format("  gives back {:>8}  {:>4.0f} %  {:<{}}  ", to_text(limit.given_back),
                               100 * (limit.given_back / p.iteration), limit.name, width),
                   limit.what);
  }
  const auto share = [&](Seconds time) { return fmt::format("{:.0f} %", 100 * (time / p.iteration)); };
  for (const auto& pair : e.limits.pairs) {
    out += wrapped("  hidden     ", fmt::format("{} and {} give back {} ({}) together, {} and {} alone", pair.first,
                                                pair.second, to_text(pair.together), share(pair.together),
                                                to_text(pair.alone_first), to_text(pair.alone_second)));
  }
  std::vector<std::string> in_turn;
  for (const auto& limit : e.limits.in_turn)
    in_turn.push_back(fmt::format("{} {}", fmt::join(limit.names, " with "), share(limit.given_back)));
  if (!in_turn.empty())
    out += wrapped("  in turn    ", fmt::format("{}; {} is left", fmt::join(in_turn, ", then "), share(e.limits.left)));
  for (const auto& change : e.what_ifs) {
    const std::string first = fmt::format("  takes      {:>8}  {:>+4.0f} %  ", to_text(change.iteration),
                                          100 * (change.iteration / p.iteration - 1));
    out += command_text(first, "--set " + set_words(change.set), first.size()) + "\n";
  }
}

Json explanation_json(const Explanation& e) {
  const Prediction& p = e.prediction;
  Json limits = Json::array(), pairs = Json::array(), in_turn = Json::array(), changes = Json::array();
  for (const auto& limit : e.limits.single)
    limits.push_back({{"name", limit.name}, {"given_back_s", rounded(limit.given_back.value)}, {"what", limit.what}});
  for (const auto& pair : e.limits.pairs) {
    pairs.push_back({{"names", {pair.first, pair.second}},
                     {"given_back_s", rounded(pair.together.value)},
                     {"alone_s", {rounded(pair.alone_first.value), rounded(pair.alone_second.value)}}});
  }
  for (const auto& limit : e.limits.in_turn)
    in_turn.push_back({{"names", limit.names}, {"given_back_s", rounded(limit.given_back.value)}});
  for (const auto& change : e.what_ifs) {
    changes.push_back({{"set", change.set},
                       {"iteration_s", rounded(change.iteration.value)},
                       {"minutes", rounded(change.job.value / 60)}});
  }
  Json out = head_json(p);
  out.update({{"breakdown_s", breakdown_json(p.breakdown)},
              {"latencies",
               {{"between_vms", e.limits.latencies.between_vms},
                {"inside_vms", e.limits.latencies.inside_vms},
                {"sum_s", rounded(e.limits.latencies.sum.value)}}},
              {"limits", limits},
              {"pairs", pairs},
              {"in_turn", in_turn},
              {"left_s", rounded(e.limits.left.value)},
              {"what_ifs", changes},
              {"advice", e.advice}});
  return out;
}

}  // namespace

std::string to_largest_table(const std::vector<LargestResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format("{}{}: the largest models that fit; memory in GiB, used/limit\n", out.empty() ? "" : "\n",
                       result.scenario.name);
    for (const auto& model : result.scenario.models) {
      out += fmt::format("\nlike {} (hidden {}, {} heads, sequence {})\n", model.name, model.hidden, model.heads,
                         model.sequence);
      out +=
          fmt::format("  {:<10} {:<14} {:>6} {:>8}  {:>11}  {:>31} {:>10} {:>11}  {}\n", "technique", "group", "layers",
                      "1e9", "fullest GPU", "param/grad/optim/act/buf/frame", "host", "drives", "limited by");
      for (const auto& m : result.models) {
        if (m.model != model.name) continue;
        const DeviceMemory* d = fullest(m.memory);
        std::vector<std::string> parts;
        for (const auto& part : kMemoryParts) {
          if (d) parts.push_back(gib(d->*part.bytes));
        }
        out += fmt::format("  {:<10} {:<14} {:>6} {:>8}  {:>11}  {:>31} {:>10} {:>11}  {}\n", m.technique->name,
                           group_text(m.group), m.layers > 0 ? fmt::format("{}", m.layers) : "-",
                           m.layers > 0 ? fmt::format("{:.2f}", m.parameters / 1e9) : "-",
                           d ? gib(d->total()) + "/" + gib(d->limit) : "-",
                           d ? fmt::format("{}", fmt::join(parts, "/")) : "-", store_text(m, false),
                           store_text(m, true), m.limit);
      }
    }
    if (const auto assumed = assumptions_on_memory(result); !assumed.empty()) out += "\n" + assumed_list(assumed);
  }
  return out;
}

std::string to_largest_json(const std::vector<LargestResult>& results) {
  Json list = Json::array();
  for (const auto& result : results) list.push_back(result_json(result));
  return to_text(list);
}

std::string to_markdown(const std::vector<StepComparison>& steps, const std::vector<SkippedStep>& skipped,
                        std::size_t worst) {
  std::string out =
      "| GPU | step | GPUs | stack | measured, ms | predicted | error | peak allocated, GiB | predicted | error | "
      "peak reserved |\n|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n";
  std::vector<std::optional<double>> times, memories;
  std::map<std::string, std::pair<std::vector<std::optional<double>>, std::vector<std::optional<double>>>> by_stack;
  TimeBasis basis;
  int agree = 0;
  std::vector<std::pair<double, std::string>> rows;  // by falling error, negated
  for (const auto& step : steps) {
    const auto& m = step.measured;
    const auto& p = step.prediction;
    const std::string stack = m.stack() + (m.flash ? ", flash" : "");
    times.push_back(step.time_error());
    memories.push_back(step.memory_error());
    auto& own = by_stack[stack + (m.stack() == "eager" ? std::string(" ") + precision_text(m.precision) : "")];
    own.first.push_back(times.back());
    own.second.push_back(memories.back());
    agree += step.status_agrees() ? 1 : 0;
    if (p.basis) basis += *p.basis;
    rows.emplace_back(
        -std::abs(times.back().value_or(0)),
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", printable(m.gpu), printable(m.title),
                    m.gpus, stack, m.out_of_memory ? "out of memory" : time_cell(m.step),
                    p.status == Status::kOk ? time_cell(p.iteration) : predicted_status(step),
                    percent(step.time_error()), m.peak ? memory_cell(*m.peak) : "", memory_cell(step.predicted_peak()),
                    percent(step.memory_error()), m.reserved ? memory_cell(*m.reserved) : ""));
  }
  if (worst > 0) {
    std::ranges::stable_sort(rows, {}, &std::pair<double, std::string>::first);
    rows.resize(std::min(worst, rows.size()));
  }
  for (const auto& row : rows) out += row.second;
  out +=
      "\n| stack | steps | time, median error | worst | peak memory, median error | worst "
      "|\n|---|--:|--:|--:|--:|--:|\n";
  const auto summary = [&](const std::string& what, const auto& time, const auto& memory) {
    const auto errors = [](const ErrorSummary& s) {
      return s.cells > 0 ? fmt::format("{:.1f} % | {:.1f} %", 100 * s.median, 100 * s.worst) : "- | -";
    };
    out += fmt::format("| {} | {} | {} | {} |\n", what, time.size(), errors(summary_of_errors(time)),
                       errors(summary_of_errors(memory)));
  };
  for (const auto& [stack, errors] : by_stack) summary(stack, errors.first, errors.second);
  summary("all", times, memories);
  out +=
      fmt::format("\n{}{}Fits in memory or not: {} of {} agree.\n", summary_line("Step time", summary_of_errors(times)),
                  summary_line("Peak memory", summary_of_errors(memories)), agree, steps.size());
  out += basis.total() > Seconds{0}
             ? fmt::format("Computation: {}.\n", basis_text(basis))
             : "Computation: by the data sheet's roofline and the software's efficiency; no kernel was measured.\n";
  if (!skipped.empty()) out += "\nNot compared:\n\n";
  for (const auto& [title, why] : skipped) out += fmt::format("- {}: {}\n", printable(title), why);
  return out;
}

std::string to_csv(const std::vector<StepComparison>& steps) {
  std::string out =
      "gpu,step,stack,model,gpus,batch_per_gpu,precision,measured_status,predicted_status,measured_step_s,"
      "predicted_step_s,measured_peak_bytes,predicted_peak_bytes,measured_reserved_bytes\n";
  for (const auto& step : steps) {
    const auto& m = step.measured;
    const auto& p = step.prediction;
    const auto cell = [](bool known, double value) { return known ? fmt::format("{:.9g}", value) : std::string(); };
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(m.gpu), csv_cell(m.title), m.stack(), m.model, m.gpus,
        m.batch, name_in(precision_names(), m.precision), m.out_of_memory ? "oom" : "ok", name_of(p.status),
        cell(!m.out_of_memory, m.step.value), cell(p.status == Status::kOk, p.iteration.value),
        cell(m.peak.has_value(), m.peak.value_or(Bytes{}).value), cell(!p.memory.empty(), step.predicted_peak().value),
        cell(m.reserved.has_value(), m.reserved.value_or(Bytes{}).value));
  }
  return out;
}

std::string to_link_use_table(const std::vector<RunResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format("\n{}: use of links per node, both directions together, GB/s\n", result.scenario.name);
    out += fmt::format("  {:<14} {:<10} {:<10} {:<10} {:>9} {:>9} {:>9} {:>9}\n", "model", "technique", "node", "links",
                       "average", "90th", "peak", "capacity");
    bool any = false;
    for (const auto& p : result.predictions) {
      for (const auto& use : p.interconnects) {
        any = true;
        out += fmt::format("  {:<14} {:<10} {:<10} {:<10} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.1f}\n", p.model,
                           p.technique->name, result.scenario.platform.vms[use.vm].name, use.interconnect,
                           use.average.value / kGiga, use.p90.value / kGiga, use.peak.value / kGiga,
                           use.capacity.value / kGiga);
      }
    }
    if (!any) out += none_text(result);
  }
  return out;
}

std::string to_timeline_csv(const std::vector<RunResult>& results) {
  std::string out = "scenario,model,technique,group,node,interconnect,time_s,rate_Bps\n";
  for (const auto& result : results) {
    for (const auto& p : result.predictions) {
      for (const auto& use : p.interconnects) {
        const std::string row =
            fmt::format("{},{},{},{},{},{}", csv_cell(result.scenario.name), csv_cell(p.model), p.technique->name,
                        csv_cell(fmt::format("{}", fmt::join(in_ranges(p.group), "+"))),
                        csv_cell(result.scenario.platform.vms[use.vm].name), csv_cell(use.interconnect));
        for (const auto& step : use.steps) out += fmt::format("{},{:.9g},{:.9g}\n", row, step.time, step.rate);
      }
    }
  }
  return out;
}

std::string to_technique_table() {
  std::string out;
  for (const Technique* one : technique_table()) out += fmt::format("{:<12} {}\n", one->name, one->summary);
  return out;
}

std::string to_technique_json() {
  auto list = nlohmann::ordered_json::array();
  for (const Technique* one : technique_table()) {
    auto options = nlohmann::ordered_json::array();
    for (const OptionSpec* option : options_of(*one)) options.push_back(option->key);
    const FigureStyle& style = one->style;
    list.push_back({{"name", one->name},
                    {"summary", one->summary},
                    {"options", options},
                    {"usual", one->usual},
                    {"looks",
                     {{"fill", style.fill},
                      {"line", style.line},
                      {"marker", style.marker},
                      {"dash", style.dash},
                      {"hatch", style.hatch}}}});
  }
  return list.dump(2) + "\n";
}

std::string to_explanation_table(const std::vector<ExplainResult>& results) {
  std::string out;
  for (const auto& result : results) {
    out += fmt::format(
        "{}{}", out.empty() ? "" : "\n",
        wrapped("",
                fmt::format("{}: time that an iteration gives back without one limit, and without one limit after "
                            "the other (in turn); time that it takes with other settings. Each number is a separate "
                            "prediction: single ones need not add up.",
                            result.scenario.name)));
    for (const auto& e : result.explanations) add_explanation(out, e);
    if (result.stopped)
      out += fmt::format("\nstopped before the end: {} explained, others are missing\n", result.explanations.size());
    else if (result.left > 0)
      out += fmt::format("\n{} others: --group, --technique, --model or --format json\n", result.left);
    if (const auto assumed = assumptions_of_all(result); !assumed.empty()) out += "\n" + assumed_list(assumed);
  }
  return out;
}

std::string to_explanation_json(const std::vector<ExplainResult>& results) {
  Json list = Json::array();
  for (const auto& result : results) {
    Json explanations = Json::array();
    for (const auto& e : result.explanations) explanations.push_back(explanation_json(e));
    list.push_back({{"schema", "slmsim/explain/1"},
                    {"scenario", result.scenario.name},
                    {"explanations", explanations},
                    {"stopped", result.stopped},
                    {"assumed", assumed_json(assumptions_of_all(result))}});
  }
  return to_text(list);
}

}  // namespace slmsim
