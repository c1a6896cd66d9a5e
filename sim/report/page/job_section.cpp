#include <algorithm>

#include <fmt/format.h>

#include "sim/report/page/markup.h"
#include "sim/report/page/sections.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

const JobOutcome* job_of(const ModelReport& report, const Prediction* p) {
  const auto& job = report.result.jobs[p - report.result.predictions.data()];
  return job && p->status == Status::kOk ? &*job : nullptr;
}

std::string look_of_part(std::size_t part) { return part < 6 ? fmt::format("p{}", part) : part == 6 ? "k6" : "k7"; }

std::string lease_text(const JobOutcome& job) {
  return job.before_lease ? fmt::format("{:.0f} %", 100 * *job.before_lease) : "";
}

std::vector<std::string> job_row(const Platform& platform, const Prediction& p, const JobOutcome& job) {
  return {p.technique->name,
          group_words(platform, p.group),
          job_duration(job.length.median),
          fmt::format("{} to {}", job_duration(job.length.low), job_duration(job.length.high)),
          lease_text(job),
          fmt::format("{:.1f} %", 100 * job.goodput),
          job.cost ? fmt::format("{:.4g} {}", job.cost->median, job.currency) : "",
          job.energy ? fmt::format("{:.3g}", job.energy->median / kJoulesPerKwh) : "",
          job.interval ? job_duration(job.interval->value) : ""};
}

}  // namespace

std::string job_section(const ModelReport& report) {
  if (report.result.jobs.empty()) return "";
  const JobRules& rules = *report.result.scenario.job;
  double longest = rules.lease ? rules.lease->value : 0;
  for (const Prediction* p : report.predictions) {
    if (const JobOutcome* job = job_of(report, p)) longest = std::max(longest, job->mean.total().value);
  }
  longest *= 1.02;  // room for the mark
  std::vector<Bar> bars;
  std::vector<std::vector<std::string>> rows;
  for (const Prediction* p : fastest_first(report)) {
    const JobOutcome* job = job_of(report, p);
    if (!job) continue;
    Bar bar{.label = place_of(report.platform(), *p), .text = job_duration(job->mean.total().value), .parts = {}};
    bar.strong = p == report.pick();
    if (rules.lease) bar.mark = rules.lease->value / longest;
    for (std::size_t i = 0; i < std::size(kJobParts); ++i) {
      const double time = (job->mean.*kJobParts[i].time).value;
      stack(bar, time / longest, look_of_part(i), fmt::format("{}: {}", kJobParts[i].name, job_duration(time)));
    }
    bars.push_back(std::move(bar));
    rows.push_back(job_row(report.platform(), *p, *job));
  }
  if (bars.empty()) return "<p>Nothing runs, so there is no job.</p>\n";
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < std::size(kJobParts); ++i) entries.push_back({look_of_part(i), kJobParts[i].name});
  return fmt::format("<p>Mean of {} jobs drawn with the scenario's failures{}. Cost and kWh are medians.</p>\n",
                     rules.samples, rules.lease ? "; the vertical mark is the end of the lease" : "") +
         html_bars(bars, {"time of the job", duration_ticks(longest)}, "where the time of whole jobs goes") +
         html_legend(entries) +
         html_table({"technique", "group", "median", "80 % interval", "by the lease", "goodput", "cost", "kWh",
                     "checkpoint every"},
                    rows, 2);
}

}  // namespace slmsim
