// Reads the fields of a YAML map: names each key it knows, checks kind, unit and range, and notes every error
// and every value's provenance. After done(), keys that nobody asked for are errors.
//
// Each key is named with what it means. Where the Reading describes (sim/base/describe.h), nothing is read: the calls
// leave records of the keys, everything is there, and nothing is an error.
//
// A value may stand plain (`rtt: 103 ms`) or with where it comes from:
//   rtt: {value: 103 ms, provenance: measured, source: "ping, Table I"}
// or, where it is not known, with what it may be; then `value` is what is used, and what a fit begins with:
//   batch: {value: 8, one_of: [4, 8, 16]}
//   copy_rate: {value: 1 GB/s, between: [0.3 GB/s, 3 GB/s], scale: log}
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/key_record.h"
#include "sim/base/quantity.h"
#include "sim/base/yaml.h"

namespace slmsim {

// Where a number comes from: a data sheet, a measurement, a fit to measurements (then `source` says which),
// a typical value from the literature or a default of the software, or a guess.
enum class Provenance { kDatasheet, kMeasured, kInferred, kTypical, kAssumed };
const std::vector<std::string>& provenance_names();

struct Parameter {
  std::string path;   // "platform.links.wan.loss"
  std::string value;  // as written
  Provenance provenance = Provenance::kDatasheet;
  std::string source;
  double spread = 0;  // of the value, where it is known: eight of ten such values lie within this share of it
  // Where it is stated in place of known, what else it may be: ends of `between` in base units, or the words of `one_of`.
  std::optional<Range<double>> between;
  bool log_scale = false;  // of `between`: equal factors are as likely, not equal differences
  std::vector<std::string> one_of;
  ValueType type;  // what may stand under the key
  std::string_view measure =
      {};                   // what measures it, as its key says (FileKey::measured_by); empty: nothing that is known
  bool by_default = false;  // nobody stated it

  bool operator==(const Parameter&) const = default;
};

// What reading a file leaves beside its values.
struct Reading {
  std::vector<Error> errors;
  std::vector<Parameter> parameters;   // the values that state a provenance
  std::vector<Parameter> defaults;     // of keys that say what measures them, those that nobody stated
  Description* description = nullptr;  // where the keys are described in place of read

  bool describing() const { return description != nullptr; }
  void error(const Place& place, std::string text) {
    if (!describing()) errors.push_back({place, std::move(text)});
  }
  // Throws InputError if there are errors.
  void check() const;
};

// Second names of keys, as another program's file has them: "hidden" is its "n_embd".
using SecondNames = std::map<std::string, std::string>;

class Fields {
 public:
  // `path` names the map in messages and parameters ("platform.links.wan"). With second names the map is of another
  // program's format: where it does not have a key, what stands under the key's second name is read in its place, and
  // a null is as good as no key.
  Fields(const Node& node, std::string path, Reading& reading, SecondNames second_names = {});

  // Each returns the value, or `fallback` where the key is absent. Without a fallback an absent key is an
  // error and the range's low end is returned, so that reading can go on.
  template <class Q>
  Q quantity(const FileKey& key, Range<Q> range, std::optional<Q> fallback = std::nullopt) {
    const std::optional<double> back = fallback ? std::optional(fallback->value) : std::nullopt;
    return Q{read_quantity(key, dimension_of<Q>(), range.low.value, range.high.value, back)};
  }
  double number(const FileKey& key, Range<double> range, std::optional<double> fallback = std::nullopt);
  std::int64_t integer(const FileKey& key, Range<std::int64_t> range,
                       std::optional<std::int64_t> fallback = std::nullopt);
  bool flag(const FileKey& key, bool fallback);
  // A name: letters, digits and - _ . only, at most 64 long.
  std::string name(const FileKey& key, const std::optional<std::string>& fallback = std::nullopt);
  std::string text(const FileKey& key, const std::string& fallback);
  std::size_t choice(const FileKey& key, const std::vector<std::string>& choices,
                     std::optional<std::size_t> fallback = std::nullopt);
  // The items of a list, of which each may be any of these (a single value counts as a list of one); empty where
  // absent. How many there must be the caller says in an error of its own.
  std::vector<const Node*> list(const FileKey& key, const std::vector<ValueType>& items, Count count = kAnyCount);
  // The map or value under a key, nullptr where absent; `required` makes absence an error. It is for the caller to
  // check that it is of this type.
  const Node* child(const FileKey& key, bool required = false) { return child(key, ValueType::map(), required); }
  const Node* child(const FileKey& key, const ValueType& type, bool required = false);
  // What a file says that is named here, after the linker has put its map in the name's place.
  const Node* file(const FileKey& key, const FileKind& kind, bool required = false) {
    return child(key, ValueType::of_file(kind), required);
  }
  // Reads the map under each name of a map of names: `read(entry, fields)`. Returns how many there are; nothing where
  // there is no map.
  template <class Read>
  std::optional<std::size_t> each(const FileKey& key, bool required, Read read) {
    const auto entries = named_entries(key, required);
    for (const Entry* entry : entries.value_or(std::vector<const Entry*>{})) {
      check_name(*entry);
      Fields fields(entry->value, path_of(key.name) + "." + entry->key, reading_);
      read(*entry, fields);
      fields.done();
    }
    return entries ? std::optional(entries->size()) : std::nullopt;
  }

  // What was read last under this key, where it stated its provenance; valid until something else is read.
  const Parameter* stated(const std::string& key) const;

  // Where other keys depend on a key: on whether it is there, as has() tells, or on its value, as choice() does. Both
  // ways, or every choice, are described.
  bool forks_on(const std::string& key);
  std::size_t forking_choice(const FileKey& key, const std::vector<std::string>& choices,
                             std::optional<std::size_t> fallback = std::nullopt);

  bool describing() const { return reading_.describing(); }
  bool is_map() const { return node_.kind == Node::Kind::kMap; }
  // Whether the key is there; either way it is a known one from now on.
  bool has(const std::string& key) { return know(key), describing() || find_node(key) != nullptr; }
  // Whether the key is there and not null.
  bool has_value(const std::string& key);
  // Whether a number stands there, where a word may stand too.
  bool has_number(const std::string& key);
  // Of a key and its second name the one that the map has.
  const std::string& stated_name(const std::string& key) const;
  // A key that may stand here and is not looked at; `type` is what it usually is.
  void ignore(const FileKey& key, const ValueType& type = ValueType::any());
  // A key that was read and taken out before: only described.
  void describe(const FileKey& key, const ValueType& type);
  void error(const std::string& key, const std::string& text);
  void error_at(const Place& place, const std::string& text) { reading_.error(place, text); }
  std::string path_of(const std::string& key) const {
    return path_.empty() ? stated_name(key) : path_ + "." + stated_name(key);
  }

  // Call last: keys that were not asked for are errors.
  void done();
  // In its place, for a file of another program, which has keys that nobody needs: only those are errors that another
  // file or an override laid upon it.
  void done_but_for_its_own();

 private:
  void know(const std::string& key);
  bool is_known(const std::string& key) const;
  const Node* find_node(const std::string& key) const;
  const Node* find(const std::string& key, bool required);
  // The scalar under that key with its provenance taken off; nullptr and an error where it is something else. Where there is
  // none, `fallback` tells what is taken in its place.
  struct Scalar {
    const Node* node = nullptr;
    Parameter* stated = nullptr;  // where it states its provenance; valid until something else is read
  };
  Scalar scalar(const FileKey& asked, bool optional, const std::function<std::string()>& fallback);
  // Notes what a value that states its provenance may be: `parse` reads one of its words, empty where it is none.
  void open_value(Parameter& parameter, const std::string& key, const ValueType& type,
                  const std::function<std::optional<double>(const std::string&)>& parse);
  double read_quantity(const FileKey& key, Dimension dimension, double low, double high,
                       std::optional<double> fallback);
  std::size_t read_choice(const FileKey& asked, const std::vector<std::string>& choices,
                          std::optional<std::size_t> fallback);
  std::optional<std::vector<const Entry*>> named_entries(const FileKey& key, bool required);
  void check_name(const Entry& entry);
  void refuse_unknown(const std::vector<const Entry*>& entries);
  void record(const FileKey& key, const ValueType& as_read, bool required, const std::string& fallback = "");

  const Node& node_;
  std::string path_;
  Reading& reading_;
  SecondNames second_names_;
  std::vector<std::string> known_;  // as they were asked for: a set would take a quarter of reading
  std::set<std::string> nullable_;  // while describing
};

// True if `text` is a plain name: letters, digits, - _ . only, 1 to 64 long, not starting with a dot.
bool is_name(const std::string& text);

}  // namespace slmsim
