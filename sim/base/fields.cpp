#include "sim/base/fields.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr std::size_t kLongestName = 64;

std::string quoted(const std::string& text) { return text.size() <= 80 ? text : text.substr(0, 77) + "..."; }

// Number meant by "0.1%", "20B" or "50k"; empty where the text has no such ending.
std::optional<double> with_suffix(const std::string& text) {
  constexpr std::pair<std::string_view, double> kSuffixes[] = {{"%", 0.01}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6},
                                                               {"B", 1e9},  {"G", 1e9}, {"T", 1e12}};
  for (const auto& [suffix, factor] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    const auto number = parse_number(std::string_view(text).substr(0, text.size() - suffix.size()));
    return number ? std::optional(*number * factor) : std::nullopt;
  }
  return std::nullopt;
}

ValueType with_provenance(ValueType::Kind kind, double low = 0, double high = 0) {
  return {.kind = kind, .low = low, .high = high, .choices = {}, .items = {}, .stated = true};
}

}  // namespace

const std::vector<std::string>& provenance_names() {
  static const std::vector<std::string> kNames = {"datasheet", "measured", "inferred", "typical", "assumed"};
  return kNames;
}

void Reading::check() const {
  if (!errors.empty()) throw InputError(errors);
}

void check_within(const char* what, double value, const Range<double>& range) {
  if (value >= range.low && value <= range.high) return;
  throw InputError({}, fmt::format("{}: \"{:g}\" is out of range; expected one from {:g} to {:g}", what, value,
                                   range.low, range.high));
}

bool is_name(const std::string& text) {
  const auto good = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' && std::ranges::all_of(text, good);
}

Fields::Fields(const Node& node, std::string path, Reading& reading, SecondNames second_names)
    : node_(node), path_(std::move(path)), reading_(reading), second_names_(std::move(second_names)) {
  if (node.kind != Node::Kind::kMap) {
    reading_.error(node.place, fmt::format("{} is {}; a map of keys and values is expected",
                                           path_.empty() ? "the file" : path_, kind_name(node.kind)));
  }
}

const std::string& Fields::stated_name(const std::string& key) const {
  const auto second = second_names_.find(key);
  return second == second_names_.end() || node_.find(key) ? key : second->second;
}

void Fields::know(const std::string& key) {
  known_.push_back(key);
  if (const auto second = second_names_.find(key); second != second_names_.end()) known_.push_back(second->second);
}

bool Fields::is_known(const std::string& key) const { return std::ranges::find(known_, key) != known_.end(); }

const Node* Fields::find_node(const std::string& key) const {
  const Node* found = node_.find(stated_name(key));
  return found && found->kind == Node::Kind::kNull && !second_names_.empty() ? nullptr : found;
}

void Fields::record(const FileKey& key, const ValueType& as_read, bool required, const std::string& fallback) {
  if (const auto second = second_names_.find(key.name); second != second_names_.end() && second->second != key.name) {
    const std::string theirs = second->second, instead = std::string(key.about) + " In place of " + theirs + ".";
    const SecondNames names = std::exchange(second_names_, {{theirs, theirs}});
    record({theirs, key.about, key.otherwise}, as_read, required, fallback);
    second_names_ = {};
    record({key.name, instead, "as " + theirs}, as_read, false);
    second_names_ = names;
    return;
  }
  ValueType type = as_read;
  type.nullable |= nullable_.contains(key.name) || (!second_names_.empty() && !required);
  const bool constant = key.otherwise.empty();  // the meaning of absence may depend on another key's value
  const bool listed = type.kind == ValueType::Kind::kList && type.count.low > 0;
  reading_.description->add({path_,
                             key.name,
                             std::string(key.about),
                             {type},
                             constant && (required || listed),
                             constant ? fallback : "",
                             std::string(key.otherwise)});
}

const Node* Fields::child(const FileKey& key, const ValueType& type, bool required) {
  if (describing()) return record(key, type, required), reading_.description->sample_of(type);
  return find(key.name, required);
}

const Node* Fields::find(const std::string& key, bool required) {
  know(key);
  const Node* found = required ? node_.find(stated_name(key)) : find_node(key);
  if (!found && required && node_.kind == Node::Kind::kMap) {
    reading_.error(node_.place, fmt::format("{} has no \"{}\"; it is required", path_.empty() ? "the file" : path_,
                                            stated_name(key)));
  }
  return found;
}

std::optional<std::vector<const Entry*>> Fields::named_entries(const FileKey& key, bool required) {
  if (describing()) {
    Fields names(*child(key, required), path_of(key.name), reading_);
    names.record({kAnyName, key.about}, ValueType::map(), false);
    return std::vector{reading_.description->sample_entry()};
  }
  const Node* map = find(key.name, required);
  if (!map) return std::nullopt;
  std::vector<const Entry*> entries;
  for (const auto& entry : map->entries) entries.push_back(&entry);
  if (map->kind == Node::Kind::kMap) return entries;
  reading_.error(map->place,
                 fmt::format("{} is {}; a map of names is expected", path_of(key.name), kind_name(map->kind)));
  return std::nullopt;
}

void Fields::check_name(const Entry& entry) {
  if (!is_name(entry.key))
    reading_.error(entry.place,
                   fmt::format("\"{}\" is not a name; use letters, digits, '-', '_' and '.'", entry.key.substr(0, 64)));
}

double Fields::read_quantity(const FileKey& key, Dimension dimension, double low, double high,
                             std::optional<double> fallback) {
  const double back = fallback.value_or(low);
  if (describing()) {
    auto type = with_provenance(ValueType::Kind::kQuantity, low, high);
    type.dimension = dimension;
    return record(key, type, !fallback, fallback ? exact_text(back, dimension) : ""), back;
  }
  const auto [node, stated] = scalar(key, fallback.has_value(), [&] { return exact_text(back, dimension); });
  if (!node) return back;
  if (stated) {
    auto type = with_provenance(ValueType::Kind::kQuantity, low, high);
    type.dimension = dimension;
    open_value(*stated, key.name, type, [&](const std::string& word) -> std::optional<double> {
      const auto [value, problem] = parse_quantity(word, dimension);
      return problem.empty() && value >= low && value <= high ? std::optional(value) : std::nullopt;
    });
  }
  const auto [value, problem] = parse_quantity(quoted(node->scalar), dimension);
  if (!problem.empty()) {
    reading_.error(node->place, fmt::format("{}: {}", path_of(key.name), problem));
    return back;
  }
  if (!(value >= low && value <= high)) {
    reading_.error(node->place, fmt::format("{}: \"{}\" is out of range; expected {} to {}", path_of(key.name),
                                            quoted(node->scalar), to_text(low, dimension), to_text(high, dimension)));
    return back;
  }
  return value;
}

double Fields::number(const FileKey& key, Range<double> range, std::optional<double> fallback) {
  const double back = fallback.value_or(range.low);
  if (describing()) {
    const auto type = with_provenance(ValueType::Kind::kNumber, range.low, range.high);
    return record(key, type, !fallback, fallback ? fmt::format("{:.12g}", back) : ""), back;
  }
  const auto [node, stated] = scalar(key, fallback.has_value(), [&] { return fmt::format("{:.6g}", back); });
  if (!node) return back;
  if (stated) {
    const auto type = with_provenance(ValueType::Kind::kNumber, range.low, range.high);
    open_value(*stated, key.name, type, [&](const std::string& word) {
      const auto value = parse_number(word);
      return value && *value >= range.low && *value <= range.high ? value : std::nullopt;
    });
  }
  const auto value = parse_number(node->scalar);
  if (value && *value >= range.low && *value <= range.high) return *value;
  auto meant = with_suffix(node->scalar);
  if (meant && (*meant < range.low || *meant > range.high)) meant.reset();
  reading_.error(node->place, fmt::format("{}: \"{}\" is {}; expected a number from {:g} to {:g}{}", path_of(key.name),
                                          quoted(node->scalar), value ? "out of range" : "not a number", range.low,
                                          range.high, meant ? fmt::format(": {:g}", *meant) : ""));
  return back;
}

std::int64_t Fields::integer(const FileKey& key, Range<std::int64_t> range, std::optional<std::int64_t> fallback) {
  const std::int64_t back = fallback.value_or(range.low);
  const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
  if (describing()) {
    const auto type = with_provenance(ValueType::Kind::kInteger, low, high);
    return record(key, type, !fallback, fallback ? std::to_string(back) : ""), back;
  }
  const auto [node, stated] = scalar(key, fallback.has_value(), [&] { return std::to_string(back); });
  if (!node) return back;
  if (stated) {
    open_value(*stated, key.name, with_provenance(ValueType::Kind::kInteger, low, high), [&](const std::string& word) {
      const auto value = parse_number(word);
      return value && *value >= low && *value <= high && *value == std::floor(*value) ? value : std::nullopt;
    });
  }
  const auto value = parse_number(node->scalar);
  const bool whole = value && *value == std::floor(*value);
  if (whole && *value >= low && *value <= high) return static_cast<std::int64_t>(*value);
  reading_.error(node->place, fmt::format("{}: \"{}\" is {}; expected a whole number from {} to {}", path_of(key.name),
                                          quoted(node->scalar), whole ? "out of range" : "not a whole number",
                                          range.low, range.high));
  return back;
}

bool Fields::flag(const FileKey& key, bool fallback) {
  static const std::vector<std::string> kWords = {"no", "yes", "false", "true"};
  const std::size_t back = fallback ? 1 : 0;
  if (describing()) {
    auto type = with_provenance(ValueType::Kind::kFlag);
    type.choices = kWords;
    return record(key, type, false, kWords[back]), fallback;
  }
  return read_choice(key, kWords, back) % 2 == 1;
}

std::string Fields::name(const FileKey& key, const std::optional<std::string>& fallback) {
  if (describing()) {
    record(key, with_provenance(ValueType::Kind::kName), !fallback, fallback.value_or(""));
    return fallback.value_or(kAnyName);
  }
  const Node* node = scalar(key, fallback.has_value(), [&] { return fallback.value_or(""); }).node;
  if (!node) return fallback.value_or("");
  if (is_name(node->scalar)) return node->scalar;
  reading_.error(node->place, fmt::format("{}: \"{}\" is not a name; use letters, digits, '-', '_' and '.', at most {}",
                                          path_of(key.name), quoted(node->scalar), kLongestName));
  return fallback.value_or("");
}

std::string Fields::text(const FileKey& key, const std::string& fallback) {
  if (describing()) return record(key, ValueType::text(), false), fallback;
  const Node* node = find(key.name, false);
  if (!node) return fallback;
  if (node->kind == Node::Kind::kScalar) return node->scalar;
  reading_.error(node->place, fmt::format("{} is {}; text is expected", path_of(key.name), kind_name(node->kind)));
  return fallback;
}

std::size_t Fields::choice(const FileKey& key, const std::vector<std::string>& choices,
                           std::optional<std::size_t> fallback) {
  if (describing()) {
    auto type = with_provenance(ValueType::Kind::kChoice);
    type.choices = choices;
    return record(key, type, !fallback, fallback ? choices[*fallback] : ""), fallback.value_or(0);
  }
  return read_choice(key, choices, fallback);
}

std::size_t Fields::read_choice(const FileKey& asked, const std::vector<std::string>& choices,
                                std::optional<std::size_t> fallback) {
  const std::string& key = asked.name;
  const auto [node, stated] = scalar(asked, fallback.has_value(), [&] { return fallback ? choices[*fallback] : ""; });
  if (!node) return fallback.value_or(0);
  if (stated) {
    auto type = with_provenance(ValueType::Kind::kChoice);
    type.choices = choices;
    open_value(*stated, key, type, [&](const std::string& word) -> std::optional<double> {
      const auto at = std::ranges::find(choices, word);
      return at == choices.end() ? std::nullopt : std::optional<double>(at - choices.begin());
    });
  }
  const auto at = std::ranges::find(choices, node->scalar);
  if (at != choices.end()) return static_cast<std::size_t>(at - choices.begin());
  // A list, or "^Tree", which excludes it in NCCL, is not a name misspelt.
  const bool is_one = node->scalar.find_first_of(",^") == std::string::npos;
  reading_.error(node->place, fmt::format("{}: unknown value \"{}\"; {}", path_of(key), quoted(node->scalar),
                                          is_one ? remedy(node->scalar, choices)
                                                 : fmt::format("one of {} is expected", fmt::join(choices, ", "))));
  return fallback.value_or(0);
}

bool Fields::forks_on(const std::string& key) {
  if (!describing()) return has(key);
  return reading_.description->take(path_, "", {"with " + key, "without " + key}) == 0;
}

std::size_t Fields::forking_choice(const FileKey& key, const std::vector<std::string>& choices,
                                   std::optional<std::size_t> fallback) {
  const std::size_t chosen = choice(key, choices, fallback);
  return describing() ? reading_.description->take(path_, key.name, choices) : chosen;
}

std::vector<const Node*> Fields::list(const FileKey& key, const std::vector<ValueType>& items, Count count) {
  const Node* node = child(key, ValueType::list(items, count), false);
  std::vector<const Node*> out;
  if (!node) return out;
  if (node->kind == Node::Kind::kScalar) return {node};
  if (node->kind != Node::Kind::kSequence) {
    error(key.name, fmt::format("{} is {}; a list is expected", path_of(key.name), kind_name(node->kind)));
    return out;
  }
  if (node->items.empty()) error(key.name, fmt::format("{} is empty; list at least one", path_of(key.name)));
  for (const auto& item : node->items) out.push_back(&item);
  return out;
}

bool Fields::has_value(const std::string& key) {
  if (describing()) nullable_.insert(key);
  return has(key) && (describing() || find_node(key)->kind != Node::Kind::kNull);
}

bool Fields::has_number(const std::string& key) {
  const Node* found = has(key) && !describing() ? find_node(key) : nullptr;
  return describing() || (found && found->kind == Node::Kind::kScalar && parse_number(found->scalar));
}

void Fields::ignore(const FileKey& key, const ValueType& type) {
  know(key.name);
  describe(key, type);
}

void Fields::describe(const FileKey& key, const ValueType& type) {
  if (describing()) record(key, type, false);
}

void Fields::error(const std::string& key, const std::string& text) {
  const Node* found = node_.find(stated_name(key));
  reading_.error(found ? found->place : node_.place, text);
}

void Fields::done() {
  if (describing()) reading_.description->closed.insert(path_);
  std::vector<const Entry*> all;
  for (const auto& entry : node_.entries) all.push_back(&entry);
  refuse_unknown(all);
}

void Fields::done_but_for_its_own() {
  std::vector<const Entry*> laid_on;
  for (const auto& entry : node_.entries) {
    const auto &source = entry.place.source, &own = node_.place.source;
    if (source && own && source->name != own->name) laid_on.push_back(&entry);
  }
  refuse_unknown(laid_on);
}

std::string Fields::remedy(const std::string& word, const std::vector<std::string>& known,
                           std::string_view page) const {
  const auto hint = hints_.find(word);
  return hint != hints_.end() ? hint->second : did_you_mean(word, known, page);
}

void Fields::refuse_unknown(const std::vector<const Entry*>& entries) {
  if (std::ranges::all_of(entries, [&](const Entry* entry) { return is_known(entry->key); })) return;
  constexpr int kToldInFull = 20;
  const std::set<std::string> sorted(known_.begin(), known_.end());
  const std::vector<std::string> known(sorted.begin(), sorted.end());
  int unknown = 0;
  const Place* last = nullptr;
  for (const Entry* entry : entries) {
    if (is_known(entry->key)) continue;
    last = &entry->place;
    if (++unknown > kToldInFull) continue;
    reading_.error(entry->place,
                   fmt::format("unknown key \"{}\"{}; {}", quoted(entry->key), path_.empty() ? "" : " in " + path_,
                               remedy(entry->key, known, "docs/reference.md")));
  }
  if (unknown > kToldInFull)
    reading_.error(*last, fmt::format("and {} more unknown keys before this one", unknown - kToldInFull - 1));
}

}  // namespace slmsim
