#include "python/binding/loaded_scenario.h"

#include <algorithm>

#include "sim/scenario/link.h"

namespace slmsim::python {
namespace {

Scenario scenario_of(ScenarioFile& file, const Overrides& set) {
  std::vector<Override> parsed;
  for (const auto& text : set) parsed.push_back(parse_override(text));
  return read_scenario(file.link(parsed), file.name());
}

std::string path_of(const std::string& override) { return parse_override(override).path; }

}  // namespace

LoadedScenario::LoadedScenario(const std::string& word, Overrides set)
    : file_(scenario_file(word)), set_(std::move(set)) {
  refuse_twice_overridden(set_);
  ScenarioFile texts{file_};
  scenario_ = std::make_shared<const Scenario>(scenario_of(texts, set_));
  texts_ = std::make_shared<const ScenarioFile>(std::move(texts));  // including the files that it names
}

LoadedScenario::LoadedScenario(std::string file, Overrides set, const std::shared_ptr<const ScenarioFile>& texts)
    : file_(std::move(file)), set_(std::move(set)) {
  ScenarioFile own = *texts;
  scenario_ = std::make_shared<const Scenario>(scenario_of(own, set_));
  texts_ = std::make_shared<const ScenarioFile>(std::move(own));
}

LoadedScenario LoadedScenario::with(const Overrides& more) const {
  refuse_twice_overridden(more);
  Overrides all;
  for (const auto& text : set_) {
    const bool replaced =
        std::any_of(more.begin(), more.end(), [&](const auto& other) { return path_of(other) == path_of(text); });
    if (!replaced) all.push_back(text);
  }
  all.insert(all.end(), more.begin(), more.end());
  return {file_, std::move(all), texts_};
}

Scenario LoadedScenario::narrowed(const Filter& filter) const {
  Scenario out = *scenario_;
  if (const std::string lack = narrow(out, filter); !lack.empty()) throw InputError({}, lack);
  return out;
}

std::function<std::optional<Scenario>(const Overrides&)> LoadedScenario::reload(const Filter& filter) const {
  // Linking caches files, so each thread has a copy.
  const auto texts = std::make_shared<ScenarioFile>(*texts_);
  return [texts, set = set_, filter](const Overrides& more) -> std::optional<Scenario> {
    Overrides all = set;
    all.insert(all.end(), more.begin(), more.end());
    try {
      Scenario scenario = scenario_of(*texts, all);
      narrow(scenario, filter);
      return scenario;
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
}

VerdictOptions LoadedScenario::verdict_options(const Filter& filter) const {
  return verdict_options_of(*texts_, set_, filter);
}

}  // namespace slmsim::python
