#include <cmath>

#include <fmt/format.h>

#include "sim/report/page/markup.h"

namespace slmsim {
namespace {

constexpr double kMostSteps = 5;

struct Unit {
  double seconds;
  const char* name;
  std::vector<double> steps;
};
const std::vector<Unit>& units() {
  static const std::vector<Unit> kUnits = {{1e-6, "us", {1, 2, 5, 10, 20, 50, 100, 200, 500}},
                                           {1e-3, "ms", {1, 2, 5, 10, 20, 50}},
                                           {1, "s", {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30}},
                                           {60, "min", {1, 2, 5, 10, 20, 30}},
                                           {3600, "h", {1, 2, 3, 6, 12}},
                                           {86400, "d", {1, 2, 5, 10, 20, 50, 100, 200}},
                                           {365 * 86400.0, "y", {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}}};
  return kUnits;
}

std::vector<Tick> ticks_every(double step, double most, double unit, const std::string& name) {
  std::vector<Tick> out;
  for (double i = 0; i * step <= most; ++i)
    out.push_back({i * step / most, i == 0 || name.empty() ? fmt::format("{:g}", i * step / unit)
                                                           : fmt::format("{:g} {}", i * step / unit, name)});
  return out;
}

}  // namespace

std::vector<Tick> linear_ticks(double most) {
  if (!(most > 0)) return {};
  const double rough = most / kMostSteps, power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  return ticks_every(power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10), most, 1, "");
}

std::vector<Tick> duration_ticks(double most) {
  for (const Unit& unit : units()) {
    for (const double step : unit.steps) {
      if (most > 0 && step * unit.seconds * kMostSteps >= most)
        return ticks_every(step * unit.seconds, most, unit.seconds, unit.name);
    }
  }
  return {};
}

}  // namespace slmsim
