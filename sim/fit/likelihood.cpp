#include "sim/fit/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include <boost/math/distributions/students_t.hpp>

namespace slmsim {
namespace {

constexpr Discrepancy kTypical;
constexpr double kDiscrepancyFactor = 2;

const boost::math::students_t kTail(kTailFreedom);

double mixed(double probability) { return kOtherCause / 2 + (1 - kOtherCause) * probability; }

}  // namespace

double tail_quantile(double probability) {
  return boost::math::quantile(kTail, std::clamp(probability, 1e-12, 1 - 1e-12));
}

// With 4 degrees of freedom the distribution function is algebraic (Abramowitz and Stegun, 26.7.4): mixtures evaluate it
// millions of times.
double tail_probability(double distance) {
  static_assert(kTailFreedom == 4);
  const double squared = distance * distance / 4 + 1;
  const double sine = distance / 2 / std::sqrt(squared);
  return 0.5 * (1 + sine * (1 + 0.5 / squared));
}

Discrepancy discrepancy_at(double time_coordinate, double memory_coordinate) {
  const double sigma = sigma_of_factor(kDiscrepancyFactor);
  return {kTypical.time * std::exp(sigma * time_coordinate), kTypical.memory * std::exp(sigma * memory_coordinate)};
}

Discrepancy together(const Discrepancy& model, const Discrepancy& stand_in) {
  return {std::hypot(model.time, stand_in.time), std::hypot(model.memory, stand_in.memory)};
}

double probability_fits(const Forecast& forecast, const Discrepancy& discrepancy) {
  if (!forecast.can_run()) return 0;
  if (forecast.memory_share <= 0) return 1;
  // A shortage of host memory or drives is not a matter of percents.
  if (forecast.status == Status::kOutOfMemory && forecast.memory_share <= 1) return mixed(0);
  return mixed(normal_probability(-std::log(forecast.memory_share) / discrepancy.memory));
}

double log_likelihood(const std::vector<Pilot>& figures, const Forecast& forecast, const Discrepancy& discrepancy) {
  double out = 0;
  std::optional<bool> ran;
  // Covariance of the figures of speed: discrepancy^2 (all alike) + noise^2 (each its own), by Sherman and Morrison.
  double count = 0, inverse = 0, sum = 0, squares = 0, log_determinant = 0;
  for (const auto& pilot : figures) {
    if (pilot.measure == Measure::kFits) {
      ran = pilot.value > 0;
      continue;
    }
    ran = true;
    const double predicted = figure_of(forecast, pilot.measure);
    if (predicted <= 0 || pilot.value <= 0) return kImpossible;
    double distance = std::log(pilot.value / predicted);
    if (pilot.measure == Measure::kPeakMemory) {
      const double scale = std::hypot(discrepancy.memory, pilot.noise);
      out += std::log(boost::math::pdf(kTail, distance / scale) / scale);
      continue;
    }
    if (pilot.measure == Measure::kTokensPerSecond || pilot.measure == Measure::kRate) distance = -distance;
    const double weight = 1 / (pilot.noise * pilot.noise);
    count += 1;
    inverse += weight;
    sum += weight * distance;
    squares += weight * distance * distance;
    log_determinant -= std::log(weight);
  }
  if (count > 0) {
    const double variance = discrepancy.time * discrepancy.time, shared = 1 + variance * inverse;
    const double square = squares - variance * sum * sum / shared;
    out += std::lgamma((kTailFreedom + count) / 2) - std::lgamma(kTailFreedom / 2) -
           count / 2 * std::log(kTailFreedom * std::numbers::pi) - (log_determinant + std::log(shared)) / 2 -
           (kTailFreedom + count) / 2 * std::log1p(square / kTailFreedom);
  }
  if (ran) {
    const double fits = std::clamp(probability_fits(forecast, discrepancy), kOtherCause / 2, 1 - kOtherCause / 2);
    out += std::log(*ran ? fits : 1 - fits);
  }
  return out;
}

}  // namespace slmsim
