// Techniques by the names that scenarios use.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/scenario/technique.h"

namespace slmsim {

inline const Technique* named(const std::string& name) {
  const Technique* technique = find_technique(name);
  if (!technique) throw std::logic_error("there is no technique " + name);
  return technique;
}

// A technique with options as a scenario writes them: written("{ZeRO2: {gradient_collective: all-reduce}}").
inline TechniqueOptions written(const std::string& techniques) {
  Reading reading;
  const Node node = parse_yaml(techniques, "test");
  const auto all = read_techniques(node, "techniques", reading);
  reading.check();
  return all.at(0);
}

}  // namespace slmsim
