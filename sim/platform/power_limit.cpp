#include "sim/platform/power_limit.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

// Inferred from BERT's training on A40, Quadro RTX 6000 and V100 (docs/validation/runs.md).
constexpr double kStill = 0.2;         // share of the board's power: memory, leakage and fans, at any clock
constexpr double kLeastVoltage = 0.8;  // relative to that at full clock
constexpr double kAsking = 0.9;        // clock, relative, at which kernels use all of the memory's bandwidth

PowerShares shares_within(double share) {
  const double cores = cores_within(share);
  return {.cores = cores, .memory = std::min(1.0, cores / kAsking)};
}

}  // namespace

double cores_within(double share) {
  const double switching = std::clamp((share - kStill) / (1 - kStill), 0.0, 1.0);
  const double by_voltage = std::cbrt(switching);
  return by_voltage >= kLeastVoltage ? by_voltage : switching / (kLeastVoltage * kLeastVoltage);
}

void limit_power(Gpu& gpu, Watts limit) {
  gpu.power_limit = limit;
  gpu.left = shares_within(limit.value / gpu.board_power.value);
  const bool is_measured = gpu.measured_limit.value > 0;
  const PowerShares then =
      is_measured ? shares_within(std::min(1.0, gpu.measured_limit.value / gpu.board_power.value)) : PowerShares{};
  gpu.left_of_measured = {.cores = gpu.left.cores / then.cores, .memory = gpu.left.memory / then.memory};
}

}  // namespace slmsim
