// The effect of a power limit (nvidia-smi --power-limit) on a GPU's rates during training.
//
// GPUs that multiply matrices continuously draw their board's power. Below a limit the driver lowers the clock f of the
// cores and, as far as possible, the voltage. Switching draws f V^2, so that, with the clock and the board's power both
// taken as 1 without a limit,
//
//   draw = kStill + (1 - kStill) f^3                    the voltage follows the clock,
//   draw = kStill + (1 - kStill) kLeastVoltage^2 f      it is at its minimum: f < kLeastVoltage.
//
// The clock is a mean over many kernels, since the driver changes it more slowly than kernels run. Memory has its own
// clock, and its bandwidth is used less only where f < kAsking: it scales as min(1, f / kAsking). A GPU that draws less
// than its board's power during training slows less than this predicts. docs/validation/runs.md gives the three
// constants and their accuracy.
#pragma once

#include "sim/platform/gpu.h"

namespace slmsim {

// The relative clock f. 0 < share <= 1: the limit divided by the board's power.
double cores_within(double share);

// The lowest limit relative to the board's power: NVIDIA's drivers allow no less than 100 W of 300.
inline constexpr double kLeastLimit = 1.0 / 3;

// Sets the power limit of a GPU that states its board's power, and the rates that remain, also relative to those during
// its profile's measurement.
void limit_power(Gpu& gpu, Watts limit);

}  // namespace slmsim
