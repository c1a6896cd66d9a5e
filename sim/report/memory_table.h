// What explains which models fit, as Markdown and as CSV.
#pragma once

#include <string>

#include "sim/validate/memory_explanations.h"

namespace slmsim {

std::string to_markdown(const MemoryExplanations& explanations);
// A line per explanation: of all slices, called "all", and of each.
std::string to_csv(const MemoryExplanations& explanations);

}  // namespace slmsim
