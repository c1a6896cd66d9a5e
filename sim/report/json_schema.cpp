#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/file_keys.h"
#include "sim/scenario/link.h"

namespace slmsim {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ValueType::Kind;

constexpr const char* kNumber = R"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)";
constexpr const char* kName = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$";

Json bound(const ValueType& type, double value) {
  if (type.kind == Kind::kInteger) return static_cast<std::int64_t>(value);
  return value;
}

// Editors may take a number for what YAML reads as text, and the other way round.
Json plain_number(const ValueType& type) {
  return {{"type", {type.kind == Kind::kInteger ? "integer" : "number", "string"}},
          {"minimum", bound(type, type.low)},
          {"maximum", bound(type, type.high)},
          {"pattern", fmt::format("^ *{} *$", kNumber)}};
}

Json plain(const ValueType& type) {
  switch (type.kind) {
    case Kind::kQuantity:
      return {{"type", "string"},
              {"pattern", fmt::format("^ *{} *({}) *$", kNumber, fmt::join(unit_names(type.dimension), "|"))}};
    case Kind::kNumber:
    case Kind::kInteger:
      return plain_number(type);
    case Kind::kFlag: {
      Json words = {true, false};
      for (const auto& word : type.choices) words.push_back(word);
      return {{"enum", words}};
    }
    case Kind::kChoice:
      return {{"enum", type.choices}};
    case Kind::kName:
      return {{"type", {"string", "number"}}, {"pattern", kName}};
    case Kind::kFile:
      return {{"type", {"string", "number"}}, {"minLength", 1}};
    default:
      return {{"type", {"string", "number", "boolean"}}};
  }
}

// {value: 103 ms, provenance: measured, source: "ping"}: as definition, and with the type of its value.
Json stated() {
  return {{"type", "object"},
          {"properties",
           {{"value", true},
            {"provenance", {{"enum", provenance_names()}}},
            {"source", {{"type", "string"}, {"minLength", 1}}},
            {"spread", {{"type", "number"}, {"minimum", 0}, {"maximum", 10}}},
            {"between", {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}}},
            {"scale", {{"enum", {"lin", "log"}}}},
            {"one_of", {{"type", "array"}, {"minItems", 2}}}}},
          {"required", Json::array({"value"})},
          {"anyOf",
           {{{"required", {"provenance", "source"}}},
            {{"required", Json::array({"between"})}},
            {{"required", Json::array({"one_of"})}}}},
          {"additionalProperties", false}};
}

Json or_stated(const Json& value) {
  const Json object = {{"$ref", "#/$defs/stated"}, {"properties", {{"value", value}}}};
  return {{"anyOf", {value, object}}};
}

Json any_of(std::vector<Json> schemas) {
  if (schemas.size() == 1) return std::move(schemas.front());
  return {{"anyOf", std::move(schemas)}};
}

std::string described(const KeyRecord& record) {
  std::string text = record.about;
  for (const auto& type : record.types) {
    if (const auto range = range_text(type); !range.empty()) text += fmt::format(" Range: {}.", range);
  }
  if (!record.otherwise.empty()) text += fmt::format(" Default: {}.", record.otherwise);
  return text;
}

Json as_value(const KeyRecord& record) {
  const Kind kind = record.types.front().kind;
  if (kind == Kind::kFlag) return record.fallback == "yes";
  if (kind == Kind::kNumber || kind == Kind::kInteger) return Json::parse(record.fallback);
  return record.fallback;
}

class SchemaWriter {
 public:
  SchemaWriter(const std::vector<FileKeys>& files) : files_(files) {}

  Json write(const std::string& name) {
    const FileKeys& file = find(name);
    const auto root = file.keys.alternatives("");
    const bool extends =
        std::ranges::any_of(root.front().keys, [](const auto& record) { return record.key == kExtends.name; });
    Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", fmt::format("slmsim: {}", file.title)},
                {"description", file.about}};
    if (extends) {
      out["if"] = {{"required", {kExtends.name}}};
      out["then"] = reference(name, false);
      out["else"] = reference(name, true);
    } else {
      out.update(reference(name, true));
    }
    Json definitions = {{"stated", stated()}};
    while (!wanted_.empty()) {
      const auto [definition, wanted] = *wanted_.begin();
      written_.insert(definition);
      wanted_.erase(definition);
      definitions[definition] = map(find(wanted.file).keys, "", wanted.complete);
    }
    definitions.update(shared_);
    out["$defs"] = std::move(definitions);
    return out;
  }

 private:
  struct Definition {
    std::string file;
    bool complete = true;
  };

  const FileKeys& find(const std::string& name) const {
    return *std::ranges::find_if(files_, [&](const auto& file) { return file.name == name; });
  }

  // `complete`: required keys must be present; not so in a part of a scenario that extends another.
  Json reference(const std::string& file, bool complete) {
    const std::string definition = complete ? file : file + "_part";
    if (!written_.contains(definition)) wanted_[definition] = {file, complete};
    return {{"$ref", fmt::format("#/$defs/{}", definition)}};
  }

  Json map(const KeyTree& tree, const std::string& path, bool complete) {
    std::vector<Json> schemas;
    for (const auto& alternative : tree.alternatives(path)) schemas.push_back(object(tree, alternative, complete));
    return schemas.empty() ? Json{{"type", "object"}} : any_of(std::move(schemas));
  }

  Json object(const KeyTree& tree, const Alternative& alternative, bool complete) {
    Json out = {{"type", "object"}};
    if (!alternative.when.empty()) out["title"] = alternative.when;
    std::vector<std::string> required;
    Json others = !alternative.closed;
    for (const auto& record : alternative.keys) {
      Json schema = value(tree, record, complete);
      if (record.key == kAnyName) {
        others = std::move(schema);
        out["propertyNames"] = {{"pattern", kName}};
      } else {
        out["properties"][record.key] = std::move(schema);
      }
      if (record.required) required.push_back(record.key);
    }
    if (complete && !required.empty()) out["required"] = required;
    if (others != Json(true)) out["additionalProperties"] = std::move(others);
    return out;
  }

  Json value(const KeyTree& tree, const KeyRecord& record, bool complete) {
    Json out = {{"description", described(record)}};
    if (!record.fallback.empty()) out["default"] = as_value(record);
    std::vector<Json> schemas;
    for (const auto& type : record.types) {
      schemas.push_back(value(tree, inner_path(record, type), type, complete));
      if (type.nullable) schemas.push_back({{"type", "null"}});
    }
    out.update(any_of(std::move(schemas)));
    return out;
  }

  Json value(const KeyTree& tree, const std::string& inner, const ValueType& type, bool complete) {
    switch (type.kind) {
      case Kind::kAny:
        return Json::object();
      case Kind::kMap:
        return map(tree, inner, complete);
      case Kind::kFile:
        return {{"anyOf", {plain(type), reference(type.file->name, complete)}}};
      case Kind::kList:
        return list(tree, inner, type);
      case Kind::kQuantity:
      case Kind::kNumber:
      case Kind::kInteger:
      case Kind::kName:
      case Kind::kFlag:
        return shared(type);
      default:
        return type.stated ? or_stated(plain(type)) : plain(type);
    }
  }

  // A type shared by many keys is defined once: "whole_number_1_to_4096".
  Json shared(const ValueType& type) {
    std::string name = fmt::format("{}{}", type.stated ? "" : "plain ", kind_text(type));
    if (type.kind == Kind::kNumber || type.kind == Kind::kInteger) name += fmt::format("_{}", range_text(type));
    std::ranges::replace(name, ' ', '_');
    shared_[name] = type.stated ? or_stated(plain(type)) : plain(type);
    return {{"$ref", fmt::format("#/$defs/{}", name)}};
  }

  // A single value counts as a list of one. The contents of a list are never merged with a base's, so they are complete.
  Json list(const KeyTree& tree, const std::string& inner, const ValueType& type) {
    std::vector<Json> items, schemas;
    for (const auto& item : type.items) {
      items.push_back(value(tree, inner, item, true));
      if (type.count.low <= 1 && item.kind != Kind::kMap && item.kind != Kind::kList) schemas.push_back(plain(item));
    }
    Json array = {
        {"type", "array"}, {"items", any_of(std::move(items))}, {"minItems", std::max<std::size_t>(1, type.count.low)}};
    if (type.count.high != kAnyCount.high) array["maxItems"] = type.count.high;
    schemas.push_back(std::move(array));
    return any_of(std::move(schemas));
  }

  const std::vector<FileKeys>& files_;
  std::map<std::string, Definition> wanted_;
  std::set<std::string> written_;
  Json shared_ = Json::object();
};

}  // namespace

std::string to_json_schema(const std::vector<FileKeys>& files, const std::string& name) {
  return SchemaWriter(files).write(name).dump(2) + "\n";
}

}  // namespace slmsim
