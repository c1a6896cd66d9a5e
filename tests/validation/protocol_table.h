// Results for a study's held-out cells, as Markdown and as CSV.
#pragma once

#include <string>

#include "tests/validation/deepspeed_protocol.h"

namespace slmsim {

std::string to_markdown(const FabricProtocol& protocol);
std::string to_csv(const FabricProtocol& protocol);
std::string to_markdown(const DeepSpeedProtocol& protocol);
std::string to_csv(const DeepSpeedProtocol& protocol);

}  // namespace slmsim
