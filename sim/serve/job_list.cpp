#include "sim/serve/job_list.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/report/page/markup.h"
#include "sim/report/report.h"
#include "sim/sweep/sweep.h"

namespace slmsim::web {
namespace {

// Questions that take seconds to minutes: the limits of a technique, the search for the best plan, and a key at several values.

constexpr double kMostSeconds = 900, kUsualSeconds = 120;
constexpr int kMostPointsOfSweep = 200;

double number_at(const Json& body, const char* key, Range<double> range, double otherwise) {
  const auto at = body.find(key);
  if (at == body.end()) return otherwise;
  const double value = at->is_number() ? at->get<double>() : -1;
  if (!(value >= range.low && value <= range.high))
    throw InputError({}, fmt::format("\"{}\" is no number from {:g} to {:g}", key, range.low, range.high));
  return value;
}

std::string word_at(const Json& body, const char* key) {
  const auto at = body.find(key);
  if (at == body.end() || !at->is_string() || at->get<std::string>().size() > 200)
    throw InputError({}, fmt::format("\"{}\" is missing", key));
  return at->get<std::string>();
}

// One curve for each technique on each group, where the key is a quantity or a number above zero.
std::string sweep_chart(const AxisKey& key, const std::vector<std::string>& lines) {
  std::map<std::string, Curve> curves;
  for (const auto& line : lines) {
    const Json row = Json::parse(line);
    if (row["status"] != "ok") continue;
    const double x = key.numbers[row["point"].get<std::size_t>()];
    if (x <= 0) return "<p>Not all values are above zero, so no curve is drawn; see the table.</p>\n";
    const std::string technique = row["technique"], group = row["group"];
    const std::string label = fmt::format("{} on {}", technique, group);
    Curve& curve = curves[label];
    const Technique* known = find_technique(technique);
    curve.look = fmt::format("line thin lt{}", known ? position_of(*known) : 0);
    curve.text = label;
    curve.x.push_back(x);
    curve.y.push_back(row["minutes"].get<double>());
  }
  LogChart chart{.title = "time of the job against " + key.key,
                 .x_label = key.number_column.empty() ? key.key : key.number_column,
                 .y_label = "time of the job (min)",
                 .curves = {},
                 .marks = {}};
  for (auto& [name, curve] : curves) chart.curves.push_back(std::move(curve));
  return chart.curves.empty() ? "<p>Nothing runs at any value.</p>\n" : html_chart(chart);
}

std::string sweep_table(const std::string& key, const std::vector<std::string>& lines) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& line : lines) {
    const Json row = Json::parse(line);
    const Json& value = row["inputs"][key];
    const bool ok = row["status"] == "ok";
    rows.push_back({value.is_string() ? value.get<std::string>() : value.dump(), row.value("model", ""),
                    row.value("technique", ""), row.value("group", ""),
                    ok ? fmt::format("{:.4g}", row["minutes"].get<double>()) : row["status"].get<std::string>()});
  }
  return html_table({key, "model", "technique", "group", "minutes"}, rows, 4);
}

}  // namespace

JobList::~JobList() {
  for (auto& job : jobs_) job->cancelled = true;
  for (auto& job : jobs_) job->thread.join();
}

Response JobList::start(const Verb& verb, const std::string& body) {
  const std::scoped_lock lock(mutex_);
  const auto is_over = [](const std::shared_ptr<Job>& job) {
    const std::scoped_lock inner(job->mutex);
    return job->over;
  };
  const auto is_old = [&](const std::shared_ptr<Job>& job) { return job->pace == verb.pace && is_over(job); };
  const auto old = static_cast<std::size_t>(std::ranges::count_if(jobs_, is_old));
  const auto alike =
      static_cast<std::size_t>(std::ranges::count_if(jobs_, [&](const auto& job) { return job->pace == verb.pace; }));
  const bool follows = verb.pace == Pace::kFollowing;
  if (alike - old >= (follows ? kMostFollowing : kMostLong))
    return follows ? json_response({{"job", nullptr}})
                   : refusal(503, "two searches are running already; wait, or cancel one");
  if (old >= kMostKept) {
    const auto oldest = std::ranges::find_if(jobs_, is_old);
    (*oldest)->thread.join();
    jobs_.erase(oldest);
  }
  auto job = std::make_shared<Job>();
  job->number = ++last_;
  job->pace = verb.pace;
  // The list outlives its threads, and each thread holds its job.
  job->thread = std::thread([this, job = job.get(), name = verb.name, follows, body] {
    HelperRequest asking{.verb = name, .body = body, .seconds = follows ? kMostSecondsFollowing : kMostSecondsLong};
    asking.yields = true;
    asking.cancelled = [job] { return job->cancelled.load(); };
    asking.progress = [job](const std::string& text, double share) {
      const std::scoped_lock inner(job->mutex);
      job->progress = text;
      job->share = share;
    };
    Response response = answerer_(asking);
    const std::scoped_lock inner(job->mutex);
    job->response = std::move(response);
    job->over = true;
  });
  jobs_.push_back(job);
  return json_response({{"job", job->number}});
}

std::shared_ptr<JobList::Job> JobList::find(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::ranges::find_if(jobs_, [&](const auto& job) { return job->number == number; });
  return at == jobs_.end() ? nullptr : *at;
}

Response JobList::state(std::uint64_t number) {
  const auto job = find(number);
  if (!job) return refusal(404, "there is no such job, or it ended long ago");
  const std::scoped_lock lock(job->mutex);
  if (!job->over) return json_response({{"state", "running"}, {"progress", job->progress}, {"share", job->share}});
  const Response& response = job->response;
  const char* state = response.status == 200 ? "done" : response.status == 499 ? "cancelled" : "failed";
  return json_response(
      {{"state", state}, {"status", response.status}, {"answer", Json::parse(response.body, nullptr, false)}});
}

Response JobList::cancel(std::uint64_t number) {
  const auto job = find(number);
  if (!job) return refusal(404, "there is no such job, or it ended long ago");
  job->cancelled = true;
  return json_response({{"state", "cancelling"}});
}

Json answer_explain(const Question& question, const Workplace&, Memory&, const Progress& progress) {
  Scenario scenario = load_scenario(question.text, question.set);
  ExplainOptions options;
  options.reload = reload_of(question);
  options.on_progress = [&](std::size_t done, std::size_t all, std::size_t) {
    progress(fmt::format("{} of {} explained", done, all),
             all > 0 ? static_cast<double>(done) / static_cast<double>(all) : -1);
  };
  auto explanations = explain(scenario, options);
  return Json::parse(to_explanation_json({{std::move(scenario), std::move(explanations)}}));
}

Json answer_plan(const Question& question, const Workplace& workplace, Memory&, const Progress& progress) {
  const Scenario scenario = load_scenario(question.text, question.set);
  check_objective(scenario.plan.objective, scenario);
  check_varied(scenario.plan, scenario.techniques);
  PlanJob job;
  job.effort = number_at(question.body, "effort", {1e-6, 100}, 1);
  job.deadline = Deadline::of_limit(number_at(question.body, "seconds", {0, kMostSeconds}, kUsualSeconds));
  job.progress = [&](const std::string& model, const SearchProgress& p) {
    progress(fmt::format("{}: {} of {} choices planned, {} simulated", model, p.assessed, p.choices, p.simulated),
             p.effort > 0 ? std::min(1.0, p.effort) : -1);
  };
  PlanCrewOptions crew;
  crew.jobs = workplace.jobs;
  PlanReport report = find_plans(scenario, job, crew);
  report.file = question.text.file.filename().string();
  report.overrides = question.set;
  return Json::parse(to_plan_json({report}));
}

Json answer_sweep(const Question& question, const Workplace&, Memory&, const Progress& progress) {
  const std::string key = word_at(question.body, "key");
  const auto points = static_cast<int>(number_at(question.body, "points", {2, kMostPointsOfSweep}, 20));
  const auto log = question.body.find("log");
  std::string axis =
      fmt::format("axes:\n- {{key: {}, from: {}, to: {}, points: {}", yaml_quoted(key),
                  yaml_quoted(word_at(question.body, "from")), yaml_quoted(word_at(question.body, "to")), points);
  if (log != question.body.end() && *log == true) axis += ", scale: log";
  if (const auto whole = question.body.find("whole"); whole != question.body.end() && *whole == true)
    axis += ", whole: yes";
  Sweep sweep(parse_yaml(axis + "}\n", "sweep"), ScenarioFile(question.text), question.set);
  std::string csv = sweep.header() + "\n", json;
  std::vector<std::string> lines;
  for (std::uint64_t point = 0; point < sweep.points(); ++point) {
    progress(fmt::format("{} of {} points", point, sweep.points()),
             static_cast<double>(point) / static_cast<double>(sweep.points()));
    const PointRows rows = sweep.rows(point);
    csv += rows.csv;
    json += rows.json;
    std::istringstream stream(rows.json);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  const AxisKey& swept = sweep.axes().front().keys.front();
  Json sections = Json::array();
  const std::string chart = swept.numbers.empty() ? "" : sweep_chart(swept, lines);
  sections.push_back({{"name", "sweep"}, {"title", "Sweep of " + key}, {"html", chart + sweep_table(key, lines)}});
  return {{"csv", csv}, {"jsonl", json}, {"sections", sections}};
}

}  // namespace slmsim::web
