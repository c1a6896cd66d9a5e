#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/predict/row.h"
#include "tests/validation/tables.h"

namespace slmsim {
namespace {

struct Tally {
  int cells = 0, held = 0;
  double errors = 0, worst = 0, log_width = 0;

  // Adds a HeldOutCell or a ThroughputComparison.
  void add(const auto& cell) {
    ++cells;
    held += cell.held() ? 1 : 0;
    errors += std::abs(cell.error());
    worst = std::max(worst, std::abs(cell.error()));
    log_width += std::log(cell.interval.high / cell.interval.low);
  }
  std::string row(const std::string& first) const {
    if (cells == 0) return "";
    return fmt::format("| {} | {} | {:.1f} % | {:.0f} % | {:.0f} % | {:.1f} |\n", first, cells, 100 * errors / cells,
                       100 * worst, 100.0 * held / cells, std::exp(log_width / cells));
  }
};

std::string tally_head(const char* first) {
  return fmt::format(
      "| {} | cells | mean absolute error | worst | held by the interval | high / low end "
      "|\n|---|--:|--:|--:|--:|--:|\n",
      first);
}

std::string without(const FabricProtocol& protocol) {
  std::string out =
      "| slice left out | technique | min measured | predicted | error | interval | held "
      "|\n|---|---|--:|--:|--:|--:|---|\n";
  for (const auto& cell : protocol.cells) {
    if (!cell.pilots.empty()) continue;
    out += fmt::format("| {} | {} | {:.0f} | {:.0f} | {:+.0f} % | {:.0f} to {:.0f} | {} |\n", cell.slice,
                       cell.technique, cell.measured, cell.predicted, 100 * cell.error(), cell.interval.low,
                       cell.interval.high, cell.held() ? "yes" : "no");
  }
  return out;
}

// Results with a single technique as pilot run.
std::string one_run(const FabricProtocol& protocol) {
  std::vector<std::string> techniques;
  std::vector<std::pair<std::string, std::string>> runs;  // slice, technique
  std::map<std::pair<std::string, std::string>, std::map<std::string, double>> errors;
  for (const auto& cell : protocol.cells) {
    if (cell.pilots.size() != 1) continue;
    const std::pair run{cell.slice, cell.pilots.front()};
    if (!errors.contains(run)) runs.push_back(run);
    errors[run][cell.technique] = cell.error();
    if (std::find(techniques.begin(), techniques.end(), cell.technique) == techniques.end())
      techniques.push_back(cell.technique);
  }
  std::string out = fmt::format("| slice left out | one pilot run | {} |\n|---|---|", fmt::join(techniques, " | "));
  for (std::size_t i = 0; i < techniques.size(); ++i) out += "--:|";
  out += "\n";
  for (const auto& run : runs) {
    out += fmt::format("| {} | {} |", run.first, run.second);
    for (const auto& technique : techniques) {
      const auto error = errors[run].find(technique);
      if (error != errors[run].end()) out += fmt::format(" {:+.0f} %", 100 * error->second);
      out += " |";
    }
    out += "\n";
  }
  return out;
}

std::string fits_text(const std::vector<HeldOutFit>& fits, const char* which) {
  double brier = 0;
  int agree = 0;
  for (const auto& fit : fits) {
    const double truth = fit.row.fits() ? 1 : 0;
    brier += (fit.probability - truth) * (fit.probability - truth);
    agree += (fit.probability > 0.5) == fit.row.fits() ? 1 : 0;
  }
  return fmt::format("Fits in memory or not, of {}: {} of {} facts on the right side of one half, Brier score {:.3f}",
                     which, agree, fits.size(), brier / static_cast<double>(fits.size()));
}

std::string explained_text(const FabricProtocol::FullFit& explained) {
  if (explained.cells.empty()) return "";
  const ErrorSummary errors = summary_of(explained.cells);
  return fmt::format(
      "Fitted to all slices, each with its own values: mean absolute error {:.1f} %, worst {:.0f} %, over {} "
      "cells. {}.\n",
      100 * errors.mean, 100 * errors.worst, errors.cells, fits_text(explained.fits, "all"));
}

std::string choices_text(const FabricProtocol& protocol) {
  std::string out = "| alternative | slice left out | probabilities |\n|---|---|---|\n";
  for (const auto& choice : protocol.choices) {
    std::vector<std::string> parts;
    const auto& words = choice.unknown.words;  // a likely one may be repeated
    double share = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      share += choice.shares[i];
      if (i + 1 < words.size() && words[i + 1] == words[i]) continue;
      parts.push_back(fmt::format("{} {:.0f} %", words[i], 100 * std::exchange(share, 0)));
    }
    out += fmt::format("| `{}` | {} | {} |\n", choice.unknown.name(), choice.slice, fmt::join(parts, ", "));
  }
  return out;
}

std::string judged_text(const std::vector<ThroughputComparison>& rows, std::size_t at) {
  if (at >= rows.size()) return "| | ";
  const ThroughputComparison& row = rows[at];
  return fmt::format("| {:.0f} ({:.0f} to {:.0f}) | {:+.0f} % {}", row.predicted, row.interval.low, row.interval.high,
                     100 * row.error(), row.held() ? "" : "not held ");
}

std::string picks_text(const FabricProtocol& protocol) {
  std::string out =
      "| slice left out | the study's pick | without a run | runs suggested by `slmsim next` | pick after them | "
      "probability | GPU-minutes | of Algorithm 1 |\n|---|---|---|---|---|--:|--:|--:|\n";
  const auto of = [](const Candidate& c) {
    return fmt::format("{} on {}", c.technique, c.group.size() == 1 ? "one VM" : "both VMs");
  };
  for (const auto& pick : protocol.picks) {
    std::vector<std::string> runs;
    for (const auto& run : pick.runs) runs.push_back(of(run));
    out +=
        fmt::format("| {} | {} on one VM | {} | {} | {}, {} | {:.0f} % | {:.0f} | {:.0f} |\n", pick.slice, pick.winner,
                    pick.right_before ? "right" : "another",
                    runs.empty() ? "none" : fmt::format("{}", fmt::join(runs, ", ")), of(pick.pick),
                    pick.right ? "right" : "another", 100 * pick.probability, pick.gpu_minutes, pick.tried_gpu_minutes);
  }
  return out;
}

}  // namespace

std::string to_markdown(const FabricProtocol& protocol) {
  std::string out;
  if (!protocol.complete) out += "Stopped before the end: slices are missing.\n\n";
  std::map<std::size_t, Tally> by_pilots;
  std::map<std::pair<std::size_t, std::string>, Tally> by_which;
  std::map<std::string, std::map<std::size_t, Tally>> by_slice;
  std::vector<std::string> slices;
  for (const auto& cell : protocol.cells) {
    by_pilots[cell.pilots.size()].add(cell);
    auto pilots = cell.pilots;
    std::sort(pilots.begin(), pilots.end());
    if (!pilots.empty()) by_which[{pilots.size(), fmt::format("{}", fmt::join(pilots, " and "))}].add(cell);
    by_slice[cell.slice][cell.pilots.size()].add(cell);
    if (std::find(slices.begin(), slices.end(), cell.slice) == slices.end()) slices.push_back(cell.slice);
  }
  out += fmt::format("{}\n{}", without(protocol), tally_head("pilot runs of the slice"));
  for (const auto& [pilots, tally] : by_pilots) out += tally.row(std::to_string(pilots));
  for (const auto& [pilots, tally] : by_which) out += tally.row(fmt::format("{}: {}", pilots.first, pilots.second));
  for (const auto& slice : slices) {
    for (const auto& [pilots, tally] : by_slice[slice]) out += tally.row(fmt::format("{}, {}", slice, pilots));
  }
  out += fmt::format("\n{}", one_run(protocol));
  out += fmt::format("\nIntervals of {:.0f} %. {}{}\n{}", 100 * protocol.level,
                     protocol.fits.empty()
                         ? "No slice was predicted before the end.\n"
                         : fits_text(protocol.fits, "slices left out") + " (0 is perfect, 0.25 is uninformed).\n",
                     explained_text(protocol.explained), choices_text(protocol)) +
         "\n" + picks_text(protocol);
  return out;
}

std::string to_csv(const FabricProtocol& protocol) {
  std::string out =
      "slice,technique,pilots,measured_minutes,predicted_minutes,minutes_low,minutes_high,interval_level,effective\n";
  for (const auto& cell : protocol.cells) {
    out += fmt::format("{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{:g},{:.1f}\n", cell.slice, cell.technique,
                       fmt::join(cell.pilots, "+"), cell.measured, cell.predicted, cell.interval.low,
                       cell.interval.high, protocol.level, cell.effective);
  }
  return out;
}

std::string to_markdown(const DeepSpeedProtocol& protocol) {
  std::string out;
  if (!protocol.complete) out += "Stopped before the end: rows are missing.\n\n";
  out +=
      "| configuration | nodes | 1e9 parameters | TFLOP/s measured | without a run | error | fitted | error "
      "|\n|---|--:|--:|--:|--:|--:|--:|--:|\n";
  Tally before, after;
  for (std::size_t i = 0; i < protocol.before.size(); ++i) {
    const DeepSpeedFact& fact = protocol.before[i].fact;
    out += fmt::format("| {} | {} | {:.4g} | {:.0f} {}{}|\n", fact.config, fact.nodes, fact.size, fact.measured,
                       judged_text(protocol.before, i), judged_text(protocol.after, i));
    before.add(protocol.before[i]);
    if (i < protocol.after.size()) after.add(protocol.after[i]);
  }
  out += fmt::format("\n{}{}{}", tally_head("known of the study"), before.row("nothing"),
                     after.row(fmt::format("{} throughputs", protocol.fitted)));
  out += fmt::format("\nIntervals of {:.0f} %.\n\n| unknown | before | fitted, 80 % of it between |\n|---|---|---|\n",
                     100 * protocol.level);
  for (std::size_t i = 0; i < protocol.marginals.size(); ++i) {
    const Unknown& unknown = protocol.unknowns[i];
    const Marginal& fitted = protocol.marginals[i];
    out += fmt::format("| `{}` | {} | {}, {} to {} |\n", unknown.name(), unknown.prior_text(),
                       unknown.text(fitted.median), unknown.text(fitted.low), unknown.text(fitted.high));
  }
  return out;
}

std::string to_csv(const DeepSpeedProtocol& protocol) {
  std::string out = "config,nodes,model_size_B,fitted,measured_tflops,predicted_tflops,low,high,interval_level\n";
  for (const auto* rows : {&protocol.before, &protocol.after}) {
    for (const auto& row : *rows)
      out += fmt::format("{},{},{:.9g},{},{:.9g},{:.9g},{:.9g},{:.9g},{:g}\n", csv_cell(row.fact.config),
                         row.fact.nodes, row.fact.size, rows == &protocol.after ? protocol.fitted : 0,
                         row.fact.measured, row.predicted, row.interval.low, row.interval.high, protocol.level);
  }
  return out;
}

}  // namespace slmsim
