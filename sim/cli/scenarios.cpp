#include "sim/cli/scenarios.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/suggest.h"
#include "sim/engine/simulate.h"
#include "sim/scenario/data_root.h"

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

void add_scenario_options(CLI::App& verb, ScenarioOptions& options) {
  verb.add_option("SCENARIO", options.scenarios, "scenario files, or names as slmsim list scenarios prints them")
      ->required()
      ->transform(scenario_file);
  verb.add_option("--output,-o", options.output, "write the result to this file instead of standard output");
  verb.add_option("--set", options.overrides,
                  "override a value by its path, e.g. platform.links.wan.rtt=57.4ms; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
}

std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known) {
  const auto at = std::find(known.begin(), known.end(), word);
  if (at == known.end())
    throw InputError({},
                     fmt::format("{} \"{}\" is unknown; {}", option, word.substr(0, 64), did_you_mean(word, known)));
  return static_cast<std::size_t>(at - known.begin());
}

std::vector<Scenario> load_all(const ScenarioOptions& options) {
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

}  // namespace slmsim
