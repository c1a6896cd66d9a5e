// What results rest on that a platform's files do not say.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// One sentence per VM type that has several GPUs in a VM and says nothing of how they reach each other.
std::vector<std::string> remarks_on(const Platform& platform);

}  // namespace slmsim
