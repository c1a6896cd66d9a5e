// Reads the fields of a YAML map: names each known key, checks kind, unit and range, and records every error and every
// value's provenance. After done(), unread keys are errors.
//
// Each key is named together with its meaning. Where the Reading describes (sim/base/describe.h), nothing is read: the
// calls record the keys, every key is present, and nothing is an error.
//
// A value may be plain (`rtt: 103 ms`) or state its provenance:
//   rtt: {value: 103 ms, provenance: measured, source: "ping, Table I"}
// or, where it is unknown, its possible values; then `value` is used, and a fit starts from it:
//   batch: {value: 8, one_of: [4, 8, 16]}
//   copy_rate: {value: 1 GB/s, between: [0.3 GB/s, 3 GB/s], scale: log}
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/key_record.h"
#include "sim/base/quantity.h"
#include "sim/base/yaml.h"

namespace slmsim {

// Where a number comes from: a data sheet, a measurement, a fit to measurements (`source` names them), a typical value
// from the literature or a default of the software, or a guess.
enum class Provenance { kDatasheet, kMeasured, kInferred, kTypical, kAssumed };
const std::vector<std::string>& provenance_names();

// Whose property a map's values are: its name, "wan", and the path of the map, "platform.links.wan".
struct Owner {
  Scope scope = Scope::kScenario;
  std::string name, path;

  bool operator==(const Owner&) const = default;
};

struct Parameter {
  std::string path;   // "platform.links.wan.loss"
  std::string value;  // as written
  Provenance provenance = Provenance::kDatasheet;
  std::string source;
  double spread = 0;  // relative, where known: eight of ten such values lie within it
  // Possible values where the value is uncertain: ends of `between` in base units, or the words of `one_of`.
  std::optional<Range<double>> between;
  bool log_scale = false;  // in `between`, equal factors are equally likely, not equal differences
  std::vector<std::string> one_of;
  ValueType type;                 // allowed under the key
  std::string_view measure = {};  // program that measures it (FileKey::measured_by); empty: none is known
  Use use = Use::kAny;            // FileKey::matters_to
  std::string key = {};           // FileKey::name
  Owner owner = {};
  bool by_default = false;  // not stated: the default is used

  // Path in the owner's map: "reverse.loss".
  std::string below_owner() const { return path.substr(owner.path.size() + 1); }

  bool operator==(const Parameter&) const = default;
};

// The by-products of reading a file: errors, stated provenances and defaults.
struct Reading {
  std::vector<Error> errors;
  std::vector<Parameter> parameters;   // the values that state a provenance
  std::vector<Parameter> defaults;     // unstated values of keys that name a measuring program
  Owner owner;                         // of the values that are read now
  Description* description = nullptr;  // set where the keys are described and not read

  bool describing() const { return description != nullptr; }
  void error(const Place& place, std::string text) {
    if (!describing()) errors.push_back({place, std::move(text)});
  }
  // Throws InputError if there are errors.
  void check() const;
};

// Sets the owner of the values that are read during its life. An owner without a name inherits the surrounding one's.
class Owned {
 public:
  Owned(Reading& reading, Owner owner) : reading_(reading), outer_(std::exchange(reading.owner, std::move(owner))) {
    if (reading_.owner.name.empty()) reading_.owner.name = outer_.name;
  }
  ~Owned() { reading_.owner = std::move(outer_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

 private:
  Reading& reading_;
  Owner outer_;
};

// Second names of keys, as in another program's file: "hidden" for "n_embd".
using SecondNames = std::map<std::string, std::string>;

class Fields {
 public:
  // `path` names the map in messages and parameters ("platform.links.wan"). With second names the map has another
  // program's format: a missing key is looked up under its second name, and null counts as absent.
  Fields(const Node& node, std::string path, Reading& reading, SecondNames second_names = {});

  // Makes the map's values, with those of the maps inside, properties of an owner.
  [[nodiscard]] Owned owned_by(Scope scope, std::string name = "") const {
    return Owned(reading_, {scope, std::move(name), path_});
  }

  // Each returns the value, or `fallback` where the key is absent. Without a fallback an absent key is an error and the
  // low end of the range is returned, so that reading continues.
  template <class Q>
  Q quantity(const FileKey& key, Range<Q> range, std::optional<Q> fallback = std::nullopt) {
    const std::optional<double> back = fallback ? std::optional(fallback->value) : std::nullopt;
    return Q{read_quantity(key, dimension_of<Q>(), range.low.value, range.high.value, back)};
  }
  double number(const FileKey& key, Range<double> range, std::optional<double> fallback = std::nullopt);
  std::int64_t integer(const FileKey& key, Range<std::int64_t> range,
                       std::optional<std::int64_t> fallback = std::nullopt);
  bool flag(const FileKey& key, bool fallback);
  // A name: letters, digits, "-", "_" and "." only, at most 64 characters.
  std::string name(const FileKey& key, const std::optional<std::string>& fallback = std::nullopt);
  std::string text(const FileKey& key, const std::string& fallback);
  std::size_t choice(const FileKey& key, const std::vector<std::string>& choices,
                     std::optional<std::size_t> fallback = std::nullopt);
  // Items of a list; each may have any of these types. A single value counts as a list of one; empty where absent. The
  // caller reports a wrong number of items.
  std::vector<const Node*> list(const FileKey& key, const std::vector<ValueType>& items, Count count = kAnyCount);
  // The map or value under a key, nullptr where absent; `required` makes absence an error. The caller checks its type.
  const Node* child(const FileKey& key, bool required = false) { return child(key, ValueType::map(), required); }
  const Node* child(const FileKey& key, const ValueType& type, bool required = false);
  // Contents of a file that is named here, after the linker has replaced the name by the file's map.
  const Node* file(const FileKey& key, const FileKind& kind, bool required = false) {
    return child(key, ValueType::of_file(kind), required);
  }
  // Reads the map under a key: `read(fields)`. Returns whether there is one; `required` makes absence an error.
  template <class Read>
  bool inside(const FileKey& key, Read read, bool required = false) {
    const Node* map = child(key, required);
    if (map) read_all(*map, path_of(key.name), read);
    return map != nullptr;
  }
  // Reads each map of a list: `read(fields)`. Returns the number of maps.
  template <class Read>
  std::size_t each_item(const FileKey& key, Read read, Count count = kAnyCount) {
    const auto maps = list(key, {ValueType::map()}, count);
    for (std::size_t i = 0; i < maps.size(); ++i) read_all(*maps[i], path_of(key.name) + "." + std::to_string(i), read);
    return maps.size();
  }
  // Reads the map under each name of a map of names: `read(entry, fields)`. Returns the number of names, or nothing
  // where there is no map.
  template <class Read>
  std::optional<std::size_t> each(const FileKey& key, bool required, Read read) {
    const auto entries = named_entries(key, required);
    for (const Entry* entry : entries.value_or(std::vector<const Entry*>{})) {
      check_name(*entry);
      read_all(entry->value, path_of(key.name) + "." + entry->key, [&](Fields& fields) { read(*entry, fields); });
    }
    return entries ? std::optional(entries->size()) : std::nullopt;
  }

  // The last value read under this key if it states its provenance; valid until the next read.
  const Parameter* stated(const std::string& key) const;

  // For keys that other keys depend on: forks_on() for a key's presence, as has() returns it; forking_choice() for its
  // value, as choice() returns it. Every path is described.
  bool forks_on(const std::string& key);
  std::size_t forking_choice(const FileKey& key, const std::vector<std::string>& choices,
                             std::optional<std::size_t> fallback = std::nullopt);

  bool describing() const { return reading_.describing(); }
  bool is_map() const { return node_.kind == Node::Kind::kMap; }
  // Whether the key is present; it counts as known from now on.
  bool has(const std::string& key) { return know(key), describing() || find_node(key) != nullptr; }
  // Whether the key is present and not null.
  bool has_value(const std::string& key);
  // Whether the value is a number, where a word is allowed too.
  bool has_number(const std::string& key);
  // The one of the key and its second name that the map uses.
  const std::string& stated_name(const std::string& key) const;
  // A key that is allowed and ignored; `type` is its usual type.
  void ignore(const FileKey& key, const ValueType& type = ValueType::any());
  // A key that was read and removed earlier; only described here.
  void describe(const FileKey& key, const ValueType& type);
  void error(const std::string& key, const std::string& text);
  void error_at(const Place& place, const std::string& text) { reading_.error(place, text); }
  std::string path_of(const std::string& key) const {
    return path_.empty() ? stated_name(key) : path_ + "." + stated_name(key);
  }

  // Names that other programs have for keys and words of this map: the error of an unknown one ends with the text beside it.
  void hint(std::map<std::string, std::string> names) { hints_ = std::move(names); }

  // Call last: unread keys are errors.
  void done();
  // Replaces done() for a file of another program: unread keys are errors only where another file or an override has
  // set them.
  void done_but_for_its_own();

 private:
  // Keys that `read` does not read are errors.
  template <class Read>
  void read_all(const Node& map, std::string path, Read read) {
    Fields fields(map, std::move(path), reading_);
    read(fields);
    fields.done();
  }
  void know(const std::string& key);
  bool is_known(const std::string& key) const;
  const Node* find_node(const std::string& key) const;
  const Node* find(const std::string& key, bool required);
  // The scalar under that key without its provenance; nullptr and an error where it is something else. `fallback` names
  // the value that is used if the key is absent.
  struct Scalar {
    const Node* node = nullptr;
    Parameter* stated = nullptr;  // where it states its provenance; valid until something else is read
  };
  Parameter parameter_of(const FileKey& key, std::string value, Provenance provenance) const;
  Scalar scalar(const FileKey& asked, bool optional, const std::function<std::string()>& fallback);
  // Records the possible values of a parameter; `parse` reads one of them and returns nothing where it is invalid.
  void open_value(Parameter& parameter, const std::string& key, const ValueType& type,
                  const std::function<std::optional<double>(const std::string&)>& parse);
  double read_quantity(const FileKey& key, Dimension dimension, double low, double high,
                       std::optional<double> fallback);
  std::size_t read_choice(const FileKey& asked, const std::vector<std::string>& choices,
                          std::optional<std::size_t> fallback);
  std::optional<std::vector<const Entry*>> named_entries(const FileKey& key, bool required);
  void check_name(const Entry& entry);
  void refuse_unknown(const std::vector<const Entry*>& entries);
  std::string remedy(const std::string& word, const std::vector<std::string>& known, std::string_view page = {}) const;
  void record(const FileKey& key, const ValueType& as_read, bool required, const std::string& fallback = "");

  const Node& node_;
  std::string path_;
  Reading& reading_;
  SecondNames second_names_;
  std::vector<std::string> known_;  // in the order of reading; a set would take a quarter of the reading time
  std::set<std::string> nullable_;  // while describing
  std::map<std::string, std::string> hints_;
};

// Throws InputError where a value that is given to a command or a function is out of its range.
void check_within(const char* what, double value, const Range<double>& range);

// True if `text` is a plain name: letters, digits, "-", "_" and "." only, 1 to 64 characters, not starting with a dot.
bool is_name(const std::string& text);

}  // namespace slmsim
