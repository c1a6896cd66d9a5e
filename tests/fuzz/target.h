// One parser under random input: each target is a file that defines try_input(). It returns where the input is sound, and
// throws InputError where it is not; anything else that it throws, or that ends it, is a finding.
#pragma once

#include <string>
#include <string_view>

namespace slmsim::fuzz {

void try_input(std::string_view text);

// The text as a file in memory; its path, which holds until the next call.
std::string as_file(std::string_view text);

}  // namespace slmsim::fuzz
