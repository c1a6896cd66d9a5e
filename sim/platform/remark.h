// What results rest on that a platform's files do not say, and where they do not agree.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// One sentence per VM type that has several GPUs in a VM and says nothing of how they reach each other, or says that they do so in a
// way that its GPUs lack, and per GPU whose profile was measured on another variant of its chip.
std::vector<std::string> remarks_on(const Platform& platform);
// One sentence per VM type that is given other GPUs, or more, than it comes with.
std::vector<std::string> contradictions_in(const Platform& platform);

}  // namespace slmsim
