#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/scenario/data_root.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

namespace {

// Names in any order: amst+gat is gat+amst.
std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts;
  std::istringstream stream(word);
  for (std::string part; std::getline(stream, part, '+');) parts.push_back(part);
  std::ranges::sort(parts);
  return parts;
}

std::string joined(const Group& group) { return fmt::format("{}", fmt::join(group.names, "+")); }

// Keeps the things that the words name; returns the words that name none.
template <class Thing, class Is>
std::vector<std::string> keep(std::vector<Thing>& things, const std::vector<std::string>& words, Is is) {
  std::vector<std::string> missing;
  for (const auto& word : words) {
    if (std::ranges::none_of(things, [&](const Thing& thing) { return is(thing, word); })) missing.push_back(word);
  }
  if (words.empty()) return missing;
  std::erase_if(things, [&](const Thing& thing) {
    return std::ranges::none_of(words, [&](const std::string& word) { return is(thing, word); });
  });
  return missing;
}

}  // namespace

bool is_group(const Scenario& scenario, const Group& group, const std::string& word) {
  if (word == "all") return group.devices.size() == scenario.platform.devices.size();
  auto names = group.names;
  std::ranges::sort(names);
  return names == parts_of(word);
}

std::string narrow(Scenario& scenario, const Filter& filter) {
  std::string out;
  const auto tell = [&](const std::vector<std::string>& missing, const char* what,
                        const std::vector<std::string>& known) {
    for (const auto& word : missing) {
      const bool near = !nearest(word, known).empty() && known.size() > 1;
      out += fmt::format("{}{} has no {} \"{}\"; {}{}", out.empty() ? "" : "; ", scenario.name, what,
                         printable(word).substr(0, 64), near ? did_you_mean(word, known) + " " : "",
                         fmt::format("it has {}", fmt::join(known, ", ")));
    }
  };
  std::vector<std::string> models, groups, techniques;
  for (const auto& one : scenario.models) models.push_back(one.name);
  for (const auto& one : scenario.groups) groups.push_back(joined(one));
  for (const auto& one : scenario.techniques) techniques.emplace_back(one.technique->name);
  tell(keep(scenario.models, filter.models, [](const auto& m, const auto& word) { return m.name == word; }), "model",
       models);
  tell(keep(scenario.groups, filter.groups,
            [&](const auto& group, const auto& word) { return is_group(scenario, group, word); }),
       "group", groups);
  const auto missing = keep(scenario.techniques, filter.techniques,
                            [](const auto& t, const auto& word) { return t.technique->name == word; });
  tell(missing, "technique", techniques);
  const auto& known = technique_names();
  if (!missing.empty() && std::ranges::all_of(missing, [&](const std::string& word) {
        return std::ranges::find(known, word) != known.end();
      })) {
    techniques.insert(techniques.end(), missing.begin(), missing.end());
    out += fmt::format("; add it under techniques, or by --set 'techniques=[{}]'", fmt::join(techniques, ", "));
  }
  return out;
}

std::string scenario_file(const std::string& word) {
  std::error_code ignored;
  const auto inside = std::filesystem::path(word) / "scenario.yaml";
  if (std::filesystem::exists(inside, ignored)) return inside.string();
  if (!is_name(word) || std::filesystem::exists(word, ignored)) return word;
  for (const auto& root : data_roots(std::filesystem::current_path() / "x")) {
    const auto file = root / "scenarios" / (word + ".yaml");
    if (std::filesystem::exists(file, ignored)) return file.string();
  }
  return word;
}

void refuse_twice_overridden(const Overrides& overrides) {
  std::vector<std::string> keys;
  for (const auto& text : overrides) {
    const Override one = parse_override(text);
    if (std::ranges::find(keys, one.path) != keys.end())
      throw InputError(one.place, fmt::format("{} is overridden twice; keep one of them", one.path));
    if (const std::string rival = rival_of(one.path, keys); !rival.empty())
      throw InputError(one.place, fmt::format("{} excludes {}; leave one out", one.path, rival));
    keys.push_back(one.path);
  }
}

}  // namespace slmsim
