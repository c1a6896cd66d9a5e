// Runs another program and captures its output.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slmsim {

// Standard output of a program, found as a shell would, but without a shell; its standard error is passed on `with_errors`,
// and dropped otherwise. Nothing where the program does not exist or its exit status is not 0.
std::optional<std::string> output_of(const std::vector<std::string>& words, bool with_errors = false);

// A program in the same folder as this one, or else its bare name.
std::string beside_this_program(const std::string& name);

}  // namespace slmsim
