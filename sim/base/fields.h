// Reads the fields of a YAML map: names each key it knows, checks kind, unit and range, and notes every error
// and every value's provenance. After done(), keys that nobody asked for are errors.
//
// A value may stand plain (`rtt: 103 ms`) or with where it comes from:
//   rtt: {value: 103 ms, provenance: measured, source: "ping, Table I"}
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/yaml.h"

namespace slmsim {

// Where a number comes from: a data sheet, a measurement, a fit to measurements (then `source` says which),
// or a typical value from the literature or a default of the software.
enum class Provenance { kDatasheet, kMeasured, kInferred, kTypical };

struct Parameter {
  std::string path;   // "platform.links.wan.loss"
  std::string value;  // as written
  Provenance provenance = Provenance::kDatasheet;
  std::string source;

  bool operator==(const Parameter&) const = default;
};

// What reading a file leaves beside its values.
struct Reading {
  std::vector<Error> errors;
  std::vector<Parameter> parameters;  // the values that state a provenance

  void error(const Place& place, std::string text) { errors.push_back({place, std::move(text)}); }
  // Throws InputError if there are errors.
  void check() const;
};

template <class T>
struct Range {
  T low;
  T high;
};

class Fields {
 public:
  // `path` names the map in messages and parameters ("platform.links.wan").
  Fields(const Node& node, std::string path, Reading& reading);

  // Each returns the value, or `fallback` where the key is absent. Without a fallback an absent key is an
  // error and the range's low end is returned, so that reading can go on.
  template <class Q>
  Q quantity(const std::string& key, Range<Q> range, std::optional<Q> fallback = std::nullopt) {
    const auto low = range.low.value, high = range.high.value;
    const double back = fallback ? fallback->value : low;
    return Q{read_quantity(key, dimension_of<Q>(), low, high, fallback.has_value(), back)};
  }
  double number(const std::string& key, Range<double> range, std::optional<double> fallback = std::nullopt);
  std::int64_t integer(const std::string& key, Range<std::int64_t> range,
                       std::optional<std::int64_t> fallback = std::nullopt);
  bool flag(const std::string& key, bool fallback);
  // A name: letters, digits and - _ . only, at most 64 long.
  std::string name(const std::string& key, std::optional<std::string> fallback = std::nullopt);
  std::string text(const std::string& key, const std::string& fallback);
  std::size_t choice(const std::string& key, const std::vector<std::string>& choices,
                     std::optional<std::size_t> fallback = std::nullopt);
  // The items of a list of single values (a single value counts as a list of one); empty where absent.
  std::vector<const Node*> list(const std::string& key);
  // The map or value under a key, nullptr where absent; `required` makes absence an error.
  const Node* child(const std::string& key, bool required = false);

  bool is_map() const { return node_.kind == Node::Kind::kMap; }
  // Whether the key is there; either way it is a known one from now on.
  bool has(const std::string& key) { return known_.insert(key), node_.find(key) != nullptr; }
  void ignore(const std::string& key) { known_.insert(key); }
  void error(const std::string& key, const std::string& text);
  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

  // Call last: keys that were not asked for are errors.
  void done();

 private:
  // The scalar under `key` with its provenance taken off; nullptr and an error where it is something else.
  const Node* scalar(const std::string& key, bool optional);
  double read_quantity(const std::string& key, Dimension dimension, double low, double high, bool optional,
                       double fallback);

  const Node& node_;
  std::string path_;
  Reading& reading_;
  std::set<std::string> known_;
};

// True if `text` is a plain name: letters, digits, - _ . only, 1 to 64 long, not starting with a dot.
bool is_name(const std::string& text);

}  // namespace slmsim
