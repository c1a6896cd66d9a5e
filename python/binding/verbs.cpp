#include "python/binding/verbs.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "python/binding/interruptible.h"
#include "sim/base/text.h"
#include "sim/base/work.h"
#include "sim/crew/crew.h"
#include "sim/crew/ranks.h"
#include "sim/fit/intervals.h"
#include "sim/report/report.h"
#include "sim/search/plan_job.h"
#include "sim/search/verdict.h"
#include "sim/sweep/run.h"

namespace py = pybind11;

namespace slmsim::python {
namespace {

std::size_t jobs_of(std::size_t asked) { return asked > 0 ? asked : available_cores(); }

std::size_t position_of(const char* what, const std::string& word, const std::vector<std::string>& known) {
  const auto at = std::find(known.begin(), known.end(), word);
  if (at == known.end())
    throw InputError({}, fmt::format("{} \"{}\" is unknown; {}", what, word.substr(0, 64), did_you_mean(word, known)));
  return static_cast<std::size_t>(at - known.begin());
}

void check_techniques(const std::vector<std::string>& words) {
  for (const auto& word : words) position_of("technique", word, technique_names());
}

}  // namespace

std::string RunOutput::trace(std::size_t index) const {
  if (index >= result_->predictions.size() || result_->predictions[index].status != Status::kOk)
    throw std::invalid_argument("this does not run, so there is no iteration to show");
  return interruptible([result = result_, index](Job&) { return trace_of(*result, result->predictions[index]); });
}

std::string RunOutput::table() const {
  return interruptible([result = result_, file = loaded_.file(), verdict = loaded_.verdict_options(filter_)](Job& job) {
    const CrewTurn turn(job);
    VerdictOptions own = verdict;
    own.stop = job.stop();
    own.threads = available_cores();
    TableOptions table;
    table.verdicts = verdicts_of(*result, own);
    table.scenario = file;
    return to_table(*result, table);
  });
}

RunOutput run(const LoadedScenario& loaded, const RunArguments& args) {
  check_techniques(args.filter.techniques);
  const Intervals intervals(args.interval, loaded.file(), loaded.set());
  const bool fitted = !args.interval.fitted.empty();
  const std::string stale = fmt::format("{} was fitted before the files of {} changed; fit again if the change matters",
                                        args.interval.fitted, loaded.file());
  if (intervals.is_stale() && PyErr_WarnEx(PyExc_UserWarning, stale.c_str(), 1) != 0) throw py::error_already_set();
  const LoadedScenario known = fitted ? loaded.with(intervals.overrides()) : loaded;
  Scenario scenario = known.narrowed(args.filter);
  PredictOptions options = json_options(scenario);
  options.links = measures_links(scenario, args.links, false);
  return {interruptible([intervals, options, file = loaded.file(), scenario = std::move(scenario)](Job& job) mutable {
            PredictOptions own = options;
            own.stop = job.stop();
            RunResult result = run_scenario(std::move(scenario), own);
            if (!intervals.are_asked()) return result;
            const CrewTurn turn(job);
            intervals.add(file, result, job.stop());
            return result;
          }),
          known, args.filter};
}

VerbOutput explain(const LoadedScenario& loaded, const Filter& filter, const py::object& progress) {
  check_techniques(filter.techniques);
  return interruptible(
      [scenario = loaded.narrowed(filter), reload = loaded.reload(filter)](Job& job) mutable -> VerbOutput {
        ExplainOptions options;
        options.reload = reload;
        options.stop = job.stop();
        options.on_progress = [&job](std::size_t done, std::size_t all, std::size_t) { job.tell(done, all); };
        auto explanations = explain(scenario, options);
        std::vector<ExplainResult> results;
        results.push_back({std::move(scenario), std::move(explanations)});
        return {to_explanation_json(results), to_explanation_table(results)};
      },
      progress);
}

VerbOutput plan(const LoadedScenario& loaded, const PlanArguments& args, const py::object& progress) {
  PlanJob plan_job;
  if (args.technique)
    plan_job.technique = technique_table()[position_of("technique", *args.technique, technique_names())];
  if (args.objective)
    plan_job.objective = static_cast<PlanObjective>(position_of("objective", *args.objective, plan_objective_names()));
  plan_job.list = args.list;
  plan_job.effort = args.effort;
  return interruptible(
      [scenario = loaded.narrowed({args.models, {}, {}}), plan_job, file = loaded.file(), set = loaded.set(),
       jobs = jobs_of(args.jobs), limit = args.time_limit](Job& job) mutable -> VerbOutput {
        const CrewTurn turn(job);
        plan_job.deadline = Deadline::of_limit(limit);
        plan_job.progress = [&job](const std::string&, const SearchProgress& p) { job.tell(p.assessed, p.choices); };
        PlanCrewOptions options;
        options.jobs = jobs;
        options.stop = job.stop();
        std::vector<PlanReport> reports;
        reports.push_back(find_plans(scenario, plan_job, options));
        stop_if(job.stop());
        reports.back().file = file;
        reports.back().overrides = set;
        return {to_plan_json(reports), to_plan_table(reports.back())};
      },
      progress);
}

std::pair<std::string, std::string> sweep(const SweepArguments& args, const py::object& progress) {
  if (launch_of_environment().ranks > 1)
    throw InputError({},
                     "an MPI launcher started several processes; run the sweep with slmsim sweep under that launcher");
  const auto read = std::make_shared<Sweep>(args.file, args.set);
  return interruptible(
      [read, args](Job& job) {
        const CrewTurn turn(job);
        SweepOptions options;
        options.output = args.output;
        options.jobs = jobs_of(args.jobs);
        options.restart = args.restart;
        options.version = SLMSIM_VERSION;
        options.stop = job.stop();
        options.progress = [&job](std::uint64_t done, std::uint64_t all, std::uint64_t) { job.tell(done, all); };
        const SweepOutcome outcome = run_sweep(*read, options);
        if (!outcome.complete) throw Stopped();  // the journal stays
        return std::pair(outcome.files.csv.string(), outcome.files.json.string());
      },
      progress);
}

FitOutput fit(const LoadedScenario& loaded, const FitArguments& args, const py::object& progress) {
  return interruptible(
      [file = loaded.file(), set = loaded.set(), args](Job& job) -> FitOutput {
        constexpr double kHundredths = 100;
        const CrewTurn turn(job);
        ScenarioFit request{file, set, args.measured, {}};
        request.sampling.particles = args.points;
        request.sampling.seed = args.seed;
        const auto stop = job.stop();
        request.sampling.stop = [stop, deadline = Deadline::of_limit(args.time_limit)] {
          return stop() || deadline.is_over();
        };
        request.sampling.progress = [&job](double beta, std::size_t) {
          job.tell(static_cast<std::uint64_t>(kHundredths * beta), static_cast<std::uint64_t>(kHundredths));
        };
        const FitReport report = fit_scenario(request);
        stop_if(stop);
        return {to_yaml(report), {to_json(report), to_table(report)}};
      },
      progress);
}

}  // namespace slmsim::python
