#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/page/markup.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Those of the parts that are wide enough to be seen.
std::vector<LegendEntry> entries_of(const std::vector<std::string>& names, const std::vector<Bar>& bars) {
  constexpr double kSeen = 0.004;
  std::vector<LegendEntry> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::any_of(bars, [&](const Bar& bar) { return bar.parts[i].length >= kSeen; }))
      out.push_back({fmt::format("p{}", i), names[i]});
  }
  return out;
}

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

constexpr std::size_t kMostCurves = 6;

// Time of one choice over the round-trip times at which it runs.
struct Course {
  const Prediction* first = nullptr;
  std::vector<double> rtt, time;  // s
  double own = INFINITY;          // time at the scenario's own round-trip time
  bool leads = false;             // the fastest at some round-trip time

  bool is_level() const { return time.front() == time.back(); }
};

std::vector<Course> courses_of(const LatencySweep& sweep) {
  std::map<std::pair<std::vector<std::string>, std::size_t>, Course> courses;  // by group, and technique's place
  for (const auto& point : sweep.points) {
    Course* best = nullptr;
    for (const auto& p : point.predictions) {
      if (p.status != Status::kOk) continue;
      Course& course = courses[{p.group, position_of(*p.technique)}];
      if (!course.first) course.first = &p;
      course.rtt.push_back(point.rtt.value);
      course.time.push_back(p.job.value);
      if (point.rtt == sweep.own) course.own = p.job.value;
      if (!best || p.job.value < best->time.back()) best = &course;
    }
    if (best) best->leads = true;
  }
  std::vector<Course> out;
  out.reserve(courses.size());
  for (auto& [key, course] : courses) out.push_back(std::move(course));
  return out;
}

// Of those that the round-trip time does not affect, the fastest, among equals the pick; of the others those that lead anywhere,
// then the fastest at the scenario's own round-trip time.
std::vector<Course> shown_courses(std::vector<Course> all, const Selection& pick) {
  const auto is_pick = [&](const Course& c) {
    return c.first->technique == pick.technique && c.first->group == pick.group;
  };
  std::ranges::stable_sort(all, [&](const Course& a, const Course& b) {
    if (a.is_level() != b.is_level()) return a.is_level();
    if (a.is_level())
      return a.time.front() != b.time.front() ? a.time.front() < b.time.front() : is_pick(a) && !is_pick(b);
    return a.leads != b.leads ? a.leads : a.own < b.own;
  });
  const auto moving = std::ranges::find_if(all, [](const Course& c) { return !c.is_level(); });
  if (moving != all.begin()) all.erase(all.begin() + 1, moving);
  if (all.size() > kMostCurves) all.resize(kMostCurves);
  return all;
}

// The unit of an axis that begins at `least` seconds.
std::pair<const char*, double> axis_unit(double least) {
  if (least < 60) return {"s", 1};
  if (least < 36000) return {"min", 60};
  return least < 72 * 3600 ? std::pair{"h", 3600.0} : std::pair{"d", 86400.0};
}

}  // namespace

std::string memory_section(const ModelReport& report) {
  std::vector<std::string> names;
  for (const auto& part : kMemoryParts) names.emplace_back(part.name);
  double most = 0;
  for (const Prediction* p : report.predictions) {
    if (const DeviceMemory* m = fullest(p->memory)) most = std::max({most, m->total().value, m->limit.value});
  }
  most *= 1.02;  // room for the marks
  std::vector<Bar> bars;
  for (const Prediction* p : fastest_first(report)) {
    const DeviceMemory* m = fullest(p->memory);
    if (!m) continue;
    Bar bar{.label = place_of(report.platform(), *p), .text = {}, .parts = {}, .mark = m->limit.value / most};
    bar.text = fmt::format("{} of {} GiB{}", gib(m->total()), gib(m->limit), m->fits() ? "" : ", out of memory");
    bar.strong = !m->fits();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Bytes part = m->*kMemoryParts[i].bytes;
      stack(bar, part.value / most, fmt::format("p{}", i), fmt::format("{}: {} GiB", names[i], gib(part)));
    }
    bars.push_back(std::move(bar));
  }
  return "<p>On the GPU with the least free memory; the vertical mark is the limit.</p>\n" +
         html_bars(bars, {"GiB", linear_ticks(most / kGibi)}, "memory of the fullest GPU by parts") +
         html_legend(entries_of(names, bars));
}

std::string breakdown_section(const ModelReport& report) {
  std::vector<std::string> names;
  for (const auto& part : kTimeParts) names.emplace_back(part.words);
  names[1] += " or drives";
  std::vector<Bar> bars;
  for (const Prediction* p : fastest_first(report)) {
    if (p->status != Status::kOk || p->iteration <= Seconds{0}) continue;
    Bar bar{.label = place_of(report.platform(), *p),
            .text = to_text(p->iteration),
            .parts = {},
            .strong = p == report.pick()};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Seconds part = p->breakdown.*kTimeParts[i].time;
      stack(bar, part / p->iteration, fmt::format("p{}", i),
            fmt::format("{}: {:.0f} %", names[i], 100 * (part / p->iteration)));
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
  return "<p>Shares of an iteration of the GPU that computes longest, and the iteration's length.</p>\n" +
         html_bars(bars, {"% of it", linear_ticks(100)}, "where the time of an iteration goes") +
         html_legend(entries_of(names, bars)) + bases;
}

std::string latency_section(const ModelReport& report) {
  std::string out = fmt::format("<p>{}</p>\n", escaped(change_text(report)));
  if (!report.sweep) return out;
  const auto& sweep = *report.sweep;
  const std::vector<Course> all = courses_of(sweep);
  const std::vector<Course> shown = shown_courses(all, report.selection());
  if (shown.empty()) return out;
  double least = INFINITY;
  std::vector<std::vector<std::string>> groups;
  for (const Course& course : shown) {
    least = std::min(least, *std::ranges::min_element(course.time));
    if (!course.is_level() && std::ranges::find(groups, course.first->group) == groups.end())
      groups.push_back(course.first->group);
  }
  const auto [unit, seconds] = axis_unit(least);
  LogChart chart{.title = "time of the job against round-trip time",
                 .x_label = "round-trip time (ms)",
                 .y_label = fmt::format("time of the job ({}), both axes logarithmic", unit),
                 .curves = {},
                 .marks = {}};
  for (const Course& course : shown) {
    const bool alone = groups.size() == 1 && !course.is_level();
    Curve curve;
    curve.text = alone ? course.first->technique->name : place_of(report.platform(), *course.first);
    const bool thin = !course.is_level() && course.first->group != groups.front();
    curve.look = course.is_level()
                     ? "line level"
                     : fmt::format("line{} lt{}", thin ? " thin" : "", position_of(*course.first->technique));
    for (std::size_t i = 0; i < course.rtt.size(); ++i) {
      curve.x.push_back(course.rtt[i] * 1e3);
      curve.y.push_back(course.time[i] / seconds);
    }
    chart.curves.push_back(std::move(curve));
  }
  for (const auto& change : sweep.changes) chart.marks.push_back(change.rtt.value * 1e3);
  std::string note;
  if (groups.size() == 1) note += fmt::format("Techniques on {}. ", group_words(report.platform(), groups.front()));
  if (shown.front().is_level()) note += "Grey: the best whose time does not depend on it. ";
  if (!sweep.changes.empty()) {
    note += "Dotted: the pick changes. ";
    const SelectionRules& rules = report.result.scenario.selection;
    if (rules.algorithm != Algorithm::kPaper && rules.delta > 0)
      note +=
          fmt::format("Within {:.3g} % the fewest GPU-hours win, so the curves cross elsewhere. ", 100 * rules.delta);
  }
  if (all.size() > shown.size())
    note += fmt::format("{} slower or equal ones are not drawn. ", all.size() - shown.size());
  return out + html_chart(chart) + fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
}

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
