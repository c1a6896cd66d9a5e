// What a study's held-out cells show, as Markdown and as CSV.
#pragma once

#include <string>

#include "sim/validate/fabric_protocol.h"

namespace slmsim {

std::string to_markdown(const FabricProtocol& protocol);
std::string to_csv(const FabricProtocol& protocol);

}  // namespace slmsim
