// Values that state their provenance, {value: 8, provenance: measured, source: "..."}, and their possible values.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/fields.h"

namespace slmsim {

Parameter Fields::parameter_of(const FileKey& key, std::string value, Provenance provenance) const {
  return {.path = path_of(key.name),
          .value = std::move(value),
          .provenance = provenance,
          .measure = key.measure,
          .use = key.use,
          .key = key.name,
          .owner = reading_.owner};
}

Fields::Scalar Fields::scalar(const FileKey& asked, bool optional, const std::function<std::string()>& fallback) {
  const std::string& key = asked.name;
  const Node* found = find(key, !optional);
  if (!found && !asked.measure.empty()) {
    reading_.defaults.push_back(parameter_of(asked, fallback(), Provenance::kAssumed));
    reading_.defaults.back().by_default = true;
  }
  if (!found || found->kind == Node::Kind::kScalar) return {found};
  if (found->kind != Node::Kind::kMap) {
    error(key, fmt::format("{} is {}; a single value is expected", path_of(key), kind_name(found->kind)));
    return {};
  }
  Fields stated(*found, path_of(key), reading_);
  const Node* value = stated.find("value", true);
  const bool open = stated.has("between") || stated.has("one_of");
  const std::optional<std::size_t> guess =
      open ? std::optional(static_cast<std::size_t>(Provenance::kAssumed)) : std::nullopt;
  Parameter parameter = parameter_of(asked, "", Provenance::kDatasheet);
  parameter.provenance =
      static_cast<Provenance>(stated.choice({"provenance", "Kind of source of the value."}, provenance_names(), guess));
  parameter.source = stated.text({"source", "Reference of the value, or the data that it was fitted to."}, "");
  if (parameter.source.empty() && parameter.provenance != Provenance::kAssumed)
    stated.error("source", fmt::format("{} states no source; add source: \"...\"", path_of(key)));
  // Most values state none of these.
  if (stated.has("spread"))
    parameter.spread = stated.number(
        {"spread", "Relative spread: 80 % of such values lie within this share of it.", "not known"}, {0, 10}, 0.0);
  if (stated.has("scale")) {
    if (!stated.has("between"))
      stated.error("scale", fmt::format("{}.scale needs a range; add between: [LOW, HIGH]", path_of(key)));
    parameter.log_scale =
        stated.choice({"scale", "Scale of `between`: linear or logarithmic."}, {"lin", "log"}, 0) == 1;
  }
  stated.ignore({"between", "Lower and upper limit of the value."});
  if (stated.has("one_of")) {
    for (const Node* word : stated.list({"one_of", "Possible values, all equally likely."}, {ValueType::any()})) {
      if (word->kind == Node::Kind::kScalar) parameter.one_of.push_back(word->scalar);
    }
  }
  stated.done();
  if (!value) return {};
  if (value->kind != Node::Kind::kScalar) {
    reading_.error(value->place,
                   fmt::format("{}.value is {}; a single value is expected", path_of(key), kind_name(value->kind)));
    return {};
  }
  parameter.value = value->scalar;
  reading_.parameters.push_back(std::move(parameter));
  return {value, &reading_.parameters.back()};
}

void Fields::open_value(Parameter& parameter, const std::string& key, const ValueType& type,
                        const std::function<std::optional<double>(const std::string&)>& parse) {
  parameter.type = type;
  const Node& map = *node_.find(key);
  const auto wrong = [&](const char* part, const std::string& what) {
    reading_.error(map.find(part)->place, fmt::format("{}.{} {}", path_of(key), part, what));
  };
  if (map.find("between") && map.find("one_of")) wrong("one_of", "excludes between; leave one out");
  if (const Node* between = map.find("between")) {
    std::vector<double> ends;
    for (const auto& end : between->items) {
      if (const auto value = end.kind == Node::Kind::kScalar ? parse(end.scalar) : std::nullopt) ends.push_back(*value);
    }
    const auto value = parse(parameter.value);
    if (!value || !type.choices.empty()) return wrong("between", "is for numbers; list words with one_of: [...]");
    if (between->items.size() != 2 || ends.size() != 2 || !(ends[0] < ends[1]))
      return wrong("between", "is not a range of this value; expected [LOW, HIGH] in its unit and limits");
    if (*value < ends[0] || *value > ends[1]) return wrong("between", "does not contain the value itself");
    if (parameter.log_scale && ends[0] <= 0)
      return wrong("between", "begins at or below 0; scale: log needs positive limits");
    parameter.between = {ends[0], ends[1]};
  }
  if (!map.find("one_of")) return;
  for (const auto& word : parameter.one_of) {
    if (!parse(word))
      return wrong("one_of", fmt::format("contains \"{}\", which is not allowed for this value", word.substr(0, 80)));
  }
  const auto& words = parameter.one_of;
  if (words.size() < 2 || std::ranges::find(words, parameter.value) == words.end())
    wrong("one_of", "must list at least two values, including the present one");
}

const Parameter* Fields::stated(const std::string& key) const {
  const bool last = !reading_.parameters.empty() && reading_.parameters.back().path == path_of(key);
  return last ? &reading_.parameters.back() : nullptr;
}

}  // namespace slmsim
