#include "sim/fit/pilot.h"

#include <algorithm>
#include <cmath>

#include <boost/algorithm/string.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/csv.h"
#include "sim/base/name_in.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/compute/operator_graph.h"
#include "sim/predict/predict.h"

namespace slmsim {
namespace {

const std::string kLog = "log";
constexpr Range<double> kNoise = {1e-3, 2};

const std::vector<std::string> kColumns = {"model", "technique", "group", "what", "value"};
const std::vector<std::string> kOtherColumns = {"noise", "note"};  // optional columns

// Plausible ranges of the measures but fits, in their order and in base units; values outside are typing errors.
constexpr double kYear = 365.25 * 86400;
constexpr Range<double> kPlausible[] = {
    {1e-6, 100 * kYear}, {1e-6, 100 * kYear}, {1e-3, 1e12}, {1e6, 1e18}, {kMebi, 1e6 * kGibi}};

// Parses a figure into base units, or returns the error in the text.
ParsedQuantity figure_in(Measure measure, const std::string& text) {
  if (measure == Measure::kPeakMemory) return parse_quantity(text, Dimension::kData);
  if (measure == Measure::kJob || measure == Measure::kIteration) return parse_quantity(text, Dimension::kTime);
  const auto number = parse_number(text);
  if (!number) return {0, fmt::format("\"{}\" is no number", printable(text).substr(0, 64))};
  return {*number * (measure == Measure::kRate ? kTera : 1), ""};
}

struct Reader {
  const Scenario& scenario;
  bool work_is_known = true;
  std::filesystem::path folder;
  Place place = {};  // of the current row
  std::vector<Error> errors = {};
  std::vector<Pilot> pilots = {};

  void error(const std::string& text) { errors.push_back({place, text}); }

  void add(Pilot pilot) {
    pilot.place = place;
    pilots.push_back(std::move(pilot));
  }

  // Reports errors in a file that a row names; where the error is the whole file, with the row.
  void refuse_file(const InputError& refused) {
    for (const auto& [at, text] : refused.errors()) {
      if (at.source && at.line > 0) {
        errors.push_back({at, text});
      } else {
        error(fmt::format("value: {}{}", at.source ? at.source->name + ": " : "", text));
      }
    }
  }

  std::optional<Candidate> cell_of(const CsvRow& row) {
    std::vector<std::string> models, techniques, groups;
    const auto add = [](std::vector<std::string>& list, const std::string& word) {
      if (std::ranges::find(list, word) == list.end()) list.push_back(word);
    };
    const Group* named = group_called(row.at("group"));
    for (const auto& cell : candidates_of(scenario)) {
      const std::string group = fmt::format("{}", fmt::join(cell.group, "+"));
      const bool same = named ? cell.group == named->names : group == row.at("group");
      if (cell.model == row.at("model") && cell.technique == row.at("technique") && same) return cell;
      add(models, cell.model);
      add(techniques, cell.technique);
      add(groups, group);
    }
    const auto check = [&](const char* column, const std::vector<std::string>& known) {
      const std::string& word = row.at(column);
      if (std::ranges::find(known, word) == known.end())
        error(fmt::format("{}: the scenario has no \"{}\"; {}", column, printable(word).substr(0, 64),
                          did_you_mean(word, known)));
    };
    check("model", models);
    check("technique", techniques);
    if (!named) check("group", groups);
    return std::nullopt;
  }

  // The scenario's group; nullptr where it has none of this name.
  const Group* group_called(const std::string& word) const {
    const auto at =
        std::ranges::find_if(scenario.groups, [&](const Group& group) { return is_group(scenario, group, word); });
    return at == scenario.groups.end() ? nullptr : &*at;
  }

  const Group& group_of(const Candidate& cell) const {
    return *std::ranges::find_if(scenario.groups, [&](const Group& g) { return g.names == cell.group; });
  }

  // Number of GPUs, and tokens per sequence.
  std::pair<int, double> sizes_of(const Candidate& cell) const {
    return {static_cast<int>(group_of(cell).devices.size()),
            static_cast<double>(model_named(scenario, cell.model).sequence)};
  }

  // Why no run of the cell can show this; empty where one can.
  std::string impossible(const Candidate& cell, Measure measure, double value) const {
    const Group& group = group_of(cell);
    Bytes memory{0};
    for (const int device : group.devices) memory = std::max(memory, scenario.platform.devices[device].gpu.memory);
    if (measure == Measure::kPeakMemory)
      return value > memory.value ? fmt::format("its GPUs have {}", to_text(memory)) : "";
    const auto each =
        measure == Measure::kJob ? std::optional(value / steps_of(cell)) : iteration_of({cell, measure, value});
    if (!each || !work_is_known) return "";
    const FlopsPerSecond rate = flops_of(cell) / Seconds{*each};
    const FlopsPerSecond peak = peak_of_group(scenario, group);
    if (rate <= peak) return "";
    return fmt::format("these are {} of its GPUs' {}", to_text(rate), to_text(peak));
  }

  std::optional<double> value_of(Measure measure, const std::string& text) {
    if (measure == Measure::kFits) {
      if (text == "yes" || text == "no") return text == "yes" ? 1 : 0;
      error(fmt::format("value: \"{}\"; fits is yes or no", printable(text).substr(0, 64)));
      return std::nullopt;
    }
    const auto [value, problem] = figure_in(measure, text);
    const auto [low, high] = kPlausible[static_cast<std::size_t>(measure)];
    if (problem.empty() && value >= low && value <= high) return value;
    error("value: " + (!problem.empty()
                           ? problem
                           : fmt::format("\"{}\" is out of range; expected {} to {}", printable(text).substr(0, 64),
                                         Pilot{{}, measure, low}.value_text(), Pilot{{}, measure, high}.value_text())));
    return std::nullopt;
  }

  // Files with network measurements.
  void read_network(const CsvRow& row) {
    const std::string& what = row.at("what");
    for (const char* column : {"model", "technique", "noise"}) {
      const auto given = row.find(column);
      if (given != row.end() && !given->second.empty())
        return error(fmt::format("{}: has no effect on {}; leave it empty", column, what));
    }
    std::vector<std::string> group;
    boost::split(group, row.at("group"), boost::is_any_of("+"));
    if (what == network_tables().front()) {
      std::vector<std::string> groups;
      for (const Group& one : scenario.groups) groups.push_back(fmt::format("{}", fmt::join(one.names, "+")));
      const Group* named = group_called(row.at("group"));
      if (named)
        group = named->names;
      else
        return error(fmt::format("group: the scenario has no \"{}\"; {}", printable(row.at("group")).substr(0, 64),
                                 did_you_mean(row.at("group"), groups)));
    }
    try {
      for (auto& pilot : read_network_run(what, folder / row.at("value"), group, scenario)) add(std::move(pilot));
    } catch (const InputError& refused) {
      refuse_file(refused);
    }
  }

  // Settings of a log that are not the scenario's, with both values. A log of another job would shift the unknowns.
  std::string contradiction(const TrainingLog& log, const Candidate& cell) const {
    const auto [gpus, sequence] = sizes_of(cell);
    const OperatorGraph operators = build_operator_graph(model_named(scenario, cell.model));
    const double parameters = parameter_count(operators);
    // Programs pad vocabularies, and some count a shared embedding twice; rates are rounded.
    constexpr double kRounded = 0.02, kPadded = 0.1, kBillions = 5e6;  // 0.01 of billions
    std::vector<std::string> of_log, of_scenario;
    for (const auto& [setting, values] : log.settings) {
      if (setting == LoggedSetting::kBatch && !work_is_known) continue;
      double expected = 0, low = 0, high = 0;
      if (setting == LoggedSetting::kParameters) {
        expected = parameters;
        low = (1 - kPadded) * parameters - kBillions;
        high = (1 + kPadded) * (parameters + tied_parameters(operators)) + kBillions;
      } else {
        expected = setting == LoggedSetting::kBatch  ? scenario.training.batch
                   : setting == LoggedSetting::kGpus ? gpus
                                                     : sequence;
        low = (1 - kRounded) * expected;
        high = (1 + kRounded) * expected;
      }
      const auto other = std::ranges::find_if(values, [&](double v) { return v < low || v > high; });
      if (other == values.end()) continue;
      of_log.push_back(fmt::format("{} {:.10g}", setting_name(setting), std::round(*other)));
      of_scenario.push_back(fmt::format("{:.10g}", expected));
    }
    if (of_log.empty()) return "";
    return fmt::format("states {}; the scenario has {}", fmt::join(of_log, ", "), fmt::join(of_scenario, ", "));
  }

  void read_log(const CsvRow& row, const Candidate& cell, double noise) {
    const auto [gpus, sequence] = sizes_of(cell);
    try {
      const auto log = read_training_log(folder / row.at("value"), gpus, sequence);
      if (const std::string other = contradiction(log, cell); !other.empty())
        return error(fmt::format("value: {} {}", printable(row.at("value")), other));
      for (const auto& [measure, value, spread] : log.figures) {
        const Pilot pilot{cell, measure, value, std::max(noise, spread)};
        if (const std::string why = impossible(cell, measure, value); !why.empty())
          return error(fmt::format("value: {} states {} {}, which is impossible: {}", printable(row.at("value")),
                                   name_in(measure_names(), measure), pilot.value_text(), why));
        add(pilot);
      }
    } catch (const InputError& refused) {
      refuse_file(refused);
    }
  }

  // Figures of one run that exclude each other: rates of tokens or FLOPs and a time of an iteration, a job shorter than its steps,
  // and any time of a run that does not fit.
  void check_pairs() {
    // Far beyond the noise of runs; logarithm of the ratio by which programs' counts of FLOPs differ, as by recomputation.
    constexpr double kApart = 0.25, kFormulas = 0.7;
    for (std::size_t i = 0; i < pilots.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const Pilot *one = &pilots[k], *other = &pilots[i];
        if (!(one->cell == other->cell) || one->cell.network_run) continue;
        place = pilots[i].place;
        if (one->measure == other->measure) {
          const double apart = std::max(kApart, 3 * std::hypot(one->noise, other->noise));
          if (std::abs(one->value - other->value) > apart * std::max(one->value, other->value))
            error(fmt::format("value: {} contradicts {} of the same run ({})", other->value_text(), one->value_text(),
                              line_of(*one)));
          continue;
        }
        if (one->measure == Measure::kFits) std::swap(one, other);
        if (other->measure == Measure::kFits) {
          if (other->value == 0 && one->measure != Measure::kPeakMemory)
            error(fmt::format("value: a run that does not fit has no {} of {} ({})",
                              name_in(measure_names(), one->measure), one->value_text(), line_of(pilots[k])));
          continue;
        }
        const auto a = iteration_of(*one), b = iteration_of(*other);
        if (a && b) {
          const bool counted = one->measure == Measure::kRate || other->measure == Measure::kRate;
          if (std::abs(std::log(*a / *b)) > (counted ? kFormulas : kApart))
            error(fmt::format("value: {} contradicts {} ({}): iterations of {} and {}", figure_text(*other),
                              figure_text(*one), line_of(*one), to_text(Seconds{*b}), to_text(Seconds{*a})));
          continue;
        }
        if (one->measure == Measure::kJob) std::swap(one, other);
        const auto each = iteration_of(*one);
        if (other->measure != Measure::kJob || !each || !work_is_known) continue;
        if (other->value < (1 - kApart) * *each * steps_of(one->cell))
          error(fmt::format("value: a job of {} contradicts its {:.9g} iterations of {} ({})", other->value_text(),
                            steps_of(one->cell), to_text(Seconds{*each}), line_of(pilots[k])));
      }
    }
  }

  // By a figure from which it follows, s; a rate of FLOPs is of the model's own. Rates take a known batch.
  std::optional<double> iteration_of(const Pilot& pilot) const {
    const auto [gpus, sequence] = sizes_of(pilot.cell);
    const double batch = scenario.training.batch;
    if (pilot.measure == Measure::kIteration) return pilot.value;
    if (!work_is_known) return std::nullopt;
    if (pilot.measure == Measure::kTokensPerSecond) return batch * sequence / pilot.value;
    if (pilot.measure != Measure::kRate) return std::nullopt;
    return flops_of(pilot.cell).value / gpus / pilot.value;
  }

  // The model's own, of one iteration.
  Flops flops_of(const Candidate& cell) const {
    return model_flops(build_operator_graph(model_named(scenario, cell.model))) *
           static_cast<double>(scenario.training.batch);
  }

  static std::string figure_text(const Pilot& pilot) {
    const std::string name = name_in(measure_names(), pilot.measure);
    return fmt::format("{} {}", name, pilot.value_text());
  }

  double steps_of(const Candidate& cell) const {
    const auto options = std::ranges::find_if(
        scenario.techniques, [&](const TechniqueOptions& one) { return one.technique->name == cell.technique; });
    return steps_of_job(scenario.training, *options);
  }

  static std::string line_of(const Pilot& pilot) { return fmt::format("line {}", pilot.place.line); }

  // Reports columns that nothing reads.
  void check_columns(const TableRow& row) {
    std::vector<std::string> known = kColumns;
    known.insert(known.end(), kOtherColumns.begin(), kOtherColumns.end());
    place = row.place();
    place.line = 1;
    for (const auto& [name, cell] : row.cells()) {
      if (std::ranges::find(known, name) == known.end())
        error(fmt::format("column \"{}\" has no effect; {}", printable(name).substr(0, 64), did_you_mean(name, known)));
    }
  }

  void read_row(const CsvRow& row) {
    const auto& tables = network_tables();
    if (std::ranges::find(tables, row.at("what")) != tables.end()) return read_network(row);
    const auto cell = cell_of(row);
    const std::string& what = row.at("what");
    double noise = kUsualNoise;
    if (const auto given = row.find("noise"); given != row.end() && !given->second.empty()) {
      const auto share = parse_number(given->second);
      if (!share || *share < kNoise.low || *share > kNoise.high)
        return error(fmt::format("noise: \"{}\"; a share from {} to {} is expected, 0.03 for 3 %",
                                 printable(given->second).substr(0, 64), kNoise.low, kNoise.high));
      noise = *share;
    }
    if (what == kLog) {
      if (cell) read_log(row, *cell, noise);
      return;
    }
    const auto& names = measure_names();
    const auto at = std::ranges::find(names, what);
    if (at == names.end()) {
      std::vector<std::string> known = names;
      known.push_back(kLog);
      known.insert(known.end(), tables.begin(), tables.end());
      return error(fmt::format("what: unknown \"{}\"; {}", printable(what).substr(0, 64), did_you_mean(what, known)));
    }
    const auto measure = static_cast<Measure>(at - names.begin());
    const auto value = value_of(measure, row.at("value"));
    if (!cell || !value) return;
    if (const std::string why = impossible(*cell, measure, *value); !why.empty())
      return error(fmt::format("value: \"{}\" is impossible: {}", printable(row.at("value")).substr(0, 64), why));
    add({*cell, measure, *value, noise});
  }
};

}  // namespace

const std::vector<std::string>& measure_names() {
  static const std::vector<std::string> kNames = {"job",         "iteration", "tokens_per_second", "tflops_per_gpu",
                                                  "peak_memory", "fits"};
  return kNames;
}

std::string Pilot::value_text() const {
  switch (measure) {
    case Measure::kJob:
    case Measure::kIteration:
      return to_text(Seconds{value});
    case Measure::kPeakMemory:
      return to_text(Bytes{value});
    case Measure::kRate:
      return fmt::format("{:.3g}", value / kTera);
    case Measure::kTokensPerSecond:
      return fmt::format("{:.3g}", value);
    case Measure::kFits:
      return value > 0 ? "yes" : "no";
  }
  return "";
}

double figure_of(const Forecast& f, Measure measure) {
  if (measure == Measure::kFits) return f.status == Status::kOk ? 1 : 0;
  return f.*kForecastFigures[static_cast<std::size_t>(measure)];
}

std::vector<Pilot> read_pilots(const std::filesystem::path& file, const Scenario& scenario, bool work_is_known) {
  const auto rows =
      read_table(file, kColumns, "\"model,technique,group,what,value\" and \"gpt2m,Data,gat+amst,job,41 min\"");
  Reader reader{scenario, work_is_known, file.parent_path()};
  if (!rows.empty()) reader.check_columns(rows.front());
  for (const auto& row : rows) {
    reader.place = row.place();
    reader.read_row(row.cells());
  }
  if (reader.errors.empty()) reader.check_pairs();
  if (!reader.errors.empty()) throw InputError(std::move(reader.errors));
  if (reader.pilots.empty()) throw InputError(whole_of(file.string()), "no measured runs; expected one row per figure");
  return std::move(reader.pilots);
}

}  // namespace slmsim
