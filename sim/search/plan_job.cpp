#include "sim/search/plan_job.h"

#include <algorithm>

#include "sim/compute/operator_graph.h"
#include "sim/predict/algorithm.h"

namespace slmsim {

namespace {

// Whether the report lists the best choice of each kind: only where a technique may change the training.
bool tells_kinds(const Scenario& scenario) {
  return std::ranges::any_of(scenario.techniques,
                             [](const TechniqueOptions& t) { return t.technique->changes_training != nullptr; });
}

// Tasks simulated at effort 1: about half a minute on two cores.
constexpr double kEffort = 3e8;

// Share of the time for searches; the rest is for the final predictions.
constexpr double kForSearching = 0.9;

// The limits of the best plan that give back most.
std::vector<Limit> limits_of(const Space& space, const Choice& choice) {
  constexpr std::size_t kTold = 3;
  RunSetup setup = space.setup(choice);
  setup.scenario.models = {space.model()};
  setup.scenario.groups = {setup.group};
  setup.scenario.techniques = {setup.options};
  auto limits = explain(setup.scenario, {.in_depth = false}).front().limits.single;
  if (limits.size() > kTold) limits.resize(kTold);
  return limits;
}

Pick pick_of(const Scenario& scenario, const std::vector<Prediction>& predictions, const std::string& model,
             Algorithm algorithm) {
  for (const auto& selection : select_techniques(scenario, predictions, algorithm)) {
    if (selection.model != model) continue;
    for (const auto& p : predictions) {
      if (p.model == model && p.technique == selection.technique && p.group == selection.group)
        return {p.technique, p.group, p.job};
    }
  }
  return {};
}

std::optional<NamedPlan> in_words(const Space& space, const std::optional<RankedChoice>& found,
                                  const std::vector<RankedChoice>& list) {
  if (!found) return std::nullopt;
  const Choice choice = space.choice(found->choice);
  NamedPlan out{space.base(choice).technique, space.group(choice).names, space.describe(choice), found->cost};
  const auto at = std::ranges::find(list, found->choice, &RankedChoice::choice);
  if (at != list.end()) out.listed = static_cast<std::size_t>(at - list.begin());
  return out;
}

std::vector<const Technique*> techniques_alike(const Space& space, const RankedChoice& plan) {
  std::vector<const Technique*> out = {space.base(space.choice(plan.choice)).technique};
  out.reserve(plan.alike.size() + 1);
  for (const std::size_t other : plan.alike) {
    const Technique* technique = space.base(space.choice(other)).technique;
    if (std::ranges::find(out, technique) == out.end()) out.push_back(technique);
  }
  out.erase(out.begin());
  return out;
}

PlannedModel described(const Space& space, SearchResult found, bool with_limits, const Deadline& deadline) {
  PlannedModel out;
  out.model = space.model().name;
  const OperatorGraph operators = build_operator_graph(space.model());
  const auto& job = space.scenario().job;
  const bool egress = job && job->egress_per_gigabyte;
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    if (i > 0 && deadline.is_over()) {
      found.best.resize(i);
      break;
    }
    const Choice choice = space.choice(found.best[i].choice);
    out.choices.push_back(choice);
    out.descriptions.push_back(space.describe(choice));
    out.alike.push_back(techniques_alike(space, found.best[i]));
    out.overrides.push_back(space.overrides(choice));
    out.predictions.push_back(predict(space, operators, choice, {.links = egress}));
    const RunSetup setup = space.setup(choice);
    out.jobs.push_back(setup.scenario.job ? outcome_of(setup.scenario, out.predictions.back()) : std::nullopt);
  }
  if (!out.choices.empty()) out.best = space.setup(out.choices.front());
  if (!out.choices.empty() && with_limits) out.limits = limits_of(space, out.choices.front());
  if (tells_kinds(space.scenario())) {
    out.one_vm = in_words(space, found.one_vm, found.best);
    out.several_vms = in_words(space, found.several_vms, found.best);
    out.unchanged = in_words(space, found.unchanged, found.best);
  }
  out.search = std::move(found);
  return out;
}

}  // namespace

void check_technique(const Scenario& scenario, const Technique* technique) {
  Scenario own = scenario;
  const std::string lack = technique ? narrow(own, {{}, {}, {technique->name}}) : "";
  if (!lack.empty()) throw InputError({}, lack);
}

PlanReport find_plans(const Scenario& scenario, const PlanJob& job, const PlanCrewOptions& options) {
  check_within("list", static_cast<double>(job.list), kListRange);
  check_within("effort", job.effort, kEffortRange);
  check_technique(scenario, job.technique);
  PlanReport report{.scenario = scenario, .objective = job.objective.value_or(scenario.plan.objective), .models = {}};
  check_objective(report.objective, scenario);
  check_varied(scenario.plan, scenario.techniques);
  std::vector<Space> spaces;
  spaces.reserve(scenario.models.size());
  PlanCrewOptions crew_options = options;
  crew_options.objective = report.objective;
  const Shard shard = job.shard.value_or(Shard{});
  crew_options.shard = shard;
  std::size_t model = 0;
  // Whether the models up to this one have used their time.
  const auto is_late = [&](std::size_t last) {
    return job.deadline.is_over(kForSearching * static_cast<double>(last + 1) /
                                static_cast<double>(scenario.models.size()));
  };
  crew_options.stop = [&] { return (options.stop && options.stop()) || is_late(model); };
  for (; model < scenario.models.size(); ++model) {
    const auto stop = [&] {
      const bool over = crew_options.stop();
      // Journal and ranks refer to choices by number, which changes where some were not listed.
      if (over && job.shard)
        throw InputError({}, "the time limit ended before all choices were listed, which a part needs; raise it");
      if (over) crew_options.journal.clear();
      if (over) crew_options.parts.clear();
      crew_options.alone = crew_options.alone || over;
      return over;
    };
    spaces.emplace_back(scenario, scenario.models[model], job.technique, stop);
  }
  model = 0;
  PlanCrew crew(spaces, crew_options);
  if (crew.serve()) return report;
  std::vector<SearchResult> found;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    model = i;
    SearchOptions search_options;
    search_options.objective = report.objective;
    search_options.list = job.list;
    search_options.effort = job.exhaustive ? 0 : job.effort * kEffort / static_cast<double>(shard.count);
    search_options.shard = shard;
    search_options.exhaustive = job.exhaustive;
    search_options.kinds = tells_kinds(spaces[i].scenario());
    search_options.stop = crew_options.stop;
    if (job.progress)
      search_options.progress = [&, i](const SearchProgress& p) { job.progress(spaces[i].model().name, p); };
    found.push_back(search(spaces[i], crew.evaluator(i), search_options));
    report.stopped = options.stop && options.stop();
    if (report.stopped) break;
  }
  if (job.shard) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      report.models.emplace_back().model = spaces[i].model().name;
      report.models.back().search = std::move(found[i]);
    }
    return report;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool in_time = !report.stopped && !is_late(spaces.size() - 1);
    report.models.push_back(described(spaces[i], std::move(found[i]), job.explain && in_time, job.deadline));
  }
  if (job.compare && !report.stopped) {
    const auto predictions = predict(scenario);
    for (auto& m : report.models) {
      m.printed_pick = pick_of(scenario, predictions, m.model, Algorithm::kPaper);
      m.amended_pick = pick_of(scenario, predictions, m.model, Algorithm::kAmended);
    }
  }
  return report;
}

}  // namespace slmsim
