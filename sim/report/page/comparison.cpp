// The comparison of all choices: bars of the fastest, and every figure of each in tables.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/page/markup.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

constexpr std::size_t kFirstRows = 8;
constexpr double kFar = 5;       // times the shortest job: longer bars are broken
constexpr double kShown = 0.88;  // share of the width on which a broken axis is linear
constexpr double kSame = 1e-9;   // relative difference of equal times

std::string gib_of(const DeviceMemory& memory) {
  return fmt::format("{:.1f} of {:.1f}", memory.total().value / kGibi, memory.limit.value / kGibi);
}

const CandidateUncertainty* cell_of(const ModelReport& report, const Prediction& p) {
  const auto& uncertainty = report.result.uncertainty;
  return uncertainty ? &uncertainty->cells[&p - report.result.predictions.data()] : nullptr;
}

// Choices that differ by their group alone: one technique, an equal number of GPUs and the same time.
using Equals = std::vector<const Prediction*>;

bool are_equal(const Prediction& a, const Prediction& b) {
  return a.technique == b.technique && a.gpus == b.gpus && std::abs(a.job / b.job - 1) < kSame;
}

std::vector<Equals> rows_of(const ModelReport& report) {
  std::vector<Equals> out;
  for (const Prediction* p : fastest_first(report)) {
    if (p->status != Status::kOk) break;
    const auto same = std::ranges::find_if(out, [&](const Equals& e) { return are_equal(*e.front(), *p); });
    if (same == out.end()) {
      out.push_back({p});
    } else {
      same->push_back(p);
    }
  }
  return out;
}

std::string label_of(const ModelReport& report, const Equals& equals) {
  constexpr std::size_t kMostGroups = 3;
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < equals.size() && i < kMostGroups; ++i)
    groups.push_back(group_words(report.platform(), equals[i]->group));
  std::string out = fmt::format("{} on {}", equals.front()->technique->name, fmt::join(groups, " or "));
  if (equals.size() > kMostGroups) out += fmt::format(" or {} more", equals.size() - kMostGroups);
  return out;
}

// A linear axis from zero; where some jobs take far longer than the shortest, it ends after the others.
struct TimeAxis {
  double end = 0;  // s
  bool broken = false;

  double at(double time) const { return time / end * (broken ? kShown : 1); }
  bool is_beyond(double time) const { return time > end * (1 + kSame); }
};

TimeAxis axis_of(const ModelReport& report, const std::vector<Equals>& rows) {
  TimeAxis axis;
  const double far = kFar * rows.front().front()->job.value;
  for (const Equals& row : rows) {
    const CandidateUncertainty* cell = cell_of(report, *row.front());
    axis.broken = axis.broken || row.front()->job.value > far;
    if (row.front()->job.value <= far)
      axis.end = std::max({axis.end, row.front()->job.value, cell ? std::min(far, cell->job.high) : 0});
  }
  return axis;
}

std::string times_text(double ratio) {
  return ratio < 9.995 ? fmt::format("{:.2f}\u00d7", ratio) : fmt::format("{:.0f}\u00d7", ratio);
}

Bar bar_of(const ModelReport& report, const Equals& row, const TimeAxis& axis) {
  const Prediction& p = *row.front();
  const Prediction* pick = report.pick();
  const bool is_pick = &p == pick, beyond = axis.is_beyond(p.job.value);
  Bar bar{.label = label_of(report, row), .text = duration(p.job), .parts = {}, .strong = is_pick};
  if (is_pick) {
    bar.text += ", the pick";
  } else if (pick) {
    bar.text += fmt::format(", {}", times_text(p.job / pick->job));
  }
  bar.parts = {{0, beyond ? 1 : axis.at(p.job.value), is_pick ? "best" : "other", ""}};
  if (beyond) bar.gap = (1 + kShown) / 2;
  const CandidateUncertainty* cell = cell_of(report, p);
  if (cell && cell->job.high > 0 && !beyond)
    bar.whisker = {axis.at(cell->job.low), axis.is_beyond(cell->job.high) ? 1.01 : axis.at(cell->job.high),
                   fmt::format("with a probability of {:.0f} % from {}", 100 * report.result.uncertainty->level,
                               between_text(cell->job))};
  return bar;
}

std::string bars_of(const ModelReport& report, const std::vector<Equals>& rows, std::size_t from, std::size_t to,
                    const TimeAxis& axis) {
  std::vector<Bar> bars;
  for (std::size_t i = from; i < to; ++i) bars.push_back(bar_of(report, rows[i], axis));
  BarAxis below{"time of the job", duration_ticks(axis.end)};
  for (Tick& tick : below.ticks) tick.at *= axis.broken ? kShown : 1;
  return html_bars(bars, below, "time of the job by technique and group");
}

std::string misfits(const ModelReport& report) {
  std::vector<std::vector<std::string>> rows;
  std::size_t full = 0;
  for (const Prediction* p : report.predictions) {
    if (p->status == Status::kOk) continue;
    const bool is_full = p->status == Status::kOutOfMemory;
    full += is_full ? 1 : 0;
    const DeviceMemory* memory = fullest(p->memory);
    rows.push_back({p->technique->name, group_words(report.platform(), p->group),
                    is_full && memory && !memory->fits() ? gib_of(*memory) : "", p->reason});
  }
  if (rows.empty()) return "";
  const std::string title = full == rows.size()
                                ? fmt::format("{} out of memory", full)
                                : fmt::format("{} cannot run{}", rows.size(),
                                              full > 0 ? fmt::format(", {} of them out of memory", full) : "");
  const std::string table = html_table({"technique", "group", "memory, GiB", "reason"}, rows, 4);
  if (!report.pick()) return fmt::format("<p>{}:</p>\n", title) + table;
  return html_folded(title, "", table);
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
  const DeviceMemory* memory = fullest(p.memory);
  std::vector<std::string> row = {
      p.technique->name,
      group_words(report.platform(), p.group),
      fmt::format("{}", p.gpus),
      duration(p.job),
      to_text(p.iteration),
      fmt::format("{:.2f}", p.rate_per_gpu.value / kTera),
      p.gpu_hours() < 1000 ? fmt::format("{:.3g}", p.gpu_hours()) : fmt::format("{:.0f}", p.gpu_hours()),
      memory ? gib_of(*memory) : ""};
  if (const CandidateUncertainty* cell = cell_of(report, p)) {
    row.push_back(cell->job.high > 0 ? between_text(cell->job) : "");
    row.push_back(fmt::format("{:.0f} %", 100 * cell->fits));
  }
  for (std::size_t i = 3; i < row.size(); ++i) row[i] = together(row[i]);
  row.emplace_back(&p == report.pick() ? "pick" : "");
  return row;
}

// In the order of Objective.
constexpr const char* kObjectives[] = {"the shortest job", "the fewest GPU-hours", "the most TFLOP/s per GPU"};

// In plain words, then step by step as on the command line.
std::string decision_details(const ModelReport& report) {
  const SelectionRules& rules = report.result.scenario.selection;
  const bool printed = report.selection().algorithm == Algorithm::kPaper;
  const std::string delta = fmt::format("{:.3g} %", 100 * rules.delta);
  std::string out =
      printed
          ? "<p>By the rule printed in the FABRIC study, as the scenario states.</p>\n"
          : fmt::format(
                "<p>The pick has {}. At the edge of memory times count {:g} times. In a near tie, with others "
                "within {} of it, the pick leaves the training as it is, and of these it is the one with the fewest "
                "GPU-hours.</p>\n",
                kObjectives[static_cast<std::size_t>(rules.objective)], kEdgeSlowdown, delta);
  if (!printed && report.index < report.result.others.size() && report.result.others[report.index].technique)
    out += fmt::format(
        "<p>The rule printed in the FABRIC study would pick {}. It compares speed per GPU of Pipeshard on two VMs "
        "with that of Data and Shard on one of them.</p>\n",
        escaped(picked(report.platform(), report.result.others[report.index])));
  out +=
      "<details><summary>Step by step, with the study's names</summary>\n<p class=\"note\">The rule is Algorithm 1 of "
      "arXiv 2602.02632; delta is the lead that decides, selection.delta. VMs have their own names.</p>\n<ol>\n";
  for (const auto& step : report.selection().steps) out += fmt::format("<li>{}</li>\n", escaped(step));
  return html_folded("How the pick is made", "", out + "</ol></details>\n");
}

}  // namespace

std::string comparison_section(const ModelReport& report) {
  const std::vector<Equals> rows = rows_of(report);
  if (rows.empty()) return misfits(report);
  const TimeAxis axis = axis_of(report, rows);
  // The pick is always among the first.
  const auto pick = std::ranges::find_if(rows, [&](const Equals& e) { return e.front() == report.pick(); });
  const std::size_t needed = pick == rows.end() ? 0 : static_cast<std::size_t>(pick - rows.begin()) + 1;
  const std::size_t first = std::min(rows.size(), std::max(needed, kFirstRows));
  std::string out = bars_of(report, rows, 0, first, axis);
  const auto& uncertainty = report.result.uncertainty;
  if (uncertainty)
    out += fmt::format("<p class=\"note\">Lines across: intervals of {:.0f} %.</p>\n", 100 * uncertainty->level);
  if (first < rows.size())
    out += html_folded(fmt::format("All: {} more, up to {} ({})", rows.size() - first,
                                   duration(rows.back().front()->job), label_of(report, rows.back())),
                       "", bars_of(report, rows, first, rows.size(), axis));
  return out + misfits(report);
}

std::string figures_section(const ModelReport& report) {
  const std::optional<Uncertainty>& uncertainty = report.result.uncertainty;
  std::vector<std::vector<std::string>> rows;
  for (const Equals& equals : rows_of(report)) {
    for (const Prediction* p : equals) rows.push_back(row_of(report, *p));
  }
  if (rows.empty()) return "";
  std::vector<std::string> head = {"technique",       "group",     "GPUs",        "job", "iteration",
                                   "TFLOP/s per GPU", "GPU-hours", "memory, GiB", ""};
  if (uncertainty)
    head.insert(head.end() - 1, {fmt::format("{:.0f} % interval of the job", 100 * uncertainty->level), "fits"});
  std::string out = html_table(head, rows, 2);
  if (uncertainty) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(origin_text(*uncertainty)));
  return out + decision_details(report);
}

}  // namespace slmsim
