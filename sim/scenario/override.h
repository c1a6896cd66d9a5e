// "--set KEY=VALUE": replaces the value at a path through a scenario's maps and lists.
//
// Enters: the text, then the scenario's tree. Leaves: the tree with the value in its place.
#pragma once

#include <string>
#include <vector>

#include "sim/base/yaml.h"

namespace slmsim {

inline constexpr const char* kOverrideSource = "--set";  // prefix of an override's source name

// One "--set KEY=VALUE"; KEY is a path such as "platform.links.wan.rtt", VALUE is YAML.
using Overrides = std::vector<std::string>;

// A parsed override. Errors in the path are reported at `place`, errors in the value at the value's own place.
struct Override {
  std::string path;
  Node value;
  Place place;
};
// Throws InputError if the text is not KEY=VALUE.
Override parse_override(const std::string& text);

// Returns false where the path enters a name that is not yet replaced by its file. Throws InputError where the path
// does not exist.
bool apply(Node& root, const Override& override);

}  // namespace slmsim
