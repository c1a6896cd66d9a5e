// A sweep: one scenario at many points, each a choice of values for some of its keys.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/crew/crew.h"
#include "sim/predict/row.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/axis.h"

namespace slmsim {

// The rows of one point: lines of CSV and of JSON Lines, each ending in a newline.
struct PointRows {
  std::string csv, json;
};
Texts to_texts(const PointRows& rows);
void from_texts(const Texts& texts, PointRows& rows);

// A sweep's file with its scenario, checked: from here on only single points can fail.
//
//   scenario: ../gat-amst.yaml      # from this file's folder
//   set: {models: gpt2m}            # the same at every point
//   axes: [...]                     # see axis.h
class Sweep {
 public:
  // `overrides` apply at every point, after those of the file. Throws InputError with all errors: unknown keys, and a scenario
  // that is invalid without its axes. A value out of its range is no error yet.
  explicit Sweep(const std::filesystem::path& file, const Overrides& overrides = {});
  // For a given scenario; the sweep's own map names none.
  Sweep(const Node& sweep, ScenarioFile scenario, const Overrides& overrides = {});

  const std::vector<Axis>& axes() const { return axes_; }
  std::uint64_t points() const { return point_count(axes_); }
  // 16 hexadecimal digits: a hash of everything that decides the result, which is the sweep, all files it reads, and the
  // version.
  std::string identity(const std::string& version) const;
  // The names of the result's columns, separated by commas: point, the keys, those of a prediction.
  std::string header() const;

  // Every technique on every group for every model at a point, or one row with the point's error. A pure function of the
  // number, except that the last digits depend on the engine's earlier work (see engine_has_run).
  PointRows rows(std::uint64_t point);
  // Throws the first point's error, at its place, where all points are invalid, or the first thousand of more.
  void check();
  // The one row of a point that could not be predicted for this reason.
  PointRows failed(std::uint64_t point, const std::string& reason) const;

 private:
  // `find` returns the scenario that the sweep's map names, or the given one.
  void read(const Node& node, const std::function<ScenarioFile(const Node* named)>& find, bool names_scenario,
            const Overrides& overrides);
  std::vector<Override> overrides_at(std::uint64_t point) const;
  // Nothing, with `problem` set, where its values are invalid.
  Scenario scenario_at(std::uint64_t point);
  std::vector<Error> errors_of(const AxisKey& key, const std::vector<Override>& overrides);
  void check_axes();
  void read_named_files(const AxisKey& key);
  void add_row(std::uint64_t point, const std::vector<Cell>& row, PointRows& out) const;

  std::string text_;
  std::vector<Axis> axes_;
  std::vector<Override> fixed_;
  std::vector<std::string> fixed_texts_;
  std::vector<ScenarioFile> scenario_;  // one
};

// For describe(): the keys of a sweep's file.
void describe_sweep(const Node& sample, Reading& reading);

// Whether a file is a sweep rather than a scenario or a part of one. Throws InputError where it is not YAML.
bool is_sweep(const std::filesystem::path& file);

}  // namespace slmsim
