// The axes of a sweep: the values of a scenario's keys, and the values at point number n.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/crew/journal.h"

namespace slmsim {

// A key of the scenario, as in `--set`, and its values, as written or generated.
struct AxisKey {
  std::string key;
  Place place;  // of the key's name
  std::vector<Node> values;
  // Where all values are quantities of one kind: the name of the column of plain numbers ("platform.links.wan.rtt_s"), and the
  // values in base units; else empty.
  std::string number_column;
  std::vector<double> numbers;
};

// Keys that move together, with equally many values.
struct Axis {
  std::vector<AxisKey> keys;
  std::size_t size() const { return keys.front().values.size(); }
};

inline constexpr std::uint64_t kMostPoints = kMostQuestions;
inline constexpr std::size_t kMostValuesOfAxis = 1'000'000, kMostValuesOfAxes = 2'000'000;

// Reads `axes:`, a list of
//   {key: K, values: [...]}                                      as written; a value may be a list or a map
//   {key: K, from: 0.1 ms, to: 200 ms, points: 50, scale: log}   equal steps or equal ratios, both ends included
//   {key: K, from: 8, to: 64, step: 8}                           up to `to`
//   {zip: [{key: ...}, {key: ...}]}                              keys that move together
// `whole: yes` rounds the values of a range to whole numbers and drops repeats. Counted values have nine digits.
std::vector<Axis> read_axes(const Node& node, const std::string& path, Reading& reading);

// Fills number_column and numbers.
void find_numbers(AxisKey& key);

// The product of the axes' sizes, at most kMostPoints + 1.
std::uint64_t point_count(const std::vector<Axis>& axes);

// The value of each axis at a point, as indices: the last axis varies fastest.
std::vector<std::size_t> indices_of(const std::vector<Axis>& axes, std::uint64_t point);

// A value on one line, as YAML: "8", "[gat, amst/0]", "{name: x}".
std::string one_line(const Node& value);

}  // namespace slmsim
