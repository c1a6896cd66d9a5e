// Reads what a software stack runs: a file of scenarios/stacks (sim/cost/software.h says what its figures mean).
#pragma once

#include "sim/base/fields.h"
#include "sim/cost/software.h"

namespace slmsim {

// The key `flash` of a stack, or a scenario's in its place.
FlashShares read_flash(const Node& node, const std::string& path, Reading& reading);

// The key `kernels` of a stack, or a scenario's in its place: sets those that it names, and returns which these are.
std::vector<KernelPart> read_kernels(const Node& node, const std::string& path, Reading& reading, Software& software);

// Sets what the stack says in `software`, and leaves the rest.
void read_stack(const Node& node, const std::string& path, Reading& reading, Software& software);

}  // namespace slmsim
