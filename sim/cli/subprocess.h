// Runs another program and takes what it prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slmsim {

// Standard output of a program that is looked up as a shell would, without a shell between; its standard error stays ours
// where `told`, and is dropped otherwise. Nothing where there is no such program or it ended with another status than 0.
std::optional<std::string> output_of(const std::vector<std::string>& words, bool told = false);

// A program that lies beside this one, or else its bare name.
std::string beside_this_program(const std::string& name);

}  // namespace slmsim
