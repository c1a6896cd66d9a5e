// What a limit on a GPU's power (nvidia-smi --power-limit) leaves of its clock while it trains.
//
// GPUs that multiply matrices without pause draw what their board may. Below a limit the driver lowers the clock f, and the
// voltage with it, as far as that goes. What switches draws f V^2, so that, with f of the clock and the draw of the board's
// power both taken as 1 where nothing is limited,
//
//   draw = kStill + (1 - kStill) f^3                    the voltage follows the clock,
//   draw = kStill + (1 - kStill) kLeastVoltage^2 f      it is at its least: f < kLeastVoltage.
//
// The two constants and how well they do are in docs/validation/runs.md. Memory keeps its own clock.
#pragma once

#include "sim/platform/gpu.h"

namespace slmsim {

// 0 < share <= 1: the limit by the board's power. Returns f, 0 where the limit is what the board draws anyhow.
double clock_within(double share);

// Least and most of a limit by the board's power that is known to be possible: NVIDIA's drivers refuse less than 100 W of 300.
inline constexpr double kLeastLimit = 1.0 / 3;

// Sets what the GPU, which states its board's power, may draw. Of what its profile timed, what that was limited to counts.
void limit_power(Gpu& gpu, Watts limit);

}  // namespace slmsim
