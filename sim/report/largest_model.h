// The largest models that fit, as a table and as JSON of the schema "slmsim/max-model/1". Used by `slmsim max-model`.
#pragma once

#include <string>
#include <vector>

#include "sim/predict/max_model.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

struct LargestResult {
  Scenario scenario;
  std::vector<LargestModel> models;
};

std::string to_largest_table(const std::vector<LargestResult>& results);
// One object, or a list of several.
std::string to_largest_json(const std::vector<LargestResult>& results);

}  // namespace slmsim
