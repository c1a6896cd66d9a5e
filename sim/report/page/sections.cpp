#include "sim/report/page/sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/report/page/markup.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

std::string look_of(std::size_t technique) { return fmt::format("t{}", technique); }

std::string gib(Bytes size) { return fmt::format("{:.1f}", size.value / kGibi); }

std::string status_text(const Prediction& p) {
  return p.status == Status::kOutOfMemory ? "out of memory" : "cannot run";
}

std::string percent(Seconds part, Seconds whole) {
  return fmt::format("{:.0f}", whole.value > 0 ? 100 * (part / whole) : 0.0);
}

const CandidateUncertainty* cell_of(const ModelReport& report, const Prediction& p) {
  const auto& uncertainty = report.result.uncertainty;
  return uncertainty ? &uncertainty->cells[&p - report.result.predictions.data()] : nullptr;
}

// Interval of the job, in seconds; from infinity to zero where there is none.
Interval interval_of(const ModelReport& report, const Prediction& p) {
  const CandidateUncertainty* cell = cell_of(report, p);
  return cell && cell->job.high > 0 ? cell->job : Interval{INFINITY, 0};
}

// A narrow cell breaks before "to" and "of", and numbers keep their units.
std::string together(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool may_break = text.compare(i, 4, " to ") == 0 || text.compare(i, 4, " of ") == 0;
    out += text[i] != ' ' || may_break ? std::string(1, text[i]) : "\u00a0";
  }
  return out;
}

std::vector<std::string> row_of(const ModelReport& report, const Prediction& p) {
  const DeviceMemory* memory = tightest(p);
  std::vector<std::string> row = {p.technique->name, group_words(report.platform(), p.group),
                                  fmt::format("{}", p.gpus)};
  if (p.status == Status::kOk) {
    row.insert(row.end(),
               {duration(p.job), to_text(p.iteration), fmt::format("{:.2f}", p.rate_per_gpu.value / kTera),
                p.gpu_hours() < 1000 ? fmt::format("{:.3g}", p.gpu_hours()) : fmt::format("{:.0f}", p.gpu_hours())});
  } else {
    row.insert(row.end(), {status_text(p), "", "", ""});
  }
  row.push_back(memory ? gib(memory->total()) + " of " + gib(memory->limit) : "");
  if (const CandidateUncertainty* cell = cell_of(report, p)) {
    const bool timed = p.status == Status::kOk && cell->job.high > 0;
    row.push_back(timed ? between_text(cell->job) : "");
    row.push_back(fmt::format("{:.0f} %", 100 * cell->fits));
  }
  for (std::size_t i = 3; i < row.size(); ++i) row[i] = together(row[i]);
  row.emplace_back(&p == report.pick() ? "pick" : "");
  return row;
}

const char* objective_words(Objective objective) {
  switch (objective) {
    case Objective::kTime:
      return "the shortest job";
    case Objective::kGpuHours:
      return "the fewest GPU-hours";
    case Objective::kTflopsPerGpu:
      return "the most TFLOP/s per GPU";
  }
  return "";
}

// In plain words, then step by step as on the command line.
std::string decision_details(const ModelReport& report) {
  const SelectionRules& rules = report.result.scenario.selection;
  const bool printed = report.selection().algorithm == Algorithm::kPaper;
  const std::string delta = fmt::format("{:.3g} %", 100 * rules.delta);
  std::string out = "<details><summary>How the pick is made</summary>\n";
  out += printed ? "<p>By the rule printed in the FABRIC study, as the scenario states.</p>\n"
                 : fmt::format(
                       "<p>The pick has {}. In a near tie, with others within {} of it, the pick is the one with the "
                       "fewest GPU-hours.</p>\n",
                       objective_words(rules.objective), delta);
  if (!printed && report.index < report.result.others.size())
    out += fmt::format(
        "<p>The rule printed in the FABRIC study would pick {}. It compares speed per GPU of Pipeshard on two VMs "
        "with that of Data and Shard on one of them.</p>\n",
        escaped(picked(report.platform(), report.result.others[report.index])));
  out +=
      "<details><summary>Step by step, with the study's names</summary>\n<p class=\"note\">The rule is Algorithm 1 of "
      "arXiv 2602.02632; delta is the lead that decides, selection.delta. VMs have their own names.</p>\n<ol>\n";
  for (const auto& step : report.selection().steps) out += fmt::format("<li>{}</li>\n", escaped(step));
  return out + "</ol></details></details>\n";
}

// Predictions that do not run come last.
std::vector<const Prediction*> fastest_first(std::vector<const Prediction*> predictions) {
  std::stable_sort(predictions.begin(), predictions.end(), [](const Prediction* a, const Prediction* b) {
    const bool runs = a->status == Status::kOk, other_runs = b->status == Status::kOk;
    return runs != other_runs ? runs : runs && a->job < b->job;
  });
  return predictions;
}

}  // namespace

std::string comparison_section(const ModelReport& report) {
  const std::optional<Uncertainty>& uncertainty = report.result.uncertainty;
  double longest = 0, shortest = INFINITY, least = INFINITY;
  for (const Prediction* p : report.predictions) {
    if (p->status != Status::kOk) continue;
    const Interval between = interval_of(report, *p);
    longest = std::max({longest, p->job.value, between.high});
    shortest = std::min(shortest, p->job.value);
    least = std::min(least, between.low);
  }
  // Where times differ greatly, bars are logarithmic, and the text says so.
  const bool logarithmic = longest > 20 * shortest;
  shortest = std::min(shortest, least);
  const auto length = [&](double time) {
    return logarithmic ? std::log(2 * time / shortest) / std::log(2 * longest / shortest) : time / longest;
  };
  std::vector<Bar> bars;
  std::vector<std::vector<std::string>> rows;
  std::string reasons;
  for (const Prediction* p : fastest_first(report.predictions)) {
    Bar bar{
        .label = place_of(report.platform(), *p), .text = status_text(*p), .parts = {}, .strong = p == report.pick()};
    if (p->status == Status::kOk) {
      bar.text = duration(p->job) + (p == report.pick() ? ", the pick" : "");
      bar.parts = {{0, length(p->job.value), look_of(position_of(*p->technique)), ""}};
      const Interval between = interval_of(report, *p);
      if (between.high > 0)
        bar.whisker = {
            length(between.low), length(between.high),
            fmt::format("with a probability of {:.0f} % from {}", 100 * uncertainty->level, between_text(between))};
    } else {
      reasons += fmt::format("<li>{}: {}</li>\n", escaped(place_of(report.platform(), *p)), escaped(p->reason));
    }
    bars.push_back(std::move(bar));
    rows.push_back(row_of(report, *p));
  }
  std::string out = fmt::format(
      "<p>Time of the whole job, fastest first{}{}.</p>\n", logarithmic ? "; bars on a logarithmic scale" : "",
      uncertainty ? fmt::format("; lines across: intervals of {:.0f} %", 100 * uncertainty->level) : "");
  BarAxis axis{"time of the job", {}};
  if (longest > 0)
    axis.ticks = logarithmic ? uneven_duration_ticks(shortest / 2, longest, length) : duration_ticks(longest);
  out += html_bars(bars, axis, "time of the job by technique and group");
  if (!reasons.empty()) out += "<ul>\n" + reasons + "</ul>\n";
  std::vector<std::string> head = {"technique",       "group",     "GPUs",        "job", "iteration",
                                   "TFLOP/s per GPU", "GPU-hours", "memory, GiB", ""};
  if (uncertainty)
    head.insert(head.end() - 1, {fmt::format("{:.0f} % interval of the job", 100 * uncertainty->level), "fits"});
  out += html_table(head, rows, 2);
  if (uncertainty) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(origin_text(*uncertainty)));
  return out + decision_details(report);
}

std::string memory_section(const ModelReport& report) {
  const std::vector<std::string> names = {"parameters",  "gradients", "optimizer",
                                          "activations", "buffers",   "framework"};
  double most = 0;
  for (const Prediction* p : report.predictions) {
    if (const DeviceMemory* m = tightest(*p)) most = std::max({most, m->total().value, m->limit.value});
  }
  most *= 1.02;  // room for the marks
  std::vector<Bar> bars;
  for (const Prediction* p : report.predictions) {
    const DeviceMemory* m = tightest(*p);
    if (!m) continue;
    Bar bar{.label = place_of(report.platform(), *p), .text = {}, .parts = {}, .mark = m->limit.value / most};
    bar.text = fmt::format("{} of {} GiB{}", gib(m->total()), gib(m->limit), m->fits() ? "" : ", out of memory");
    bar.strong = !m->fits();
    const std::array parts = {m->parameters, m->gradients, m->optimizer, m->activations, m->buffers, m->framework};
    double left = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      bar.parts.push_back({left / most, parts[i].value / most, fmt::format("p{}", i),
                           fmt::format("{}: {} GiB", names[i], gib(parts[i]))});
      left += parts[i].value;
    }
    bars.push_back(std::move(bar));
  }
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) entries.push_back({fmt::format("p{}", i), names[i]});
  return "<p>On the GPU with the least free memory; the vertical mark is the limit.</p>\n" +
         html_bars(bars, {"GiB", linear_ticks(most / kGibi)}, "memory of the fullest GPU by parts") +
         html_legend(entries);
}

std::string breakdown_section(const ModelReport& report) {
  const std::vector<std::string> names = {"computing", "waiting for communication or drives", "pipeline bubble",
                                          "optimizer", "launching"};
  std::vector<Bar> bars;
  for (const Prediction* p : report.predictions) {
    if (p->status != Status::kOk || p->iteration <= Seconds{0}) continue;
    const auto& b = p->breakdown;
    const std::array parts = {b.compute, b.exposed_communication, b.pipeline_bubble, b.optimizer, b.overhead};
    Bar bar{.label = place_of(report.platform(), *p),
            .text = to_text(p->iteration),
            .parts = {},
            .strong = p == report.pick()};
    double left = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double share = parts[i] / p->iteration;
      bar.parts.push_back(
          {left, share, fmt::format("p{}", i), fmt::format("{}: {} %", names[i], percent(parts[i], p->iteration))});
      left += share;
    }
    bars.push_back(std::move(bar));
  }
  if (bars.empty()) return "<p>Nothing runs, so there is no iteration to break down.</p>\n";
  std::string bases;
  for (const Prediction* p : report.predictions) {
    if (p->basis)
      bases += fmt::format("<li>{}: computation {}</li>\n", escaped(place_of(report.platform(), *p)),
                           escaped(basis_text(*p->basis)));
  }
  if (!bases.empty()) bases = "<p>Sources of kernel times:</p>\n<ul>\n" + bases + "</ul>\n";
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < names.size(); ++i) entries.push_back({fmt::format("p{}", i), names[i]});
  return "<p>Shares of an iteration of the GPU that computes longest, and the iteration's length.</p>\n" +
         html_bars(bars, {"% of it", linear_ticks(100)}, "where the time of an iteration goes") + html_legend(entries) +
         bases;
}

std::string latency_section(const ModelReport& report) {
  std::string out = fmt::format("<p>{}</p>\n", escaped(change_text(report)));
  if (!report.sweep) return out;
  const auto& sweep = *report.sweep;
  LogChart chart{.title = "time of the job against round-trip time",
                 .x_label = "round-trip time (ms)",
                 .y_label = "time of the job (min)",
                 .curves = {},
                 .marks = {}};
  // For GPUs that the round-trip time does not affect, only the fastest is shown.
  std::map<std::pair<std::vector<std::string>, std::size_t>, Curve> curves;  // by group, and technique's place
  for (const auto& point : sweep.points) {
    for (const auto& p : point.predictions) {
      if (p.status != Status::kOk) continue;
      Curve& curve = curves[{p.group, position_of(*p.technique)}];
      curve.text = place_of(report.platform(), p);
      curve.x.push_back(point.rtt.value * 1e3);
      curve.y.push_back(p.job.value / 60);
    }
  }
  std::optional<Curve> level;
  std::vector<std::vector<std::string>> groups;
  for (auto& [key, curve] : curves) {
    if (curve.y.front() == curve.y.back()) {
      const Selection& pick = report.selection();
      const bool picked = pick.technique && position_of(*pick.technique) == key.second && pick.group == key.first;
      const double lead = level ? level->y.front() / curve.y.front() : 2.0;
      if (lead > 1 + 1e-9 || (picked && lead > 1 - 1e-9)) level = curve;  // among equals the pick
      continue;
    }
    if (std::find(groups.begin(), groups.end(), key.first) == groups.end()) groups.push_back(key.first);
    curve.look = fmt::format("line{}", groups.size() > 1 ? " thin" : "") + " l" + look_of(key.second);
    chart.curves.push_back(curve);
  }
  if (level) {
    level->look = "line level";
    chart.curves.push_back(*level);
  }
  for (const auto& change : sweep.changes) chart.marks.push_back(change.rtt.value * 1e3);
  if (chart.curves.empty()) return out;
  return out + html_chart(chart) +
         "<p class=\"note\">Dotted vertical lines mark changes of the pick. With a lead of more than delta required, "
         "curves need not cross there.</p>\n";
}

}  // namespace slmsim
