// A validation as the Markdown table that the README shows.
#pragma once

#include <string>

#include "sim/select/facts.h"

namespace slmsim {

std::string to_markdown(const Validation& validation);

}  // namespace slmsim
