#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/search/space.h"

namespace slmsim {

std::string Space::describe(const Choice& choice) const {
  const RunSetup setup = this->setup(choice);
  std::vector<std::string> words;
  const auto add = [&](std::string text) {
    if (!text.empty()) words.push_back(std::move(text));
  };
  if (is_as_given(choice)) words.emplace_back("as the scenario has it");
  const auto training = training_dimensions();
  for (std::size_t i = 0; i < training.size(); ++i) add(training[i].words(setup, choice[kTraining + i]));
  const auto& variations = techniques_[number(choice, kTechniqueOf)].variations;
  for (std::size_t i = 0; i < variations.size() && !is_as_given(choice); ++i)
    add(variations[i].words(setup.options, choice[kOwn + i]));
  const auto settings = setting_dimensions();
  for (std::size_t i = 0; i < settings.size(); ++i) add(settings[i].words(setup, choice[kSettings + i]));
  return fmt::format("{}", fmt::join(words, ", "));
}

Overrides Space::overrides(const Choice& choice) const {
  const RunSetup setup = this->setup(choice);
  std::vector<std::string> options;
  for (const OptionSpec* option : options_of(*setup.options.technique)) {
    const OptionValue& value = setup.options.values.value(*option);
    if (value != option->fallback) options.push_back(fmt::format("{}: {}", option->key, option->text(value)));
  }
  Overrides out = {fmt::format("groups=[[{}]]", fmt::join(setup.group.names, ", ")),
                   fmt::format("techniques={{{}: {{{}}}}}", setup.options.technique->name, fmt::join(options, ", "))};
  const auto add = [&](std::span<const SharedDimension> dimensions, std::size_t first) {
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i].overrides) dimensions[i].overrides(setup, scenario_, choice[first + i], out);
    }
  };
  add(training_dimensions(), kTraining);
  add(setting_dimensions(), kSettings);
  return out;
}

}  // namespace slmsim
