// Laws of commands that ask for many predictions.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/max_model.h"
#include "sim/predict/row.h"
#include "sim/search/search.h"
#include "sim/sweep/sweep.h"
#include "tests/random/law.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

constexpr double kCommandRounding = 1e-9;  // relative
constexpr std::size_t kMostChoices = 20'000;
constexpr double kEffort = 1e6;  // tasks
constexpr int kMostPlannedGpus = 8;

// A folder of its own that goes with it.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "slmsim-random-XXXXXX").string();
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path write(const char* name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  fs::path path_;
};

Evaluator evaluator_of(const Space& space, const OperatorGraph& operators) {
  Evaluator out;
  out.assess = [&](const std::vector<std::size_t>& choices) {
    std::vector<Assessment> all;
    for (const std::size_t i : choices)
      all.push_back(assess(space, operators, space.choice(i), space.scenario().plan.objective));
    return all;
  };
  out.measure = [&](const std::vector<std::size_t>& choices) {
    std::vector<Measurement> all;
    for (const std::size_t i : choices)
      all.push_back(measure(space, operators, space.choice(i), space.scenario().plan.objective));
    return all;
  };
  return out;
}

}  // namespace

void a_point_is_a_run(const RandomCase& drawn, CaseDice&, Faults& faults) {
  const Folder folder;
  folder.write("scenario.yaml", drawn.document.dump(1));
  const int epochs = drawn.scenario.training.epochs;
  const fs::path file = folder.write(
      "sweep.yaml",
      fmt::format("scenario: scenario.yaml\naxes: [{{key: training.epochs, values: [{}, {}]}}]\n", epochs + 1, epochs));
  Sweep sweep(file);
  std::string rows;
  for (const auto& p : predict(drawn.scenario, {.time_misfits = true}))
    rows += fmt::format("1,{},{}\n", epochs, csv_line(row_of(drawn.scenario.name, p)));
  sweep.rows(0);  // its memory must not matter
  if (sweep.rows(1).csv != rows)
    faults.push_back("a point's rows are not those of a run:\n" + sweep.rows(1).csv + rows);
}

void a_plan_is_no_worse(const RandomCase& drawn, CaseDice& dice, Faults& faults) {
  if (std::ssize(drawn.scenario.platform.devices) > kMostPlannedGpus) return;
  const Transformer& model = drawn.scenario.models.front();
  const OperatorGraph operators = build_operator_graph(model);
  const Space space(drawn.scenario, model);
  if (space.size() > kMostChoices) return;
  double run = 0;
  for (const auto& p : drawn.predictions) {
    if (p.model == model.name && p.status == Status::kOk && (run == 0 || p.job.value < run)) run = p.job.value;
  }
  SearchOptions options;
  options.effort = dice.one_in(2) ? 1 : kEffort;
  const SearchResult found = search(space, evaluator_of(space, operators), options);
  if (run == 0) return;
  if (found.best.empty()) return void(faults.emplace_back("plan finds nothing where run does"));
  const RankedChoice& best = found.best.front();
  if (best.measured.job.value > run * (1 + kCommandRounding))
    faults.push_back(fmt::format("plan: {:.9g} s, run {:.9g} s", best.measured.job.value, run));
  // The printed `slmsim run` command gives the same numbers.
  const Folder folder;
  const fs::path file = folder.write("scenario.yaml", drawn.document.dump(1));
  const auto overrides = space.overrides(space.choice(best.choice));
  auto again = predicted(load_scenario(file, overrides));
  std::erase_if(again, [&](const Prediction& p) { return p.model != model.name; });
  if (again.size() != 1 || relative(again.front().job.value, best.measured.job.value) > kCommandRounding)
    faults.push_back(fmt::format("plan: {:.9g} s, the command that it prints {:.9g} s: {}", best.measured.job.value,
                                 again.empty() ? 0.0 : again.front().job.value, fmt::join(overrides, " --set ")));
}

void the_largest_model_fits(const RandomCase& drawn, CaseDice&, Faults& faults) {
  for (const auto& largest : largest_models(drawn.scenario, nullptr)) {
    if (largest.layers == 0) continue;
    Scenario scenario = drawn.scenario;
    std::erase_if(scenario.models, [&](const Transformer& m) { return m.name != largest.model; });
    std::erase_if(scenario.groups, [&](const Group& g) { return g.names != largest.group; });
    scenario.models.front().layers = largest.layers;
    const OperatorGraph operators = build_operator_graph(scenario.models.front());
    for (const auto& options : scenario.techniques) {
      if (options.technique != largest.technique) continue;
      const auto plan = make_plan({scenario, scenario.models.front(), operators, scenario.groups.front(), options});
      const std::string what =
          fmt::format("{} on {} with {} layers", options.technique->name, group_text(largest.group), largest.layers);
      if (!plan.plan) {
        faults.push_back(what + " has no plan: " + plan.reason);
      } else if (!fits(*plan.plan, operators, scenario)) {
        faults.push_back(what + " does not fit");
      }
    }
  }
}

}  // namespace slmsim
