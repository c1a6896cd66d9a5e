// A scenario with everything it names, and overrides: each is the text before a line "---".
#include "sim/scenario/scenario.h"

#include <filesystem>

#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_scenario(std::string_view text) {
  const auto rule = text.find("\n---\n");
  std::vector<Override> overrides;
  if (rule != std::string_view::npos) {
    overrides.push_back(parse_override(std::string(text.substr(0, rule))));
    text.remove_prefix(rule + 5);
  }
  const auto place = std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios/in.yaml";
  ScenarioFile file(parse_yaml(text, place.string()), place);
  read_scenario(file.link(overrides), "in");
}

const Target kScenario("scenario", try_scenario);

}  // namespace
}  // namespace slmsim::fuzz
