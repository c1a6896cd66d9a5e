// Explanations of which models fit, as Markdown and as CSV.
#pragma once

#include <string>

#include "tests/validation/memory_explanations.h"

namespace slmsim {

std::string to_markdown(const MemoryExplanations& explanations);
// A line per explanation: for all slices, called "all", and for each.
std::string to_csv(const MemoryExplanations& explanations);

}  // namespace slmsim
