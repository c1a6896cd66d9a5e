// What a reader tells of the keys it asks for: the source of the key reference and of the JSON Schema.
//
// Nothing here is filled by hand. A reader that runs while its Reading describes (sim/base/describe.h) finds every key
// there, and each call of Fields leaves a record in place of reading.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/file_kind.h"
#include "sim/base/quantity.h"
#include "sim/base/yaml.h"

namespace slmsim {

template <class T>
struct Range {
  T low;
  T high;

  bool operator==(const Range&) const = default;
};

// What measures a value that a file states: a program, or for what a training framework itself costs, pilot runs and a fit.
inline constexpr std::string_view kNetprobe = "slmsim-netprobe", kCalibrate = "slmsim-calibrate", kFit = "slmsim fit";
inline constexpr std::string_view kTorchStep = "calibrate/reference/torch_step.py";

// A key where it is read: its name, one plain sentence of what it means, and, where absence means something that no
// constant can say, what that is ("rtt / 2").
struct FileKey {
  FileKey(std::string key, std::string_view meaning, std::string_view absence = {})
      : name(std::move(key)), about(meaning), otherwise(absence) {}

  // Where it is a property of somebody's machine or software: what measures it. Its default is then a guess about that
  // machine, which readers leave in Reading::defaults, and not how a program behaves that nobody told otherwise.
  FileKey measured_by(std::string_view program) && {
    measure = program;
    return std::move(*this);
  }

  std::string name;
  std::string_view about, otherwise, measure = {};
};

// Stands for any name where the keys of a map are names that the user gives ("sites.NAME.rtt").
inline constexpr const char* kAnyName = "NAME";

using Count = Range<std::size_t>;
inline constexpr Count kAnyCount{0, std::numeric_limits<std::size_t>::max()};

// What may stand under a key.
struct ValueType {
  enum class Kind { kQuantity, kNumber, kInteger, kFlag, kChoice, kName, kText, kFile, kList, kMap, kAny };

  Kind kind = Kind::kAny;
  Dimension dimension = Dimension::kTime;  // of a quantity
  double low = 0, high = 0;                // of a quantity, a number, a whole number
  std::vector<std::string> choices;
  const FileKind* file = nullptr;  // its name, its path, or the map that it holds
  std::vector<ValueType> items;    // of a list: each may be any of these
  Count count = kAnyCount;         // of a list's items; from 1 on the list must be there
  bool stated = false;             // may also be written with its provenance
  bool nullable = false;

  static ValueType of(Kind kind) { return {.kind = kind, .choices = {}, .items = {}}; }
  static ValueType map() { return of(Kind::kMap); }
  static ValueType name() { return of(Kind::kName); }
  static ValueType text() { return of(Kind::kText); }
  static ValueType any() { return of(Kind::kAny); }
  static ValueType choice(std::vector<std::string> words) {
    return {.kind = Kind::kChoice, .choices = std::move(words), .items = {}};
  }
  static ValueType integer(std::int64_t low, std::int64_t high) {
    return {.kind = Kind::kInteger,
            .low = static_cast<double>(low),
            .high = static_cast<double>(high),
            .choices = {},
            .items = {}};
  }
  static ValueType of_file(const FileKind& kind) {
    return {.kind = Kind::kFile, .choices = {}, .file = &kind, .items = {}};
  }
  static ValueType list(std::vector<ValueType> each, Count count = kAnyCount) {
    return {.kind = Kind::kList, .choices = {}, .items = std::move(each), .count = count};
  }

  bool operator==(const ValueType& other) const;
};

struct KeyRecord {
  std::string map, key;  // the map by its path, "links.NAME" or, of a list's items, "axes.0"
  std::string about;
  std::vector<ValueType> types;  // any of these
  bool required = false;
  std::string fallback;   // as it would be written; empty: none
  std::string otherwise;  // in place of it: what absence means

  bool operator==(const KeyRecord&) const = default;
};

// A place where other keys of the map depend on a key: on which of `options` it has, or on whether it is there.
struct Fork {
  std::string map;
  std::string key;  // empty: on whether a key is there, "with step" or "without step"
  std::size_t taken = 0;
  std::vector<std::string> options;

  bool operator==(const Fork&) const = default;
};

// One run of a reader that describes.
struct Description {
  std::vector<std::size_t> script;  // which way to take at the first forks; the first one at all others
  std::vector<KeyRecord> keys;      // in the order in which they were asked for, each once
  std::vector<Fork> forks;
  std::set<std::string> closed;  // maps in which other keys are errors
  std::deque<Node> samples;      // that the reader was given
  std::deque<Entry> entries;

  void add(KeyRecord record);
  std::size_t take(std::string map, std::string key, std::vector<std::string> options);
  const Node* sample_of(const ValueType& type);
  const Entry* sample_entry();  // a map under any name
};

}  // namespace slmsim
