// What a limit on a GPU's power (nvidia-smi --power-limit) leaves of its rates while it trains.
//
// GPUs that multiply matrices without pause draw what their board may. Below a limit the driver lowers the clock f of the
// cores, and the voltage with it, as far as that goes. What switches draws f V^2, so that, with f of the clock and the draw of
// the board's power both taken as 1 where nothing is limited,
//
//   draw = kStill + (1 - kStill) f^3                    the voltage follows the clock,
//   draw = kStill + (1 - kStill) kLeastVoltage^2 f      it is at its least: f < kLeastVoltage.
//
// The clock is that of many kernels together, since the driver takes longer to change it than a kernel takes. Memory has its
// own, and is asked for less only where f < kAsking: bandwidth goes as min(1, f / kAsking). A GPU that draws less than its
// board may while it trains is slowed less than this says. The three constants and how well they do are in
// docs/validation/runs.md.
#pragma once

#include "sim/platform/gpu.h"

namespace slmsim {

// f. 0 < share <= 1: the limit by the board's power.
double cores_within(double share);

// The least limit by the board's power: NVIDIA's drivers allow no less than 100 W of 300.
inline constexpr double kLeastLimit = 1.0 / 3;

// Sets what the GPU, which states its board's power, may draw, and what that leaves; of what its profile timed, what is left
// of the rates that it had then.
void limit_power(Gpu& gpu, Watts limit);

}  // namespace slmsim
