#include "sim/platform/power_limit.h"

#include <algorithm>
#include <cmath>

namespace slmsim {
namespace {

constexpr double kStill = 0.2;         // of the board's power: memory, leakage and fans, whatever the clock
constexpr double kLeastVoltage = 0.8;  // of that at full clock

}  // namespace

double clock_within(double share) {
  const double switching = std::clamp((share - kStill) / (1 - kStill), 0.0, 1.0);
  const double by_voltage = std::cbrt(switching);
  return by_voltage >= kLeastVoltage ? by_voltage : switching / (kLeastVoltage * kLeastVoltage);
}

void limit_power(Gpu& gpu, Watts limit) {
  gpu.power_limit = limit;
  gpu.clock_left = clock_within(limit.value / gpu.board_power.value);
  const double then = gpu.measured_limit.value > 0 ? gpu.measured_limit.value / gpu.board_power.value : 1.0;
  gpu.measured_clock_left = gpu.clock_left / clock_within(std::min(1.0, then));
}

}  // namespace slmsim
