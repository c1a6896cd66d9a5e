#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/engine/simulate.h"

namespace slmsim {

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
  add_output_option(verb, options.output);
  add_set_option(verb, options.overrides);
}

std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known) {
  const auto at = std::ranges::find(known, word);
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
  // From here on no input can be invalid.
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
