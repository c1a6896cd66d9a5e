#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/predict/job/link_day.h"
#include "sim/report/json_values.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

std::string in_percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string parts_text(const JobParts& mean) {
  std::vector<std::string> shares;
  for (const auto& [name, part] : kJobParts) shares.push_back(fmt::format("{:.1f}", 100 * (mean.*part / mean.total())));
  return fmt::format("{}", fmt::join(shares, "/"));
}

// Widths of names that share a line with their figures, whose line then has 100 columns.
constexpr std::size_t kTechnique = 10, kGroup = 13;

std::string amount(double value) {
  return !std::isfinite(value) ? "?" : value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// Size and interval of checkpoints.
std::string checkpoint_text(const JobOutcome& job) {
  if (!job.checkpoint) return "no checkpoints";
  const std::string every = job.interval ? fmt::format("every {}", job_duration(job.interval->value)) : "best never";
  const CheckpointTimes& c = *job.checkpoint;
  return fmt::format("checkpoints of {} {}, {} to write{}, {} to read", to_text(c.bytes), every, to_text(c.write),
                     c.pause < c.write ? fmt::format(" ({} of waiting)", to_text(c.pause)) : "", to_text(c.read));
}

// Reasons why iterations differ from the predicted ones.
std::string iterations_text(const JobOutcome& job) {
  if (!job.iterations) return "";
  const JobIterations& i = *job.iterations;
  std::string out = fmt::format("; iterations take {:.4g} x as long as predicted", i.mean / i.predicted);
  if (i.sd > 0)
    out += fmt::format(" (standard deviation {:.2g} %{})", 100 * i.sd / i.mean.value,
                       i.whole_jobs.empty() ? "" : ", the same for a whole job");
  if (i.loading > Seconds{0}) out += fmt::format(", {:.2g} % of it waiting for data", 100 * (i.loading / i.mean));
  if (!i.day.empty()) {
    double least = i.day.front().speed, most = least;
    for (const Hour& hour : i.day) least = std::min(least, hour.speed), most = std::max(most, hour.speed);
    out += fmt::format("; over the day {:.3g} to {:.3g} of that speed", least, most);
  }
  return out;
}

Json spread_json(const Spread& spread, double unit) {
  const auto value = [&](double v) { return std::isfinite(v) ? Json(rounded(v / unit)) : Json(nullptr); };
  return {{"median", value(spread.median)}, {"low", value(spread.low)}, {"high", value(spread.high)}, {"level", 0.8}};
}

}  // namespace

std::string job_duration(double seconds) {
  if (!std::isfinite(seconds)) return "no end";
  constexpr double kDays = 3 * 86400.0;
  return seconds >= kDays ? fmt::format("{:.3g} d", seconds / 86400) : duration(Seconds{seconds});
}

std::string job_table(const RunResult& result, const std::string& model) {
  const JobRules& rules = *result.scenario.job;
  std::string out =
      "\n" + wrapped("  ", fmt::format("whole jobs, {} drawn (seed {}); time: useful / checkpoints / lost / restarts / "
                                       "waiting / evaluation / start-up / loading",
                                       rules.samples, rules.seed));
  out += fmt::format("  {:<{}} {:<{}} {:>9} {:>22} {:>8} {:>7} {:>10} {:>5} {:>6}\n", "technique", kTechnique, "group",
                     kGroup, "median", "80 % interval", "by lease", "goodput", "cost", "kWh", "kg CO2");
  std::string notes;
  for (std::size_t i = 0; i < result.predictions.size(); ++i) {
    const Prediction& p = result.predictions[i];
    if (p.model != model || p.status != Status::kOk || !result.jobs[i]) continue;
    const JobOutcome& job = *result.jobs[i];
    constexpr double kPerKwh = 1 / kJoulesPerKwh;
    const std::string technique = p.technique->name, group = group_text(p.group);
    const bool fits = technique.size() <= kTechnique && group.size() <= kGroup;
    if (!fits) out += wrapped("  ", place_of(p) + ":");
    out += fmt::format("  {:<{}} {:<{}} {:>9} {:>22} {:>8} {:>7} {:>10} {:>5} {:>6}\n", fits ? technique : "",
                       kTechnique, fits ? group : "", kGroup, job_duration(job.length.median),
                       fmt::format("{} to {}", job_duration(job.length.low), job_duration(job.length.high)),
                       job.before_lease ? in_percent(*job.before_lease) + " %" : "-", in_percent(job.goodput) + " %",
                       job.cost ? amount(job.cost->median) + " " + job.currency : "-",
                       job.energy ? amount(job.energy->median * kPerKwh) : "-",
                       job.carbon ? amount(job.carbon->median) : "-");
    notes += wrapped(
        "  ", fmt::format(
                  "{} on {}: {}; {:.2g} failures a day{}; time, %: {}{}", p.technique->name, group_text(p.group),
                  checkpoint_text(job), job.stops_per_day, iterations_text(job), parts_text(job.mean),
                  job.ended < 1
                      ? fmt::format("; {} % of the jobs were abandoned after {:g} times their length without failures",
                                    in_percent(1 - job.ended), kLongestJob)
                      : ""));
  }
  return out + notes;
}

std::string job_line(const JobOutcome& job) {
  std::string out = fmt::format("median {}, 80 % between {} and {}", job_duration(job.length.median),
                                job_duration(job.length.low), job_duration(job.length.high));
  if (job.before_lease) out += fmt::format("; {} % by the lease", in_percent(*job.before_lease));
  if (job.cost) out += fmt::format("; {} {}", amount(job.cost->median), job.currency);
  if (job.energy) out += fmt::format("; {} kWh", amount(job.energy->median / kJoulesPerKwh));
  return out;
}

Json job_rules_json(const Scenario& scenario) {
  const JobRules& job = *scenario.job;
  Json links = Json::array();
  for (const LinkState& state : link_states(scenario)) {
    for (const WanLink& link : state.links)
      links.push_back({{"from_s", rounded(state.from.value)},
                       {"link", link.name},
                       {"bandwidth_Bps", rounded(link.forward.bandwidth.value)},
                       {"rtt_s", rounded((link.forward.delay + link.backward.delay).value)},
                       {"loss", rounded(link.forward.loss)}});
  }
  return {{"lease_s", job.lease ? Json(rounded(job.lease->value)) : Json(nullptr)},
          {"samples", job.samples},
          {"seed", job.seed},
          {"links", job.days.empty() ? Json::array() : links}};
}

Json job_json(const JobOutcome& job) {
  Json parts = Json::object();
  for (const auto& [name, part] : kJobParts) parts[name] = rounded((job.mean.*part).value);
  Json out = {{"samples", job.samples},
              {"seed", job.seed},
              {"minutes", spread_json(job.length, 60)},
              {"ended", rounded(job.ended)},
              {"before_lease", job.before_lease ? Json(rounded(*job.before_lease)) : Json(nullptr)},
              {"goodput", rounded(job.goodput)},
              {"mean_s", parts},
              {"failures_per_day", rounded(job.stops_per_day)},
              {"cost", job.cost ? spread_json(*job.cost, 1) : Json(nullptr)},
              {"currency", job.cost ? Json(job.currency) : Json(nullptr)},
              {"energy_kwh", job.energy ? spread_json(*job.energy, kJoulesPerKwh) : Json(nullptr)},
              {"carbon_kg", job.carbon ? spread_json(*job.carbon, 1) : Json(nullptr)}};
  Json quantiles = Json::array();
  for (const double length : job.quantiles)
    quantiles.push_back(std::isfinite(length) ? Json(rounded(length / 60)) : Json(nullptr));
  out["minutes_quantiles"] = quantiles;
  if (job.iterations) {
    const JobIterations& i = *job.iterations;
    Json day = Json::array();
    for (const Hour& hour : i.day)
      day.push_back({{"from_s", rounded(hour.from.value)}, {"speed", rounded(hour.speed)}});
    out["iterations"] = {{"predicted_s", rounded(i.predicted.value)},
                         {"mean_s", rounded(i.mean.value)},
                         {"sd_s", rounded(i.sd)},
                         {"loading_s", rounded(i.loading.value)},
                         {"data_between_sites_bytes", std::llround(i.data_between_sites.value)},
                         {"day", day}};
  }
  if (job.checkpoint) {
    out["checkpoint"] = {{"bytes", std::llround(job.checkpoint->bytes.value)},
                         {"write_s", rounded(job.checkpoint->write.value)},
                         {"pause_s", rounded(job.checkpoint->pause.value)},
                         {"read_s", rounded(job.checkpoint->read.value)},
                         {"interval_s", job.interval ? Json(rounded(job.interval->value)) : Json(nullptr)},
                         {"count", rounded(job.checkpoints)}};
  }
  return out;
}

std::string job_header() {
  std::string out = ",job_minutes_median,job_minutes_low,job_minutes_high,job_ended,before_lease,goodput";
  out += ",job_cost_median,job_cost_low,job_cost_high,job_energy_kwh_median,carbon_kg_median,checkpoint_interval_s";
  for (const auto& [name, part] : kJobParts) out += fmt::format(",{}_s", name);
  return out + ",job_iteration_s,job_iteration_sd_s";
}

std::string job_cells(const std::optional<JobOutcome>& job) {
  std::vector<std::string> cells;
  const auto put = [&](std::optional<double> value) {
    cells.push_back(value && std::isfinite(*value) ? fmt::format("{:.9g}", *value) : "");
  };
  const auto of = [](const std::optional<Spread>& spread, double Spread::*which, double unit) {
    return spread ? std::optional((*spread).*which / unit) : std::nullopt;
  };
  const std::optional<Spread> length = job ? std::optional(job->length) : std::nullopt;
  const JobOutcome known = job.value_or(JobOutcome{});
  for (const auto which : {&Spread::median, &Spread::low, &Spread::high}) put(of(length, which, 60));
  put(job ? std::optional(known.ended) : std::nullopt);
  put(known.before_lease);
  put(job ? std::optional(known.goodput) : std::nullopt);
  for (const auto which : {&Spread::median, &Spread::low, &Spread::high}) put(of(known.cost, which, 1));
  put(of(known.energy, &Spread::median, kJoulesPerKwh));
  put(of(known.carbon, &Spread::median, 1));
  put(known.interval ? std::optional(known.interval->value) : std::nullopt);
  for (const auto& [name, part] : kJobParts) put(job ? std::optional((known.mean.*part).value) : std::nullopt);
  put(known.iterations ? std::optional(known.iterations->mean.value) : std::nullopt);
  put(known.iterations ? std::optional(known.iterations->sd) : std::nullopt);
  return fmt::format(",{}", fmt::join(cells, ","));
}

}  // namespace slmsim
