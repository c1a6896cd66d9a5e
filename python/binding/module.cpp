// slmsim._core: the simulator's functions for the Python package. Texts go in and out, so that a number in Python equals the
// one that the program prints; python/slmsim converts them to values, data frames and pictures. python/slmsim/_core.pyi has the
// types.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/binding/input_error.h"
#include "python/binding/interruptible.h"
#include "python/binding/verbs.h"
#include "sim/predict/row.h"
#include "sim/report/report.h"

namespace py = pybind11;
using py::literals::operator""_a;

namespace slmsim::python {
namespace {

std::vector<std::string> text_columns() {
  std::vector<std::string> out;
  for (const auto& cell : row_of("", {})) {
    if (!cell.is_number) out.emplace_back(cell.column);
  }
  return out;
}

std::vector<std::string> model_names(const LoadedScenario& loaded) {
  std::vector<std::string> out;
  for (const auto& model : loaded.scenario().models) out.push_back(model.name);
  return out;
}

std::vector<std::vector<std::string>> group_names(const LoadedScenario& loaded) {
  std::vector<std::vector<std::string>> out;
  for (const auto& group : loaded.scenario().groups) out.push_back(group.names);
  return out;
}

std::vector<std::string> techniques_of(const LoadedScenario& loaded) {
  std::vector<std::string> out;
  for (const auto& one : loaded.scenario().techniques) out.emplace_back(one.technique->name);
  return out;
}

using Names = std::vector<std::string>;

void add_scenario(py::module_& module) {
  py::class_<LoadedScenario>(module, "Scenario")
      .def(py::init<const std::string&, Overrides>(), "file"_a, "set"_a)
      .def("override", &LoadedScenario::with, "set"_a)
      .def_property_readonly("file", &LoadedScenario::file)
      .def_property_readonly("set", &LoadedScenario::set)
      .def_property_readonly("name", [](const LoadedScenario& loaded) { return loaded.scenario().name; })
      .def_property_readonly("description", [](const LoadedScenario& loaded) { return loaded.scenario().description; })
      .def_property_readonly("models", &model_names)
      .def_property_readonly("groups", &group_names)
      .def_property_readonly("techniques", &techniques_of);
}

void add_run(py::module_& module) {
  py::class_<RunOutput>(module, "Run")
      .def("json", [](const RunOutput& output) { return to_json(output.result()); })
      .def("csv", [](const RunOutput& output) { return to_csv({output.result()}); })
      .def("table", &RunOutput::table)
      .def("selection", [](const RunOutput& output) { return to_selection_table(output.result()); })
      .def("trace", &RunOutput::trace, "index"_a);
  module.def(
      "run",
      [](const LoadedScenario& loaded, Names models, Names groups, Names techniques, bool links, bool intervals,
         double level, std::uint64_t seed, std::string fitted) {
        return run(loaded, {{std::move(models), std::move(groups), std::move(techniques)},
                            links,
                            {std::move(fitted), intervals, level, seed}});
      },
      "scenario"_a, "models"_a, "groups"_a, "techniques"_a, "links"_a, "intervals"_a, "level"_a, "seed"_a, "fitted"_a);
}

void add_verbs(py::module_& module) {
  module.def(
      "explain",
      [](const LoadedScenario& loaded, Names models, Names groups, Names techniques, const py::object& progress) {
        VerbOutput output = explain(loaded, {std::move(models), std::move(groups), std::move(techniques)}, progress);
        return std::pair(std::move(output.json), std::move(output.table));
      },
      "scenario"_a, "models"_a, "groups"_a, "techniques"_a, "progress"_a);
  module.def(
      "plan",
      [](const LoadedScenario& loaded, Names models, std::optional<std::string> objective,
         std::optional<std::string> technique, std::size_t list, double effort, double time_limit, std::size_t jobs,
         const py::object& progress) {
        VerbOutput output = plan(
            loaded, {std::move(models), std::move(objective), std::move(technique), list, jobs, effort, time_limit},
            progress);
        return std::pair(std::move(output.json), std::move(output.table));
      },
      "scenario"_a, "models"_a, "objective"_a, "technique"_a, "list"_a, "effort"_a, "time_limit"_a, "jobs"_a,
      "progress"_a);
  module.def(
      "sweep",
      [](std::string file, Overrides set, std::string output, std::size_t jobs, bool restart,
         const py::object& progress) {
        return sweep({std::move(file), std::move(set), std::move(output), jobs, restart}, progress);
      },
      "file"_a, "set"_a, "output"_a, "jobs"_a, "restart"_a, "progress"_a);
  module.def(
      "fit",
      [](const LoadedScenario& loaded, std::string measured, std::uint64_t seed, std::size_t points, double time_limit,
         const py::object& progress) {
        FitOutput fitted = fit(loaded, {std::move(measured), seed, points, time_limit}, progress);
        return std::tuple(std::move(fitted.yaml), std::move(fitted.output.json), std::move(fitted.output.table));
      },
      "scenario"_a, "measured"_a, "seed"_a, "points"_a, "time_limit"_a, "progress"_a);
}

}  // namespace
}  // namespace slmsim::python

PYBIND11_MODULE(_core, module) {
  using namespace slmsim::python;
  module.attr("__version__") = SLMSIM_VERSION;
  translate_input_errors();
  add_scenario(module);
  add_run(module);
  add_verbs(module);
  module.def("techniques", [] { return slmsim::to_technique_json(); });
  module.def("text_columns", &text_columns);
  py::module_::import("atexit").attr("register")(py::cpp_function(&leave_leftovers));
}
