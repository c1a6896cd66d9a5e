// Options of techniques: the keys under `techniques.NAME`. Each option is one object with its key, how to read, check
// and write it, and its default; a technique lists its options.
//
//   const Option<int> kTensor{count_option({"tensor", "What it decides.", "what its absence means"}, 1024, 0)};
//   options.get(kTensor)                 // an int
//   options.set(kSchedule, Schedule::kGpipe)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/unit.h"

namespace slmsim {

// Storage of options: nothing where an optional one is absent, choices by their number, quantities in base units.
using OptionValue = std::variant<std::monostate, bool, std::int64_t, double, std::vector<int>>;

struct OptionSpec {
  std::string key;
  std::string what;          // one sentence: its effect
  std::string otherwise;     // the meaning of absence where no value expresses it
  OptionValue fallback;      // where it is absent
  std::string_view measure;  // the program that measures a property of machine or software (FileKey::measured_by)
  std::function<OptionValue(Fields&, const OptionSpec&)> read;
  std::function<std::string(const OptionValue&)> text;  // in YAML, without the key

  FileKey file_key() const { return FileKey{key, what, otherwise}.measured_by(measure); }

  OptionSpec() = default;
  OptionSpec(const OptionSpec&) = delete;  // identified by address
  OptionSpec& operator=(const OptionSpec&) = delete;
};

// An option whose value is a T: bool, int, double, an enum, Seconds, Bytes, a list of numbers, or an optional one of these.
template <class T>
struct Option : OptionSpec {
  explicit Option(const std::function<void(OptionSpec&)>& fill) { fill(*this); }
};

namespace option_detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
OptionValue pack(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? pack(*value) : OptionValue{};
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::vector<int>> || std::is_floating_point_v<T>) {
    return value;
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return value.value;
  }
}

template <class T>
T unpack(const OptionValue& value) {
  if constexpr (IsOptional<T>::value) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return unpack<typename T::value_type>(value);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::vector<int>>) {
    return std::get<T>(value);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<T>(std::get<std::int64_t>(value));
  } else {
    return T{std::get<double>(value)};
  }
}

}  // namespace option_detail

// Kinds of options. `most`: upper bound of whole numbers from 1 (or `least`). An absent optional one is nothing.
std::function<void(OptionSpec&)> count_option(const FileKey& key, std::int64_t most, std::int64_t fallback,
                                              std::int64_t least = 1);
// A whole number, or the word "auto", which is kAutomatic.
inline constexpr int kAutomatic = -1;
std::function<void(OptionSpec&)> count_or_auto_option(const FileKey& key, std::int64_t least, std::int64_t most);
std::function<void(OptionSpec&)> number_option(const FileKey& key, Range<double> range, double fallback);
std::function<void(OptionSpec&)> flag_option(const FileKey& key);
std::function<void(OptionSpec&)> yes_option(const FileKey& key);  // a flag that defaults to true
std::function<void(OptionSpec&)> choice_option(const FileKey& key, const std::vector<std::string>& (*names)());
std::function<void(OptionSpec&)> optional_choice_option(const FileKey& key, const std::vector<std::string>& (*names)());
std::function<void(OptionSpec&)> time_option(const FileKey& key, Range<Seconds> range, Seconds fallback);
std::function<void(OptionSpec&)> size_option(const FileKey& key, Range<Bytes> range, Bytes fallback);
std::function<void(OptionSpec&)> optional_size_option(const FileKey& key, Range<Bytes> range);
// GPUs along one or two axes: `[2, 2]`, or `4` for one axis.
std::function<void(OptionSpec&)> mesh_option(const FileKey& key);

// The values of a technique's options; unset ones have their fallbacks.
class OptionValues {
 public:
  template <class T>
  T get(const Option<T>& option) const {
    return option_detail::unpack<T>(value(option));
  }
  template <class T>
  void set(const Option<T>& option, const std::type_identity_t<T>& value) {
    set_value(option, option_detail::pack(value));
  }
  const OptionValue& value(const OptionSpec& option) const;
  void set_value(const OptionSpec& option, OptionValue value);

  bool operator==(const OptionValues&) const = default;

 private:
  std::vector<std::pair<const OptionSpec*, OptionValue>> values_;  // sorted; only values that differ from the fallback
};

}  // namespace slmsim
