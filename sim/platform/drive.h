// A drive's data sheet: a file of platforms/drives/.
#pragma once

#include <utility>

#include "sim/platform/node.h"

namespace slmsim {

// The drive, and the link that it has to its socket; where that begins and ends is not yet said.
std::pair<NodePart, PartLink> read_drive(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
