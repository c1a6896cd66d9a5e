#include "sim/sweep/axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/quantity.h"

namespace slmsim {
namespace {

// "0.1 ms" as 0.1 and "ms".
struct Measure {
  double number = 0;
  std::string unit;
};

std::optional<Measure> split(const std::string& text) {
  const auto end = std::min(text.find_first_not_of("0123456789.+-eE"), text.size());
  // An exponent's letter may also begin a unit, so the longest number counts.
  for (std::size_t length = end; length > 0; --length) {
    const auto number = parse_number(std::string_view(text).substr(0, length));
    if (!number) continue;
    const auto unit = std::min(text.find_first_not_of(' ', length), text.size());
    return Measure{*number, text.substr(unit)};
  }
  return std::nullopt;
}

class RangeReader {
 public:
  RangeReader(const Node& node, Fields& fields, Reading& reading) : node_(node), fields_(fields), reading_(reading) {}

  std::vector<Node> read() {
    const std::size_t errors = reading_.errors.size();
    const auto from = end({"from", "The first value, with a unit where one is due."});
    const auto to = end({"to", "The last value, in the same unit."});
    static const std::vector<std::string> kScales = {"linear", "log"};
    const bool log = fields_.choice({"scale", "Equal steps, or equal ratios."}, kScales, 0) == 1;
    const bool whole =
        fields_.flag({"whole", "Whether values are rounded to whole numbers and repeats dropped."}, false);
    const bool by_step = fields_.forks_on("step");
    const bool by_count = fields_.describing() ? !by_step : fields_.has("points");
    if (by_step == by_count)
      reading_.error(node_.place, "a range needs either \"points\" (how many) or \"step\" (how far apart)");
    const auto count = by_count ? fields_.integer({"points", "Number of values, including both ends."},
                                                  {2, static_cast<std::int64_t>(kMostValuesOfAxis)})
                                : 0;
    const auto step = by_step ? end({"step", "Distance between values, in the same unit."}) : std::nullopt;
    if (reading_.errors.size() > errors || !from || !to) return {};
    if (from->unit != to->unit || (step && step->unit != from->unit)) {
      fields_.error("to", fmt::format("\"{}\" and \"{}\" are different units; write the range in one", from->unit,
                                      from->unit != to->unit ? to->unit : step->unit));
      return {};
    }
    if (log && (from->number <= 0 || to->number <= 0)) {
      fields_.error("scale", "log steps need positive ends; use scale: linear");
      return {};
    }
    if (log && step) {
      fields_.error("step", "a log scale has no \"step\"; use \"points\"");
      return {};
    }
    return numbers_as_nodes(step ? by_steps(from->number, to->number, step->number)
                                 : by_points(from->number, to->number, static_cast<std::size_t>(count), log),
                            from->unit, whole);
  }

 private:
  std::optional<Measure> end(const FileKey& key) {
    const Node* node = fields_.child(key, ValueType::text(), true);
    if (!node) return std::nullopt;
    auto measure = node->kind == Node::Kind::kScalar ? split(node->scalar) : std::nullopt;
    if (!measure)
      reading_.error(node->place,
                     fmt::format("{}: a number is expected, with a unit where one is due, e.g. 0.1 ms", key.name));
    return measure;
  }

  std::vector<double> by_steps(double from, double to, double step) {
    const double steps = std::floor((to - from) / step * (1 + 1e-12) + 1e-9);
    if (!(step != 0 && steps >= 0 && steps < static_cast<double>(kMostValuesOfAxis))) {
      fields_.error("step", fmt::format("steps of {:g} do not lead from {:g} to {:g} in 1 to {} steps", step, from, to,
                                        kMostValuesOfAxis));
      return {};
    }
    std::vector<double> out;
    for (double i = 0; i <= steps; ++i) out.push_back(from + i * step);
    return out;
  }

  static std::vector<double> by_points(double from, double to, std::size_t count, bool log) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(count - 1);
      out.push_back(log ? from * std::pow(to / from, part) : from + (to - from) * part);
    }
    out.back() = to;
    return out;
  }

  std::vector<Node> numbers_as_nodes(std::vector<double> numbers, const std::string& unit, bool whole) const {
    if (whole) {
      for (double& number : numbers) number = std::round(number);
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    }
    std::vector<Node> out;
    for (const double number : numbers) {
      Node node;
      node.kind = Node::Kind::kScalar;
      node.place = node_.find("from")->place;
      node.scalar = fmt::format("{:.9g}{}{}", number, unit.empty() ? "" : " ", unit);
      out.push_back(std::move(node));
    }
    return out;
  }

  const Node& node_;
  Fields& fields_;
  Reading& reading_;
};

std::optional<AxisKey> read_key(const Node& node, const std::string& path, Reading& reading) {
  if (node.kind != Node::Kind::kMap) {
    reading.error(node.place,
                  fmt::format("{} is {}; an axis reads {{key: platform.links.wan.rtt, values: [1 ms, 10 ms]}}", path,
                              kind_name(node.kind)));
    return std::nullopt;
  }
  Fields fields(node, path, reading);
  AxisKey out;
  const Node* key = fields.child({"key", "The path of a value of the scenario, such as platform.links.wan.rtt."},
                                 ValueType::text(), true);
  if (key && (key->kind != Node::Kind::kScalar || key->scalar.empty())) {
    reading.error(key->place, fmt::format("{}.key is {}; the path of a value is expected, e.g. training.batch", path,
                                          kind_name(key->kind)));
  } else if (key) {
    out.key = key->scalar;
    out.place = key->place;
  }
  if (fields.forks_on("values")) {
    const FileKey values{"values", "Values of the key, written as in a scenario."};
    for (const Node* value : fields.list(values, {ValueType::any()}, {1, kMostValuesOfAxis}))
      out.values.push_back(*value);
    for (const char* of_range : {"from", "to", "points", "step", "scale", "whole"}) {
      if (fields.has(of_range))
        fields.error(of_range,
                     fmt::format("{} has both \"values\" and \"{}\"; give a list or a range", path, of_range));
    }
  } else if (fields.has("from") || fields.has("to")) {
    out.values = RangeReader(node, fields, reading).read();
  } else {
    for (const char* of_range : {"points", "step", "scale", "whole"}) fields.has(of_range);  // known fields
    reading.error(node.place, fmt::format("{} has neither \"values\" nor a range from \"from\" to \"to\"", path));
  }
  fields.done();
  if (out.values.size() > kMostValuesOfAxis)
    reading.error(node.place, fmt::format("more than {} values of one key", kMostValuesOfAxis));
  return out.key.empty() || out.values.empty() ? std::nullopt : std::optional(std::move(out));
}

Axis read_zip(const Node& node, const std::string& path, Reading& reading) {
  Axis axis;
  Fields fields(node, path, reading);
  const std::size_t errors = reading.errors.size();
  const auto items = fields.list({"zip", "Keys that move together; all have the same number of values."},
                                 {ValueType::map()}, {1, kMostValuesOfAxis});
  std::size_t values = 0;
  for (std::size_t i = 0; i < items.size() && values <= kMostValuesOfAxes; ++i) {
    auto key = read_key(*items[i], fmt::format("{}.zip.{}", path, i), reading);
    if (!key) continue;
    values += key->values.size();
    axis.keys.push_back(std::move(*key));
  }
  if (values > kMostValuesOfAxes) return axis;  // read_axes reports it
  fields.done();
  for (const auto& key : axis.keys) {
    if (key.values.size() != axis.size() && reading.errors.size() == errors)
      reading.error(
          key.place,
          fmt::format("{} has {} values and {} has {}; keys that move together need the same number of values",
                      axis.keys.front().key, axis.size(), key.key, key.values.size()));
  }
  return axis;
}

// An axis of several keys is another map than an axis of one.
bool has_zip(const Node& item, const std::string& path, Reading& reading) {
  return item.kind == Node::Kind::kMap && Fields(item, path, reading).forks_on("zip");
}

}  // namespace

std::vector<Axis> read_axes(const Node& node, const std::string& path, Reading& reading) {
  std::vector<Axis> axes;
  if (node.kind != Node::Kind::kSequence || node.items.empty()) {
    reading.error(node.place, fmt::format("{} is {}; a list of axes is expected, each {{key: ..., values: [...]}}",
                                          path, node.kind == Node::Kind::kSequence ? "empty" : kind_name(node.kind)));
    return axes;
  }
  std::set<std::string> seen;
  std::size_t values = 0;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const std::string name = fmt::format("{}.{}", path, i);
    Axis axis;
    if (has_zip(item, name, reading)) {
      axis = read_zip(item, name, reading);
    } else if (auto key = read_key(item, name, reading)) {
      axis.keys.push_back(std::move(*key));
    }
    for (const auto& key : axis.keys) {
      if (!seen.insert(key.key).second)
        reading.error(key.place, fmt::format("{} is on two axes; name each key once", key.key));
    }
    for (const auto& key : axis.keys) values += key.values.size();
    if (!axis.keys.empty()) axes.push_back(std::move(axis));
    // The axes behind it are not read: each may have a million values.
    const bool many = point_count(axes) > kMostPoints;
    if (many) reading.error(node.place, fmt::format("more than {} points; that is beyond this simulator", kMostPoints));
    if (!many && values > kMostValuesOfAxes)
      reading.error(node.place,
                    fmt::format("more than {} values on all axes; that is beyond this simulator", kMostValuesOfAxes));
    if (many || values > kMostValuesOfAxes) break;
  }
  return axes;
}

void find_numbers(AxisKey& key) {
  constexpr std::pair<Dimension, const char*> kSuffixes[] = {{Dimension::kTime, "_s"},
                                                             {Dimension::kData, "_B"},
                                                             {Dimension::kDataRate, "_Bps"},
                                                             {Dimension::kWorkRate, "_FLOPps"},
                                                             {Dimension::kPower, "_W"}};
  for (const auto& [dimension, suffix] : kSuffixes) {
    std::vector<double> numbers;
    for (const Node& value : key.values) {
      const auto parsed = parse_quantity(value.kind == Node::Kind::kScalar ? value.scalar : "", dimension);
      if (!parsed.problem.empty()) break;
      numbers.push_back(parsed.value);
    }
    if (numbers.empty() || numbers.size() != key.values.size()) continue;
    key.number_column = key.key + suffix;
    key.numbers = std::move(numbers);
    return;
  }
}

std::uint64_t point_count(const std::vector<Axis>& axes) {
  std::uint64_t count = 1;
  for (const auto& axis : axes) count = std::min(kMostPoints + 1, count * axis.size());
  return count;
}

std::vector<std::size_t> indices_of(const std::vector<Axis>& axes, std::uint64_t point) {
  std::vector<std::size_t> indices(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    indices[i] = static_cast<std::size_t>(point % axes[i].size());
    point /= axes[i].size();
  }
  return indices;
}

std::string one_line(const Node& value) {
  std::string out;
  switch (value.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kScalar:
      return value.scalar;
    case Node::Kind::kSequence:
      for (const auto& item : value.items) out += fmt::format("{}{}", out.empty() ? "" : ", ", one_line(item));
      return fmt::format("[{}]", out);
    case Node::Kind::kMap:
      for (const auto& entry : value.entries)
        out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", entry.key, one_line(entry.value));
      return fmt::format("{{{}}}", out);
  }
  return out;
}

}  // namespace slmsim
