// A table in another unit, or of another GPU, than it is taken for gives times that the GPU cannot have.
#pragma once

#include "sim/import/gather.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// Throws InputError where the kernels are on the median much faster than the data sheet allows, or absurdly slower.
void check_plausible(const ImportedProfile& profile, const Gpu& gpu);

}  // namespace slmsim
