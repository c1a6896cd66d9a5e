// The verbs for Python: each runs interruptibly and returns the program's own result, or the JSON and the table that it prints.
#pragma once

#include <pybind11/pybind11.h>

#include "python/binding/loaded_scenario.h"
#include "sim/fit/intervals.h"
#include "sim/predict/result.h"

namespace slmsim::python {

struct VerbOutput {
  std::string json, table;
};

// A run's result; its forms are computed on demand.
class RunOutput {
 public:
  // `loaded`, `filter`: what ran.
  RunOutput(RunResult result, const LoadedScenario& loaded, Filter filter)
      : result_(std::make_shared<const RunResult>(std::move(result))), loaded_(loaded), filter_(std::move(filter)) {}
  const RunResult& result() const { return *result_; }
  // One iteration of prediction number `index` as a Chrome/Perfetto trace. Throws std::invalid_argument where it does not run.
  std::string trace(std::size_t index) const;
  // As the program prints it, with how sure the pick is and what would be faster.
  std::string table() const;

 private:
  std::shared_ptr<const RunResult> result_;
  LoadedScenario loaded_;
  Filter filter_;
};

struct RunArguments {
  Filter filter;
  bool links = false;
  IntervalRequest interval;
};
RunOutput run(const LoadedScenario& loaded, const RunArguments& args);

VerbOutput explain(const LoadedScenario& loaded, const Filter& filter, const pybind11::object& progress);

struct PlanArguments {
  std::vector<std::string> models;
  std::optional<std::string> objective, technique;
  std::size_t list = 5, jobs = 0;  // 0: one for each core
  double effort = 1, time_limit = 0;
};
VerbOutput plan(const LoadedScenario& loaded, const PlanArguments& args, const pybind11::object& progress);

struct SweepArguments {
  std::string file;
  Overrides set;
  std::string output;
  std::size_t jobs = 0;
  bool restart = false;
};
// The written files: FILE.csv and FILE.jsonl.
std::pair<std::string, std::string> sweep(const SweepArguments& args, const pybind11::object& progress);

struct FitArguments {
  std::string measured;
  std::uint64_t seed = 1;
  std::size_t points = 256;
  double time_limit = 0;
};
// The fit as the YAML that `fitted` takes, as JSON and as a table.
struct FitOutput {
  std::string yaml;
  VerbOutput output;
};
FitOutput fit(const LoadedScenario& loaded, const FitArguments& args, const pybind11::object& progress);

}  // namespace slmsim::python
