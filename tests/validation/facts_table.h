// A validation as the Markdown table of docs/validation, and as CSV.
#pragma once

#include <string>

#include "tests/validation/facts.h"

namespace slmsim {

// As CSV: a header and one line per fact; empty where nothing was published or nothing runs.
std::string to_csv(const Validation& validation);

std::string to_markdown(const Validation& validation);

}  // namespace slmsim
