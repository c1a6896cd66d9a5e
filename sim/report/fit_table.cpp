#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

constexpr double kNotNarrowed = 0.8;  // share of the prior's width

std::string shown_name(const Unknown& u) {
  return u.paths.size() == 1 ? u.name() : fmt::format("{} and {} more", u.name(), u.paths.size() - 1);
}

std::string interval_text(const Unknown& u, const Marginal& n) {
  if (!u.is_choice()) return fmt::format("{} to {}", u.text(n.low), u.text(n.high));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < u.words.size(); ++i)
    parts.push_back(fmt::format("{} {:.0f} %", u.words[i], 100 * n.shares[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string with(const Pilot& pilot, double value) {
  Pilot other = pilot;
  other.value = value;
  return other.value_text();
}

constexpr std::size_t kListed = 8;

std::string regret_text(const NextReport& report, double regret) {
  const Objective objective = report.scenario.selection.objective;
  if (objective == Objective::kTime) return duration(Seconds{regret});
  return objective == Objective::kGpuHours ? fmt::format("{:.3g} GPU-h", regret) : "-";
}

std::string verdict(const NextReport& report, const NextPick& pick) {
  if (pick.runs.empty() || pick.stop)
    return fmt::format("stop: {}; take {}", pick.sure ? "the pick is sure enough (--sure)" : "no run is worth its time",
                       report.candidates[pick.pick].text());
  return fmt::format("run next: {}", report.candidates[pick.runs.front().candidate].text());
}

}  // namespace

std::string to_table(const FitReport& report) {
  const Posterior& posterior = report.posterior;
  std::string out = fmt::format("{}: {} of {}, {} unknowns, {} predictions\n", report.scenario,
                                count_of(static_cast<double>(report.residuals.size()), "figure"), report.measured,
                                posterior.unknowns.size(), posterior.simulated);
  if (!posterior.complete) out += "stopped before the runs had their full weight: intervals are too wide\n";
  const std::size_t width = column_width(posterior.unknowns, 44, shown_name);
  out += fmt::format("\n  {:<{}} {:>12}  {:<32} {:>5}  {}\n", "unknown", width, "value", "80 % interval", "left",
                     "before");
  const auto marginals = marginals_of(posterior);
  std::vector<std::string> open;
  for (std::size_t i = 0; i < posterior.unknowns.size(); ++i) {
    const Unknown& u = posterior.unknowns[i];
    const Marginal& n = marginals[i];
    out += fmt::format("  {:<{}} {:>12}  {:<32} {:>4.0f}%  {}\n", shown_name(u), width, u.text(n.median),
                       interval_text(u, n), 100 * n.left, u.prior_text());
    if (n.left > kNotNarrowed) open.push_back(u.name());
  }
  if (!open.empty()) out += fmt::format("\n  the runs carry little or no information on {}\n", fmt::join(open, ", "));
  for (const auto& pair : correlated_pairs(posterior))
    out += fmt::format("  the runs cannot separate {} from {} (correlation {:.2f})\n",
                       posterior.unknowns[pair.first].name(), posterior.unknowns[pair.second].name(), pair.correlation);
  const std::size_t run_width =
      column_width(report.residuals, 40, [](const Residual& r) { return r.pilot.cell.text(); });
  out += fmt::format("\n  {:<{}} {:<18} {:>10} {:>10}  {}\n", "run", run_width, "what", "measured", "fitted",
                     "80 % interval");
  for (const auto& r : report.residuals) {
    const bool fits = r.pilot.measure == Measure::kFits;
    const std::string interval = fmt::format("{}{}", fits ? "" : with(r.pilot, r.low) + " to " + with(r.pilot, r.high),
                                             r.is_met() ? "" : "  not met");
    out += fmt::format("  {:<{}} {:<18} {:>10} {:>10}  {}\n", r.pilot.cell.text(), run_width,
                       name_in(measure_names(), r.pilot.measure), r.pilot.value_text(), with(r.pilot, r.predicted),
                       interval);
  }
  return out;
}

std::string to_json(const FitReport& report) {
  const Posterior& posterior = report.posterior;
  const auto marginals = marginals_of(posterior);
  Json unknowns = Json::array(), runs = Json::array(), entangled = Json::array();
  for (std::size_t i = 0; i < posterior.unknowns.size(); ++i) {
    const Unknown& u = posterior.unknowns[i];
    const Marginal& n = marginals[i];
    Json one = {{"path", u.name()}, {"value", u.text(n.median)}};
    if (u.is_choice()) {
      for (std::size_t w = 0; w < u.words.size(); ++w) one["shares"][u.words[w]] = rounded(n.shares[w]);
    } else {
      one.update({{"median", rounded(n.median)}, {"low", rounded(n.low)}, {"high", rounded(n.high)}});
    }
    one.update({{"left", rounded(n.left)}, {"before", u.prior_text()}, {"source", u.source}});
    unknowns.push_back(std::move(one));
  }
  for (const auto& r : report.residuals) {
    const bool timed = r.pilot.measure != Measure::kFits;
    runs.push_back({{"model", r.pilot.cell.model},
                    {"technique", r.pilot.cell.technique},
                    {"group", r.pilot.cell.group},
                    {"what", name_in(measure_names(), r.pilot.measure)},
                    {"measured", rounded(r.pilot.value)},
                    {"fitted", rounded(r.predicted)},
                    {"low", timed ? Json(rounded(r.low)) : Json(nullptr)},
                    {"high", timed ? Json(rounded(r.high)) : Json(nullptr)}});
  }
  for (const auto& pair : correlated_pairs(posterior))
    entangled.push_back({{"first", posterior.unknowns[pair.first].name()},
                         {"second", posterior.unknowns[pair.second].name()},
                         {"correlation", rounded(pair.correlation)}});
  const Json out = {{"schema", "slmsim/fit/1"},       {"scenario", report.scenario},
                    {"measured", report.measured},    {"seed", report.seed},
                    {"complete", posterior.complete}, {"simulated", posterior.simulated},
                    {"unknowns", unknowns},           {"runs", runs},
                    {"entangled", entangled}};
  return out.dump(2) + "\n";
}

std::string to_table(const NextReport& report) {
  std::string out = fmt::format("{}, {}\n", report.scenario.name,
                                report.fitted_to.empty() ? "nothing measured yet" : "fitted to " + report.fitted_to);
  for (const auto& remark : report.remarks) out += fmt::format("remark: {}\n", remark);
  for (std::size_t m = 0; m < report.picks.size(); ++m) {
    const NextPick& pick = report.picks[m];
    if (!pick.is_possible) {
      out +=
          fmt::format("\n{}\n  nothing fits, with a probability of 95 % or more; slmsim run names a way\n", pick.model);
      continue;
    }
    out += fmt::format("\n{}\n  pick now: {}, right with a probability of {:.0f} %, on average {} behind the best\n",
                       pick.model, report.candidates[pick.pick].text(), 100 * pick.right,
                       regret_text(report, pick.regret));
    const auto selected = m < report.selected.size() ? report.selected[m] : std::nullopt;
    if (selected && selected != pick.pick)
      out += fmt::format("  slmsim run picks {} by central values; on average over the draws it costs more\n",
                         report.candidates[*selected].text());
    const auto name_of = [&](const NextRun& run) { return report.candidates[run.candidate].text(); };
    const auto listed = std::span(pick.runs).first(std::min(kListed, pick.runs.size()));
    const std::size_t width = column_width(listed, 40, name_of);
    out += fmt::format("  {}\n\n  {:<{}} {:>10} {:>12} {:>10} {:>8}\n", verdict(report, pick), "pilot run", width,
                       "takes", "GPU-minutes", "saves", "right");
    for (const NextRun& run : listed) {
      out += fmt::format("  {:<{}} {:>10} {:>12.1f} {:>10} {:>6.0f} %\n", name_of(run), width,
                         duration(Seconds{60 * run.minutes}), run.gpu_minutes, regret_text(report, run.saved),
                         100 * run.right);
    }
  }
  return out;
}

std::string to_json(const NextReport& report) {
  const auto candidate_json = [&](std::size_t c) -> Json {
    const Candidate& candidate = report.candidates[c];
    return {{"model", candidate.model}, {"technique", candidate.technique}, {"group", candidate.group}};
  };
  Json picks = Json::array();
  for (const auto& pick : report.picks) {
    Json runs = Json::array();
    for (const auto& run : pick.runs) {
      runs.push_back({{"run", candidate_json(run.candidate)},
                      {"minutes", rounded(run.minutes)},
                      {"gpu_minutes", rounded(run.gpu_minutes)},
                      {"saves", rounded(run.saved)},
                      {"probability", rounded(run.right)}});
    }
    picks.push_back({{"model", pick.model},
                     {"pick", pick.is_possible ? candidate_json(pick.pick) : Json(nullptr)},
                     {"probability", rounded(pick.right)},
                     {"regret", rounded(pick.regret)},
                     {"stop", pick.stop},
                     {"runs", runs}});
  }
  const auto& objective = name_in(objective_names(), report.scenario.selection.objective);
  return Json({{"schema", "slmsim/next/1"},
               {"scenario", report.scenario.name},
               {"fitted_to", report.fitted_to},
               {"objective", objective},
               {"remarks", report.remarks},
               {"picks", picks}})
             .dump(2) +
         "\n";
}

}  // namespace slmsim
