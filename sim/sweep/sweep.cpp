#include "sim/sweep/sweep.h"

#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "sim/base/hash.h"
#include "sim/predict/predict.h"
#include "sim/predict/row.h"
#include "sim/scenario/kind.h"
#include "sim/scenario/link.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

bool same_place(const Place& a, const Place& b) {
  return a.source == b.source && a.line == b.line && a.column == b.column;
}

ScenarioFile read_named_scenario(const fs::path& sweep, const Node& name) {
  if (name.kind != Node::Kind::kScalar)
    throw InputError(name.place, fmt::format("scenario is {}; one file's path is expected", kind_name(name.kind)));
  const fs::path file = (sweep.parent_path() / name.scalar).lexically_normal();
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    throw InputError(name.place, fmt::format("there is no file \"{}\"; the path counts from this file's folder",
                                             name.scalar.substr(0, 200)));
  }
  return ScenarioFile(file);
}

std::vector<Override> read_fixed(const Node& node, Reading& reading) {
  std::vector<Override> out;
  if (node.kind != Node::Kind::kMap)
    reading.error(node.place, fmt::format("set is {}; a map of keys and values is expected, e.g. {{models: gpt2m}}",
                                          kind_name(node.kind)));
  for (const auto& entry : node.entries) out.push_back({entry.key, entry.value, entry.place});
  return out;
}

// Numbers in JSON's syntax: YAML also allows a plus or a leading zero.
bool is_json_number(const std::string& text) {
  static const std::regex kNumber("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE]-?[0-9]+)?");
  return std::regex_match(text, kNumber);
}

// Numbers name no files.
bool may_name_a_file(const Node& value) {
  return value.kind != Node::Kind::kScalar || value.scalar.empty() ||
         !(std::isdigit(static_cast<unsigned char>(value.scalar.front())) || value.scalar.front() == '-');
}

struct SweepKeys {
  std::vector<Override> fixed;
  std::vector<Axis> axes;
  const Node* scenario = nullptr;
};

SweepKeys read_keys(const Node& node, Reading& reading, bool names_scenario = true) {
  SweepKeys keys;
  Fields fields(node, "", reading);
  fields.text({"description", "What it is, in a line."}, "");
  const FileKey fixed{"set", "Values of the scenario, by their paths, that are the same at every point.", "none"};
  if (const Node* set = fields.child(fixed)) keys.fixed = read_fixed(*set, reading);
  const FileKey varied{"axes", "Axes; the points are their product, the last axis varying fastest."};
  if (const Node* axes = fields.child(varied, ValueType::list({ValueType::map()}, {1, kAnyCount.high}), true))
    keys.axes = read_axes(*axes, "axes", reading);
  if (names_scenario)
    keys.scenario =
        fields.child({"scenario", "The path of a scenario, from this file's folder."}, ValueType::text(), true);
  fields.done();
  return keys;
}

}  // namespace

Texts to_texts(const PointRows& rows) { return {rows.csv, rows.json}; }

void from_texts(const Texts& texts, PointRows& rows) { rows = {texts.first, texts.second}; }

void describe_sweep(const Node& sample, Reading& reading) { read_keys(sample, reading); }

Sweep::Sweep(const fs::path& file, const Overrides& overrides) {
  const auto named = [&](const Node* name) { return read_named_scenario(file, *name); };
  read(read_own_yaml(file), named, true, overrides);
}

Sweep::Sweep(const Node& sweep, ScenarioFile scenario, const Overrides& overrides) {
  const auto given = [&](const Node*) { return std::move(scenario); };
  read(sweep, given, false, overrides);
}

void Sweep::read(const Node& node, const std::function<ScenarioFile(const Node* named)>& find, bool names_scenario,
                 const Overrides& overrides) {
  text_ = node.place.source->text;
  Reading reading;
  auto [fixed, axes, scenario] = read_keys(node, reading, names_scenario);
  fixed_ = std::move(fixed);
  axes_ = std::move(axes);
  for (auto& axis : axes_) std::for_each(axis.keys.begin(), axis.keys.end(), find_numbers);
  for (const auto& text : overrides) {
    try {
      fixed_.push_back(parse_override(text));
      fixed_texts_.push_back(text);
    } catch (const InputError& error) {
      reading.errors.insert(reading.errors.end(), error.errors().begin(), error.errors().end());
    }
  }
  try {
    if (scenario || !names_scenario) scenario_.push_back(find(scenario));
  } catch (const InputError& error) {
    reading.errors.insert(reading.errors.end(), error.errors().begin(), error.errors().end());
  }
  for (const auto& axis : axes_) {
    for (const auto& key : axis.keys) {
      for (const auto& set : fixed_) {
        if (set.path == key.key)
          reading.error(set.place, fmt::format("{} is an axis of the sweep; set it there or here", key.key));
      }
    }
  }
  reading.check();
  read_scenario(scenario_.front().link(fixed_), scenario_.front().name());
  check_axes();
}

std::vector<Error> Sweep::errors_of(const AxisKey& key, const std::vector<Override>& overrides) {
  std::vector<Error> errors;
  try {
    read_scenario(scenario_.front().link(overrides), "");
  } catch (const InputError& error) {
    for (const auto& one : error.errors()) {
      if (same_place(one.place, key.place)) errors.push_back(one);
    }
  }
  return errors;
}

// An error in a key applies at every point; an error in a value only there. The two are distinguished by the place of the
// error. A key may exist only beside other axes' values, so it is tried alone and with theirs.
void Sweep::check_axes() {
  const auto first_of = [](const AxisKey& key) { return Override{key.key, key.values.front(), key.place}; };
  auto sound = fixed_;
  std::vector<const AxisKey*> doubtful;
  for (const auto& axis : axes_) {
    for (const auto& key : axis.keys) {
      if (key.key == "job" || key.key.starts_with("job."))
        throw InputError(key.place, fmt::format("{} changes no row: a sweep predicts iterations and draws no jobs; use "
                                                "slmsim run --set",
                                                key.key));
      auto overrides = fixed_;
      overrides.push_back(first_of(key));
      if (errors_of(key, overrides).empty()) {
        sound.push_back(first_of(key));
      } else {
        doubtful.push_back(&key);
      }
      read_named_files(key);
    }
  }
  std::vector<Error> errors;
  for (const auto* key : doubtful) {
    auto overrides = sound;
    overrides.push_back(first_of(*key));
    const auto wrong = errors_of(*key, overrides);
    errors.insert(errors.end(), wrong.begin(), wrong.end());
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

void Sweep::read_named_files(const AxisKey& key) {
  for (const auto& value : key.values) {
    if (!may_name_a_file(value)) continue;
    auto overrides = fixed_;
    overrides.push_back({key.key, value, key.place});
    try {
      scenario_.front().link(overrides);
    } catch (const InputError&) {  // reported in a row
    }
  }
}

std::string Sweep::identity(const std::string& version) const {
  std::vector<std::string> texts = {text_};
  texts.insert(texts.end(), fixed_texts_.begin(), fixed_texts_.end());
  const auto read = scenario_.front().texts();
  texts.insert(texts.end(), read.begin(), read.end());
  return identity_of(version, texts);
}

std::string Sweep::header() const {
  std::string out = "point,";
  for (const auto& axis : axes_) {
    for (const auto& key : axis.keys) out += csv_cell(key.key) + ",";
  }
  out += csv_header();
  for (const auto& axis : axes_) {
    for (const auto& key : axis.keys) {
      if (!key.number_column.empty()) out.append(",").append(csv_cell(key.number_column));
    }
  }
  return out;
}

std::vector<Override> Sweep::overrides_at(std::uint64_t point) const {
  auto overrides = fixed_;
  const auto indices = indices_of(axes_, point);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    for (const auto& key : axes_[i].keys) overrides.push_back({key.key, key.values[indices[i]], key.place});
  }
  return overrides;
}

void Sweep::add_row(std::uint64_t point, const std::vector<Cell>& row, PointRows& out) const {
  const auto indices = indices_of(axes_, point);
  std::string inputs;
  out.csv += fmt::format("{},", point);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    for (const auto& key : axes_[i].keys) {
      const std::string value = one_line(key.values[indices[i]]);
      out.csv += csv_cell(value) + ",";
      const bool number = key.values[indices[i]].kind == Node::Kind::kScalar && is_json_number(value);
      inputs += fmt::format("{}{}: {}", inputs.empty() ? "" : ", ", json_string(key.key),
                            number ? value : json_string(value));
    }
  }
  out.csv += csv_line(row);
  std::string numbers;  // last, after the columns whose positions scripts rely on
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    for (const auto& key : axes_[i].keys) {
      if (key.number_column.empty()) continue;
      out.csv += fmt::format(",{:.9g}", key.numbers[indices[i]]);
      numbers += fmt::format(", {}: {:.9g}", json_string(key.number_column), key.numbers[indices[i]]);
    }
  }
  out.csv += "\n";
  out.json += fmt::format("{{\"point\": {}, \"inputs\": {{{}}}, {}{}}}\n", point, inputs, json_members(row), numbers);
}

Scenario Sweep::scenario_at(std::uint64_t point) {
  ScenarioFile& file = scenario_.front();
  return read_scenario(file.link(overrides_at(point)), file.name());
}

PointRows Sweep::rows(std::uint64_t point) {
  PointRows out;
  std::optional<Scenario> scenario;
  try {
    scenario = scenario_at(point);
  } catch (const InputError& error) {
    add_row(point, row_without_prediction("invalid", printable(error.errors().front().text)), out);
    return out;
  }
  for (const auto& prediction : predict(*scenario, {.time_misfits = true}))
    add_row(point, row_of(scenario->name, prediction), out);
  return out;
}

void Sweep::check() {
  constexpr std::uint64_t kMostChecked = 1000;
  std::optional<InputError> first;
  for (std::uint64_t point = 0; point < std::min(points(), kMostChecked); ++point) {
    try {
      scenario_at(point);
      return;
    } catch (const InputError& error) {
      if (!first) first = error;
    }
  }
  if (first) throw InputError(*first);
}

PointRows Sweep::failed(std::uint64_t point, const std::string& reason) const {
  PointRows out;
  add_row(point, row_without_prediction("failed", reason), out);
  return out;
}

bool is_sweep(const fs::path& file) { return kind_of(read_own_yaml(file)) == "sweep"; }

}  // namespace slmsim
