// slmsim plan SCENARIO...: search for the best way to run a job.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/report/report.h"

namespace slmsim {
namespace {

using std::chrono::steady_clock;

// Seconds, where no limit is given: usual and long searches.
constexpr double kUsualLimit = 5, kLongLimit = 900;

struct PlanVerb : ScenarioOptions {
  std::string format = "table", technique, objective, journal, exported, shard;
  std::vector<std::string> parts;
  Filter filter;
  std::size_t list = 5, jobs = 0;
  double effort = 1;
  std::optional<double> time_limit;
  bool exhaustive = false, restart = false;
};

// Searches that resume, have parts, or are wider than usual may take long.
double time_limit_of(const PlanVerb& verb) {
  const bool is_long = verb.exhaustive || verb.effort > 1 || !verb.journal.empty() || !verb.shard.empty() ||
                       !verb.parts.empty() || launch_of_environment().ranks > 1;
  return verb.time_limit.value_or(is_long ? kLongLimit : kUsualLimit);
}

// Upper bound of the rest: by the effort at the current pace, and by the time. The search may end earlier, where it proves its
// list.
std::string estimate_text(double effort, double seconds, double left) {
  constexpr double kKnown = 0.02;  // below this share the pace says nothing
  const double by_pace = effort < kKnown ? std::numeric_limits<double>::infinity() : seconds * (1 - effort) / effort;
  const double most = left > 0 ? std::min(by_pace, left) : by_pace;
  return std::isfinite(most) ? fmt::format(", at most {} more", to_text(Seconds{most})) : "";
}

std::string progress_text(const std::string& scenario, const std::string& model, const SearchProgress& p,
                          double seconds, double left) {
  return fmt::format("{}, {}: {:.0f} s, {} of {} choices planned, {} simulated{}{}", scenario, model, seconds,
                     p.assessed, p.choices, p.simulated,
                     p.effort > 0 ? fmt::format(", {:.0f} % of the effort", 100 * p.effort) : "",
                     estimate_text(p.effort, seconds, left));
}

// Hash of the inputs that decide which choices exist and their results: files, overrides, technique and version.
std::string search_identity(const PlanVerb& verb, const std::string& file, bool whole_jobs) {
  ScenarioFile scenario(file);
  std::vector<Override> overrides;
  for (const auto& text : verb.overrides) overrides.push_back(parse_override(text));
  scenario.link(overrides);
  const auto read = scenario.texts();
  std::vector<std::string> texts(read.begin(), read.end());
  texts.insert(texts.end(), verb.overrides.begin(), verb.overrides.end());
  texts.push_back(verb.technique);
  if (whole_jobs) texts.emplace_back("whole jobs");  // more is computed for these
  texts.insert(texts.end(), verb.filter.models.begin(), verb.filter.models.end());
  return identity_of(SLMSIM_VERSION, texts);
}

// Adds the best plan of each model as files: in the folder, or in SCENARIO/MODEL below it where there are several.
void add_exports(const std::vector<PlanReport>& reports, const std::filesystem::path& folder,
                 std::vector<Result>& out) {
  const bool several = reports.size() > 1 || reports.front().models.size() > 1;
  for (const auto& report : reports) {
    for (const auto& m : report.models) {
      if (!m.best) continue;
      const auto place = several ? folder / report.scenario.name / m.model : folder;
      std::error_code failed;
      std::filesystem::create_directories(place, failed);
      if (failed)
        throw InputError({},
                         fmt::format("--export {}: the folder cannot be made; {}", place.string(), failed.message()));
      const auto& models = m.best->scenario.models;
      const auto model = std::ranges::find_if(models, [&](const Transformer& t) { return t.name == m.model; });
      const std::string title = fmt::format("{}, {}: {}", report.scenario.name, m.model, best_plan(m));
      for (auto& file : export_plan({*m.best, *model, *m.predictions.front().plan}, title))
        out.push_back({std::move(file.text), place / file.name});
    }
  }
}

// Prints the plans found before the signal; a result file is written only by a search that ends.
int stopped(const PlanVerb& verb, const std::string& text, const std::filesystem::path& journal) {
  if (verb.output.empty() && !text.empty()) write_result(text, "");
  fmt::print(stderr, "slmsim: stopped{}\n",
             verb.journal.empty() ? "; with --journal FILE a search resumes after interruption"
                                  : fmt::format("; the same command resumes from there ({})", journal.string()));
  end_as_asked();
  return kInternal;
}

std::string text_of(const std::vector<PlanReport>& reports, const std::string& format) {
  if (format == "json") return to_plan_json(reports);
  if (format == "markdown") return to_plan_markdown(reports);
  std::string text;
  for (const auto& report : reports) text += (text.empty() ? "" : "\n") + to_plan_table(report);
  return text;
}

PlanJob job_of(const PlanVerb& verb) {
  PlanJob job;
  if (!verb.technique.empty())
    job.technique = technique_table()[index_of("--technique", verb.technique, technique_names())];
  if (!verb.objective.empty())
    job.objective = static_cast<PlanObjective>(index_of("--objective", verb.objective, plan_objective_names()));
  job.list = verb.list;
  job.effort = verb.effort;
  job.compare = verb.format == "markdown";
  job.explain = !job.compare;
  job.exhaustive = verb.exhaustive;
  if (!verb.shard.empty()) job.shard = parse_shard(verb.shard);
  if (verb.restart && verb.journal.empty()) throw InputError({}, "--restart needs --journal FILE");
  if (job.shard && verb.journal.empty())
    throw InputError({}, "--shard writes its results to FILE.i-of-n.part; name FILE with --journal");
  if (job.shard && (!verb.output.empty() || !verb.exported.empty() || verb.format != "table"))
    throw InputError({}, "--shard reports no plans; give --output, --export and --format to the search with --parts");
  return job;
}

double seconds_since(steady_clock::time_point from) {
  return std::chrono::duration<double>(steady_clock::now() - from).count();
}

// The searches of all scenarios, one after another: each model of each has its share of the remaining time.
class Searches {
 public:
  explicit Searches(const PlanVerb& verb)
      : verb_(verb), job_(job_of(verb)), time_limit_(time_limit_of(verb)), deadline_(Deadline::of_limit(time_limit_)) {
    options_.jobs = verb.jobs > 0 ? verb.jobs : available_cores();
    options_.restart = verb.restart;
    options_.ranks = true;
    options_.parts.assign(verb.parts.begin(), verb.parts.end());
  }

  int run() {
    std::vector<std::string> files;
    const auto scenarios = load(&files);
    options_.stop = stop_at(0);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      search(scenarios[i], files[i], scenarios.size(), deadline_.left() / static_cast<double>(scenarios.size() - i));
      if (reports_.back().stopped)
        return stopped(verb_, is_part() ? "" : text_of(reports_, verb_.format), options_.journal);
    }
    return is_part() ? tell_part() : write();
  }

  // Runs on an MPI rank other than 0, whose search it helps.
  int serve() {
    const auto scenarios = load(nullptr);
    find_plans(scenarios.front(), job_, options_);
    return kDone;
  }

 private:
  bool is_part() const { return job_.shard.has_value(); }

  std::vector<Scenario> load(std::vector<std::string>* files) const {
    auto scenarios = load_filtered(verb_, verb_.filter, files);
    if (scenarios.size() > 1 && (is_part() || !verb_.parts.empty()))
      throw InputError({}, "--shard and --parts take one scenario; search each scenario separately");
    if (scenarios.size() > 1 && launch_of_environment().ranks > 1)
      throw InputError({}, "the ranks of an MPI job search one scenario; run the others as separate jobs");
    for (const auto& scenario : scenarios) {
      check_technique(scenario, job_.technique);
      check_objective(job_.objective.value_or(scenario.plan.objective), scenario);
      check_varied(scenario.plan, scenario.techniques);
    }
    return scenarios;
  }

  void search(const Scenario& scenario, const std::string& file, std::size_t count, double share) {
    PlanJob job = job_;
    ProgressLine line(true);
    if (time_limit_ > 0 && reports_.empty())
      line.announce(
          fmt::format("stops within {} with the results so far (--time-limit)", to_text(Seconds{time_limit_})));
    job.deadline = Deadline(share);
    std::string searched;
    auto begun = steady_clock::now();
    job.progress = [&](const std::string& model, const SearchProgress& p) {
      if (searched != model) begun = steady_clock::now();
      searched = model;
      line.update(progress_text(scenario.name, model, p, seconds_since(begun), job.deadline.left()));
    };
    options_.identity =
        search_identity(verb_, file, is_of_whole_jobs(job_.objective.value_or(scenario.plan.objective)));
    if (is_part()) {
      options_.journal = fmt::format("{}.{}-of-{}.part", verb_.journal, job_.shard->index, job_.shard->count);
    } else if (!verb_.journal.empty()) {
      options_.journal = count == 1 ? verb_.journal : fmt::format("{}.{}", verb_.journal, reports_.size() + 1);
      journals_.push_back(options_.journal.string());
    }
    reports_.push_back(find_plans(scenario, job, options_));
    reports_.back().file = file;
    reports_.back().overrides = verb_.overrides;
    line.clear();
  }

  int tell_part() const {
    std::size_t choices = 0, assessed = 0, simulated = 0;
    for (const auto& m : reports_.front().models) {
      choices += m.search.choices;
      assessed += m.search.assessed;
      simulated += m.search.simulated;
    }
    fmt::print(stderr,
               "wrote {}: {} of its {} choices planned, {} simulated; give all parts to the same command with --parts "
               "instead of --shard\n",
               options_.journal.string(), assessed, choices, simulated);
    return kDone;
  }

  int write() const {
    std::vector<Result> outputs = {{text_of(reports_, verb_.format), verb_.output}};
    if (!verb_.exported.empty()) add_exports(reports_, verb_.exported, outputs);
    write_results(outputs);
    // Up to here a full disk or a signal loses nothing.
    for (const auto& journal : journals_) {
      std::error_code ignored;
      std::filesystem::remove(journal, ignored);
    }
    const auto any = [&](const auto& holds) {
      return std::ranges::any_of(reports_,
                                 [&](const auto& report) { return std::ranges::any_of(report.models, holds); });
    };
    if (any([](const PlannedModel& m) { return !m.search.best.empty(); })) return kDone;
    return any([](const PlannedModel& m) { return m.search.stopped; }) ? stopped_too_early() : kNothingFits;
  }

  const PlanVerb& verb_;
  PlanJob job_;
  double time_limit_ = 0;
  PlanCrewOptions options_;
  std::vector<PlanReport> reports_;
  std::vector<std::string> journals_;
  Deadline deadline_;  // of all searches
};

}  // namespace

Command add_plan(CLI::App& app) {
  auto* verb = app.add_subcommand("plan", "search for the best technique, GPUs and settings");
  auto options = std::make_shared<PlanVerb>();
  add_scenario_options(*verb, *options);
  add_format_option(*verb, options->format, {"table", "json", "markdown"},
                    "format of the result; markdown: beside Algorithm 1's picks");
  choose_from(verb->add_option("--objective", options->objective,
                               "in place of the scenario's plan.objective; from cost on, of whole jobs"),
              plan_objective_names());
  verb->add_option("--technique,-t", options->technique, "plan with this technique only");
  add_model_filter(*verb, options->filter);
  verb->add_option("--list,-k", options->list, "number of plans listed")
      ->capture_default_str()
      ->check(number_within(kListRange));
  verb->add_option(
          "--effort", options->effort,
          "effort per model until the search stops without a proof; it is work, not time: 1 takes half a minute to a "
          "quarter of an hour on two cores")
      ->capture_default_str()
      ->check(number_within(kEffortRange));
  verb->add_option("--jobs,-j", options->jobs, "worker processes; default one per core")->check(number_within(1, 4096));
  verb->add_option("--export", options->exported,
                   "write the best plan into this folder as files for DeepSpeed, Megatron-LM, Alpa, NCCL and sysctl");
  verb->add_option("--journal", options->journal,
                   "save the progress in this file, so that the same command resumes after interruption");
  verb->add_option("--shard", options->shard,
                   "i/n: search only part i of n of the choices, with 1/n of the effort; writes FILE.i-of-n.part, with "
                   "FILE from --journal");
  verb->add_option("--parts", options->parts, "results of --shard on other machines, used as they are")->take_all();
  verb->add_flag("--restart", options->restart, "ignore the journal and start over");
  verb->add_flag("--exhaustive", options->exhaustive, "simulate every choice that fits, as a reference");
  verb->add_option(
          "--time-limit", options->time_limit,
          "seconds after which it stops with the results so far, which then depend on the machine; 0: no limit; "
          "default 5, or 900 with --effort above 1, --exhaustive, --journal, --shard, --parts or several ranks")
      ->check(number_within(0.0, 1e7));
  verb->footer(R"(
Varied: technique, GPUs and the order of VMs, micro-batches, rematerialisation, precision of gradients, planner, stages
and how layers are split, schedule, tensor degree, sequences per GPU, all-reduce inside VMs first, ZeRO2's collectives; and
if the scenario's plan.allow names them NCCL's settings (nccl), TCP's (tcp) and gradient accumulation (batch).

Examples:
  slmsim plan scenarios/gat-amst.yaml --set models=gpt2m
  slmsim plan scenarios/gat-amst.yaml --set 'plan.allow=[nccl, tcp]' --objective gpu_hours
  slmsim plan scenarios/utah-gpn.yaml --objective dollars --set 'plan.dollars_per_hour={rtx6000: 0.7, t4: 0.3}'
  slmsim plan scenarios/spot-job.yaml --objective deadline --set job.lease='75 min'
  slmsim plan scenarios/gat-amst.yaml --set models=gpt2m --export plan
  mpirun -np 64 slmsim plan scenarios/large/plan-512.yaml --effort 10      (if built with MPI)
  slmsim plan scenarios/gat-amst.yaml --journal plan.journal --format json --output plan.json
  slmsim plan scenarios/large/plan-512.yaml --effort 10 --journal p --shard $SLURM_ARRAY_TASK_ID/8     (sbatch --array=1-8)
  slmsim plan scenarios/large/plan-512.yaml --effort 10 --parts p.*.part)");
  return {verb, [options] {
            return run_as_rank([&](const Launch& launch) {
              Searches searches(*options);
              return launch.rank == 0 ? searches.run() : searches.serve();
            });
          }};
}

}  // namespace slmsim
