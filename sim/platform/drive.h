// A drive's data sheet: a file of platforms/drives/.
#pragma once

#include <utility>

#include "sim/platform/node.h"

namespace slmsim {

// The drive and its link to its socket; the caller sets the ends of the link.
std::pair<NodePart, PartLink> read_drive(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
