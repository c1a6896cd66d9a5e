#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/file_keys.h"

namespace slmsim {
namespace {

using Kind = ValueType::Kind;

// Names of dimensions, in their order.
constexpr const char* kDimensions[] = {"time", "size", "data rate", "work rate", "power"};
static_assert(std::size(kDimensions) == static_cast<std::size_t>(Dimension::kPower) + 1);

// "`a`, `b` or `c`"
std::string words_text(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  return out;
}

std::string plural_text(const ValueType& type);

std::string type_text(const ValueType& type) {
  switch (type.kind) {
    case Kind::kFlag:
    case Kind::kChoice:
      return type.kind == Kind::kFlag ? "`yes` or `no`" : words_text(type.choices);
    case Kind::kFile:
      return fmt::format("a {}: a name of `{}`, the path of a file, or a map with [its keys](#{})", type.file->what,
                         type.file->folder, type.file->name);
    case Kind::kList: {
      std::vector<std::string> items;
      for (const auto& item : type.items) items.push_back(plural_text(item));
      return fmt::format("list of {}", fmt::join(items, " or "));
    }
    default:
      return kind_text(type);
  }
}

// Plural form, for lists.
std::string plural_text(const ValueType& type) {
  switch (type.kind) {
    case Kind::kChoice:
    case Kind::kAny:
      return type_text(type);
    case Kind::kFile:
      return fmt::format("{}s: names of `{}`, paths of files, or maps with [their keys](#{})", type.file->what,
                         type.file->folder, type.file->name);
    case Kind::kList:
      return fmt::format("lists{}", type_text(type).substr(std::string_view("list").size()));
    default:
      return kind_text(type) + "s";
  }
}

std::string types_text(const std::vector<ValueType>& types) {
  std::vector<std::string> texts;
  texts.reserve(types.size());
  for (const auto& type : types) texts.push_back(type_text(type));
  return fmt::format("{}", fmt::join(texts, ", or "));
}

std::string default_text(const KeyRecord& record) {
  if (record.required) return "required";
  return record.fallback.empty() ? record.otherwise : fmt::format("`{}`", record.fallback);
}

// Keys with the same description share a row.
std::string table(const std::vector<KeyRecord>& keys) {
  std::vector<std::pair<std::string, std::string>> rows;  // names and their description
  for (const auto& record : keys) {
    std::string ranges;
    for (const auto& type : record.types) ranges += range_text(type);
    const std::string name = fmt::format("`{}`", record.key);
    const std::string said =
        fmt::format("{} | {} | {} | {}", types_text(record.types), ranges, default_text(record), record.about);
    const auto same = std::ranges::find_if(rows, [&](const auto& row) { return row.second == said; });
    if (same == rows.end()) {
      rows.emplace_back(name, said);
    } else {
      same->first += ", " + name;
    }
  }
  std::string out = "| key | type | range | default | is |\n|---|---|---|---|---|\n";
  for (const auto& [names, said] : rows) out += fmt::format("| {} | {} |\n", names, said);
  return out;
}

// One map of a file; maps with the same keys share a table.
struct Section {
  std::vector<std::string> names;
  std::string table;
};

class SectionWriter {
 public:
  explicit SectionWriter(const KeyTree& tree) : tree_(tree) {}

  void add(const std::string& map, const std::string& shown) {
    for (const auto& alternative : tree_.alternatives(map)) {
      const bool only_names = alternative.keys.size() == 1 && alternative.keys.front().key == kAnyName &&
                              alternative.keys.front().types.front().kind == Kind::kMap;
      if (!only_names) {
        std::string heading = shown.empty() ? alternative.when : fmt::format("`{}`", shown);
        if (!shown.empty() && !alternative.when.empty()) heading += fmt::format(" ({})", alternative.when);
        add_section(std::move(heading), table(alternative.keys));
      }
      for (const auto& record : alternative.keys) add_inner(record, shown);
    }
  }

  std::vector<Section> take() { return std::move(sections_); }

 private:
  void add_inner(const KeyRecord& record, const std::string& shown) {
    const std::string name = shown.empty() ? record.key : shown + "." + record.key;
    for (const auto& type : record.types) {
      const bool maps = type.kind == Kind::kMap || (type.kind == Kind::kList && type.items.front().kind == Kind::kMap);
      if (maps) add(inner_path(record, type), type.kind == Kind::kList ? name + ".0" : name);
    }
  }

  void add_section(std::string name, std::string table) {
    const auto same = std::ranges::find_if(sections_, [&](const auto& section) { return section.table == table; });
    if (same == sections_.end()) {
      sections_.push_back({{std::move(name)}, std::move(table)});
    } else if (std::ranges::find(same->names, name) == same->names.end()) {
      same->names.push_back(std::move(name));
    }
  }

  const KeyTree& tree_;
  std::vector<Section> sections_;
};

std::string units_text() {
  std::string out = "| quantity | units |\n|---|---|\n";
  for (std::size_t i = 0; i < std::size(kDimensions); ++i) {
    std::vector<std::string> units;
    for (const auto& unit : unit_names(static_cast<Dimension>(i))) units.push_back(fmt::format("`{}`", unit));
    out += fmt::format("| {} | {} |\n", kDimensions[i], fmt::join(units, " "));
  }
  return out;
}

}  // namespace

std::string kind_text(const ValueType& type) {
  constexpr const char* kNames[] = {"",     "number", "whole number", "yes or no", "word",    "name",
                                    "text", "file",   "list",         "map",       "anything"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Kind::kAny) + 1);
  return type.kind == Kind::kQuantity ? kDimensions[static_cast<std::size_t>(type.dimension)]
                                      : kNames[static_cast<std::size_t>(type.kind)];
}

std::string range_text(const ValueType& type) {
  switch (type.kind) {
    case Kind::kQuantity:
      return fmt::format("{} to {}", exact_text(type.low, type.dimension), exact_text(type.high, type.dimension));
    case Kind::kInteger:
      return fmt::format("{} to {}", static_cast<std::int64_t>(type.low), static_cast<std::int64_t>(type.high));
    case Kind::kNumber:
      return fmt::format("{:.12g} to {:.12g}", type.low, type.high);
    case Kind::kList:
      if (type.count.high == kAnyCount.high) return type.count.low > 1 ? fmt::format("{} or more", type.count.low) : "";
      return type.count.low == type.count.high
                 ? fmt::format("{} of them", type.count.low)
                 : fmt::format("{} to {} of them", std::max<std::size_t>(1, type.count.low), type.count.high);
    default:
      return "";
  }
}

std::string to_markdown(const FileKeys& file) {
  SectionWriter writer(file.keys);
  writer.add("", "");
  std::string out = fmt::format("## {}\n\n{}\n", file.name, file.about);
  for (const auto& section : writer.take()) {
    const std::string heading = fmt::format("{}", fmt::join(section.names, ", "));
    out += fmt::format("{}\n{}", heading.empty() ? "" : fmt::format("\n### {}\n", heading), section.table);
  }
  return out;
}

std::string to_markdown(const std::vector<FileKeys>& files) {
  std::vector<std::string> provenances;
  for (const auto& name : provenance_names()) provenances.push_back(fmt::format("`{}`", name));
  std::string out = fmt::format(
      R"(# Every key of every file

Printed by `slmsim schema --format markdown`, from the program's own descriptions of its keys.
`slmsim schema NAME` prints a chapter as a JSON Schema, for editors. Names in capitals stand for your own names, `0` for
each item of a list. `--set` has a key's whole path, such as `platform.links.wan.rtt`.

A quantity is a number and its unit, such as `103 ms`; a bare number is an error.

{}
A value may also state its source: `{{value: 103 ms, provenance: measured, source: "ping"}}`, with the provenance
{}. A name has letters, digits, `-`, `_` and `.`, at most 64 characters.

)",
      units_text(), fmt::join(provenances, ", "));
  std::vector<std::string> chapters;
  chapters.reserve(files.size());
  for (const auto& file : files) chapters.push_back(to_markdown(file));
  return out + fmt::format("{}", fmt::join(chapters, "\n"));
}

}  // namespace slmsim
