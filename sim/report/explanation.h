// Prints the limits of techniques; computes nothing.
#pragma once

#include <string>
#include <vector>

#include "sim/explain/explain.h"

namespace slmsim {

struct ExplainResult {
  Scenario scenario;
  std::vector<Explanation> explanations;
  bool stopped = false;  // before all were explained
};

// For people: per technique the limits, the settings that help and the first change to make.
std::string to_explanation_table(const std::vector<ExplainResult>& results);
// One JSON object of schema "slmsim/explain/1", or a list of several.
std::string to_explanation_json(const std::vector<ExplainResult>& results);

}  // namespace slmsim
