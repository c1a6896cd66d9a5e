// Results of the measuring loop for large matrix products beside cuBLAS's best in a plain loop.
#pragma once

#include "calibrate/cuda/device.h"
#include "calibrate/gpu/option.h"

namespace slmsim::calibrate {

// Prints a line per product of at least 2048^3 multiplications: the listed shapes or, without any, 2048^3, 4096^3 and 8192^3,
// in each precision. The plain loop launches again and again on the same matrices, for each of the first algorithms of
// cuBLASLt's heuristic and for cuBLAS's own choice; the fastest counts. Throws GpuError, UsageError.
void compare_products(const Device& device, const Options& options);

}  // namespace slmsim::calibrate
