#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/phrases.h"

namespace slmsim {
namespace {

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

std::string between_text(const Interval& seconds) {
  return fmt::format("{} to {}", duration(Seconds{seconds.low}), duration(Seconds{seconds.high}));
}

std::string interval_table(const Uncertainty& u, const std::vector<Prediction>& predictions, const std::string& model) {
  std::size_t wide = 10;
  for (const auto& p : predictions) wide = std::max(wide, std::strlen(p.technique->name));
  std::string out = fmt::format("  {:<{}} {:<20} {:>10}   {:<24} {:>6}\n", "technique", wide, "group", "job",
                                percent_text(u.level) + " interval", "fits");
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const Prediction& p = predictions[i];
    if (p.model != model) continue;
    const CandidateUncertainty& cell = u.cells[i];
    const bool timed = p.status == Status::kOk && cell.job.high > 0;
    const std::string between = timed ? between_text(cell.job) : "-";
    out += fmt::format("  {:<{}} {:<20} {:>10}   {:<24} {:>6}\n", p.technique->name, wide, group_text(p.group),
                       timed ? duration(p.job) : "-", between, percent_text(cell.fits));
  }
  return out;
}

std::string pick_text(const Uncertainty& u, std::size_t pick, Objective objective) {
  const PickUncertainty& p = u.picks[pick];
  std::string cost;
  if (objective == Objective::kTime) cost = duration(Seconds{p.regret});
  if (objective == Objective::kGpuHours) cost = fmt::format("{:.3g} GPU-hours", p.regret);
  return fmt::format("right with a probability of {}{}", percent_text(p.right),
                     cost.empty() ? "" : fmt::format(", on average {} behind the best", cost));
}

std::string origin_text(const Uncertainty& u) {
  std::string out = fmt::format(
      "intervals: {} points of {}{}\n", u.points,
      u.fitted_to.empty() ? "the unknowns, before any measurement: " : fmt::format("the fit to {}: ", u.fitted_to),
      fmt::join(u.unknowns, "; "));
  for (const auto& remark : u.remarks) out += fmt::format("remark: {}\n", remark);
  return out;
}

std::string interval_header() { return ",minutes_low,minutes_high,interval_level,probability_fits"; }

std::string interval_cells(const Uncertainty& u, std::size_t prediction) {
  const CandidateUncertainty& cell = u.cells[prediction];
  if (cell.job.high <= 0) return fmt::format(",,,{:g},{:.3f}", u.level, cell.fits);
  return fmt::format(",{:.9g},{:.9g},{:g},{:.3f}", cell.job.low / 60, cell.job.high / 60, u.level, cell.fits);
}

}  // namespace slmsim
