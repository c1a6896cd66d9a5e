// The list of techniques: `slmsim list techniques`.
#pragma once

#include <string>

namespace slmsim {

std::string to_technique_table();
// A list of objects: `name`, `summary`, `options` (their keys), `usual` (predicted where a scenario names none), and `looks`
// (fill, line, marker, dash, hatch, as in matplotlib).
std::string to_technique_json();

}  // namespace slmsim
