// "--set KEY=VALUE": a value laid over a scenario's at a path through maps and lists.
//
// Enters: the text, then the scenario's tree. Leaves: the tree with the value in its place.
#pragma once

#include <string>
#include <vector>

#include "sim/base/yaml.h"

namespace slmsim {

inline constexpr const char* kOverrideSource = "--set";  // the name of an override's source begins so

// One "--set KEY=VALUE"; KEY is a path such as "platform.links.wan.rtt", VALUE is YAML.
using Overrides = std::vector<std::string>;

// An override taken apart. What is wrong with the path is told at `place`, what is wrong with the value at its own.
struct Override {
  std::string path;
  Node value;
  Place place;
};
// Throws InputError if the text is not KEY=VALUE.
Override parse_override(const std::string& text);

// False where the path runs into a name that is not yet replaced by its file. Throws InputError where it leads nowhere.
bool apply(Node& root, const Override& override);

}  // namespace slmsim
