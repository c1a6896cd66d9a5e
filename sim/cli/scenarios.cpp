#include "sim/cli/scenarios.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/suggest.h"
#include "sim/cli/filter.h"
#include "sim/engine/simulate.h"
#include "sim/scenario/data_root.h"
#include "sim/scenario/override.h"

namespace slmsim {

std::string scenario_file(const std::string& word) {
  std::error_code ignored;
  if (!is_name(word) || std::filesystem::exists(word, ignored)) return word;
  for (const auto& root : data_roots(std::filesystem::current_path() / "x")) {
    const auto file = root / "scenarios" / (word + ".yaml");
    if (std::filesystem::exists(file, ignored)) return file.string();
  }
  return word;
}

void refuse_twice_overridden(const Overrides& overrides) {
  std::set<std::string> keys;
  for (const auto& text : overrides) {
    const Override one = parse_override(text);
    if (!keys.insert(one.path).second)
      throw InputError(one.place, fmt::format("{} is overridden twice; keep one of them", one.path));
  }
}

void add_set_option(CLI::App& verb, Overrides& overrides) {
  verb.add_option("--set", overrides,
                  "override a value by its path, e.g. platform.links.wan.rtt=57.4ms; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
}

void add_scenario_options(CLI::App& verb, ScenarioOptions& options) {
  verb.add_option("SCENARIO", options.scenarios, "scenario files, or names as slmsim list scenarios prints them")
      ->required()
      ->transform(scenario_file);
  verb.add_option("--output,-o", options.output, "write the result to this file instead of standard output");
  add_set_option(verb, options.overrides);
}

std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known) {
  const auto at = std::find(known.begin(), known.end(), word);
  if (at == known.end())
    throw InputError({},
                     fmt::format("{} \"{}\" is unknown; {}", option, word.substr(0, 64), did_you_mean(word, known)));
  return static_cast<std::size_t>(at - known.begin());
}

std::vector<Scenario> load_all(const ScenarioOptions& options) {
  refuse_twice_overridden(options.overrides);
  std::vector<Scenario> scenarios;
  std::vector<Error> errors;
  for (const auto& file : options.scenarios) {
    try {
      scenarios.push_back(load_scenario(file, options.overrides));
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.errors().begin(), error.errors().end());
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  // From here on no input can be wrong.
  std::size_t links = 0;
  for (const auto& scenario : scenarios) links = std::max(links, Network(scenario.platform).links().size());
  reserve_network(links);
  return scenarios;
}

void add_filter_options(CLI::App& verb, Filter& filter) {
  const auto add = [&](const char* name, std::vector<std::string>& words, const char* about) {
    verb.add_option(name, words, about)->take_all()->allow_extra_args(false);
  };
  add("--model,-m", filter.models, "only this model of the scenario's; may be repeated");
  add("--group,-g", filter.groups, "only this group of the scenario's, such as gat+amst or all; may be repeated");
  add("--technique,-t", filter.techniques,
      "only this technique of the scenario's (slmsim list techniques); may be repeated");
}

namespace {

// Names in any order: amst+gat is gat+amst.
std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts;
  std::istringstream stream(word);
  for (std::string part; std::getline(stream, part, '+');) parts.push_back(part);
  std::sort(parts.begin(), parts.end());
  return parts;
}

bool is_group(const Scenario& scenario, const Group& group, const std::string& word) {
  if (word == "all") return group.devices.size() == scenario.platform.devices.size();
  auto names = group.names;
  std::sort(names.begin(), names.end());
  return names == parts_of(word);
}

std::string joined(const Group& group) { return fmt::format("{}", fmt::join(group.names, "+")); }

// Leaves those things whose name is asked for; those words that are of none of them come back.
template <class Thing, class Is>
std::vector<std::string> keep(std::vector<Thing>& things, const std::vector<std::string>& words, Is is) {
  std::vector<std::string> missing;
  for (const auto& word : words) {
    if (std::none_of(things.begin(), things.end(), [&](const Thing& thing) { return is(thing, word); }))
      missing.push_back(word);
  }
  if (words.empty()) return missing;
  std::erase_if(things, [&](const Thing& thing) {
    return std::none_of(words.begin(), words.end(), [&](const std::string& word) { return is(thing, word); });
  });
  return missing;
}

}  // namespace

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
  tell(keep(scenario.techniques, filter.techniques,
            [](const auto& t, const auto& word) { return t.technique->name == word; }),
       "technique", techniques);
  return out;
}

std::vector<Scenario> load_filtered(const ScenarioOptions& options, const Filter& filter,
                                    std::vector<std::string>* files) {
  for (const auto& word : filter.techniques) index_of("--technique", word, technique_names());
  std::vector<Scenario> out;
  std::vector<std::string> lacks;
  std::size_t number = 0;
  for (auto& scenario : load_all(options)) {
    const std::string& file = options.scenarios[number++];
    std::string lack = narrow(scenario, filter);
    if (!lack.empty()) {
      lacks.push_back(std::move(lack));
      continue;
    }
    if (files) files->push_back(file);
    out.push_back(std::move(scenario));
  }
  if (out.empty()) throw InputError({}, fmt::format("{}", fmt::join(lacks, "; ")));
  for (const auto& lack : lacks) fmt::print(stderr, "slmsim: left out: {}\n", lack);
  return out;
}

}  // namespace slmsim
