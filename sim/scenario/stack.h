// Reads a software stack: a file of scenarios/stacks (sim/compute/software.h explains its figures).
#pragma once

#include "sim/base/fields.h"
#include "sim/compute/software.h"

namespace slmsim {

// The key `flash` of a stack, or a scenario's replacement.
FlashShares read_flash(const Node& node, const std::string& path, Reading& reading);

// The key `kernels` of a stack, or a scenario's replacement: sets the named kernels and returns them.
std::vector<KernelPart> read_kernels(const Node& node, const std::string& path, Reading& reading, Software& software);

// Sets the stack's values in `software`; the others are unchanged.
void read_stack(const Node& node, const std::string& path, Reading& reading, Software& software);

}  // namespace slmsim
