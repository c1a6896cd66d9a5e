// Remarks on a platform: unstated values that results depend on, and contradictions.
#pragma once

#include <string>
#include <vector>

#include "sim/platform/platform.h"

namespace slmsim {

// One sentence per VM type with several GPUs that does not say how they reach each other, or names a way that its GPUs
// lack, and one per GPU whose profile was measured on another variant of its chip.
std::vector<std::string> remarks_on(const Platform& platform);
// One sentence per VM type that holds other GPUs, or more, than it ships with.
std::vector<std::string> contradictions_in(const Platform& platform);

}  // namespace slmsim
