#include "sim/base/fields.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/suggest.h"

namespace slmsim {
namespace {

constexpr std::size_t kLongestName = 64;
const std::vector<std::string> kProvenances = {"datasheet", "measured", "inferred", "typical"};

std::string quoted(const std::string& text) { return text.size() <= 80 ? text : text.substr(0, 77) + "..."; }

std::string bound_text(double value, Dimension dimension) {
  switch (dimension) {
    case Dimension::kTime:
      return to_text(Seconds{value});
    case Dimension::kData:
      return to_text(Bytes{value});
    case Dimension::kDataRate:
      return to_text(BytesPerSecond{value});
    case Dimension::kWorkRate:
      return to_text(FlopsPerSecond{value});
  }
  return "";
}

}  // namespace

void Reading::check() const {
  if (!errors.empty()) throw InputError(errors);
}

bool is_name(const std::string& text) {
  const auto good = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), good);
}

Fields::Fields(const Node& node, std::string path, Reading& reading)
    : node_(node), path_(std::move(path)), reading_(reading) {
  if (node.kind != Node::Kind::kMap) {
    reading_.error(node.place, fmt::format("{} is {}; a map of keys and values is expected",
                                           path_.empty() ? "the file" : path_, kind_name(node.kind)));
  }
}

const Node* Fields::child(const std::string& key, bool required) {
  known_.insert(key);
  const Node* found = node_.find(key);
  if (!found && required && node_.kind == Node::Kind::kMap) {
    reading_.error(node_.place,
                   fmt::format("{} has no \"{}\"; it is required", path_.empty() ? "the file" : path_, key));
  }
  return found;
}

const Node* Fields::scalar(const std::string& key, bool optional) {
  const Node* found = child(key, !optional);
  if (!found || found->kind == Node::Kind::kScalar) return found;
  if (found->kind != Node::Kind::kMap) {
    error(key, fmt::format("{} is {}; a single value is expected", path_of(key), kind_name(found->kind)));
    return nullptr;
  }
  Fields stated(*found, path_of(key), reading_);
  const Node* value = stated.child("value", true);
  const auto provenance = static_cast<Provenance>(stated.choice("provenance", kProvenances));
  const std::string source = stated.text("source", "");
  if (source.empty())
    stated.error("source", fmt::format("{} does not say its source; add source: \"...\"", path_of(key)));
  stated.done();
  if (!value) return nullptr;
  if (value->kind != Node::Kind::kScalar) {
    reading_.error(value->place,
                   fmt::format("{}.value is {}; a single value is expected", path_of(key), kind_name(value->kind)));
    return nullptr;
  }
  reading_.parameters.push_back({path_of(key), value->scalar, provenance, source});
  return value;
}

double Fields::read_quantity(const std::string& key, Dimension dimension, double low, double high, bool optional,
                             double fallback) {
  const Node* node = scalar(key, optional);
  if (!node) return fallback;
  const auto [value, problem] = parse_quantity(quoted(node->scalar), dimension);
  if (!problem.empty()) {
    reading_.error(node->place, fmt::format("{}: {}", path_of(key), problem));
    return fallback;
  }
  if (!(value >= low && value <= high)) {
    reading_.error(node->place,
                   fmt::format("{}: \"{}\" is out of range; expected {} to {}", path_of(key), quoted(node->scalar),
                               bound_text(low, dimension), bound_text(high, dimension)));
    return fallback;
  }
  return value;
}

double Fields::number(const std::string& key, Range<double> range, std::optional<double> fallback) {
  const double back = fallback.value_or(range.low);
  const Node* node = scalar(key, fallback.has_value());
  if (!node) return back;
  const auto value = parse_number(node->scalar);
  if (value && *value >= range.low && *value <= range.high) return *value;
  reading_.error(node->place,
                 fmt::format("{}: \"{}\" is {}; expected a number from {:g} to {:g}", path_of(key),
                             quoted(node->scalar), value ? "out of range" : "not a number", range.low, range.high));
  return back;
}

std::int64_t Fields::integer(const std::string& key, Range<std::int64_t> range, std::optional<std::int64_t> fallback) {
  const std::int64_t back = fallback.value_or(range.low);
  const Node* node = scalar(key, fallback.has_value());
  if (!node) return back;
  const auto value = parse_number(node->scalar);
  const bool whole = value && *value == std::floor(*value);
  if (whole && *value >= static_cast<double>(range.low) && *value <= static_cast<double>(range.high)) {
    return static_cast<std::int64_t>(*value);
  }
  reading_.error(node->place, fmt::format("{}: \"{}\" is {}; expected a whole number from {} to {}", path_of(key),
                                          quoted(node->scalar), whole ? "out of range" : "not a whole number",
                                          range.low, range.high));
  return back;
}

bool Fields::flag(const std::string& key, bool fallback) {
  static const std::vector<std::string> kWords = {"no", "yes", "false", "true"};
  return choice(key, kWords, fallback ? 1 : 0) % 2 == 1;
}

std::string Fields::name(const std::string& key, std::optional<std::string> fallback) {
  const Node* node = scalar(key, fallback.has_value());
  if (!node) return fallback.value_or("");
  if (is_name(node->scalar)) return node->scalar;
  reading_.error(node->place,
                 fmt::format("{}: \"{}\" is not a name; letters, digits, '-', '_' and '.' make one, at most {}",
                             path_of(key), quoted(node->scalar), kLongestName));
  return fallback.value_or("");
}

std::string Fields::text(const std::string& key, const std::string& fallback) {
  const Node* node = child(key);
  if (!node) return fallback;
  if (node->kind == Node::Kind::kScalar) return node->scalar;
  reading_.error(node->place, fmt::format("{} is {}; a text is expected", path_of(key), kind_name(node->kind)));
  return fallback;
}

std::size_t Fields::choice(const std::string& key, const std::vector<std::string>& choices,
                           std::optional<std::size_t> fallback) {
  const Node* node = scalar(key, fallback.has_value());
  if (!node) return fallback.value_or(0);
  const auto at = std::find(choices.begin(), choices.end(), node->scalar);
  if (at != choices.end()) return static_cast<std::size_t>(at - choices.begin());
  reading_.error(node->place, fmt::format("{}: unknown value \"{}\"; {}", path_of(key), quoted(node->scalar),
                                          did_you_mean(node->scalar, choices)));
  return fallback.value_or(0);
}

std::vector<const Node*> Fields::list(const std::string& key) {
  std::vector<const Node*> out;
  const Node* node = child(key);
  if (!node) return out;
  if (node->kind == Node::Kind::kScalar) return {node};
  if (node->kind != Node::Kind::kSequence) {
    error(key, fmt::format("{} is {}; a list is expected", path_of(key), kind_name(node->kind)));
    return out;
  }
  if (node->items.empty()) error(key, fmt::format("{} is empty; list at least one", path_of(key)));
  for (const auto& item : node->items) out.push_back(&item);
  return out;
}

void Fields::error(const std::string& key, const std::string& text) {
  const Node* found = node_.find(key);
  reading_.error(found ? found->place : node_.place, text);
}

void Fields::done() {
  constexpr int kToldInFull = 20;
  const std::vector<std::string> known(known_.begin(), known_.end());
  int unknown = 0;
  const Place* last = nullptr;
  for (const auto& entry : node_.entries) {
    if (known_.contains(entry.key)) continue;
    last = &entry.place;
    if (++unknown > kToldInFull) continue;
    reading_.error(entry.place, fmt::format("unknown key \"{}\"{}; {}", quoted(entry.key),
                                            path_.empty() ? "" : " in " + path_, did_you_mean(entry.key, known)));
  }
  if (unknown > kToldInFull)
    reading_.error(*last, fmt::format("and {} more unknown keys before this one", unknown - kToldInFull - 1));
}

}  // namespace slmsim
