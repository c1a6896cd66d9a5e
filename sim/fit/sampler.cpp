#include "sim/fit/sampler.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>


namespace slmsim {
namespace {

constexpr double kEffectiveShare = 0.5;  // share of effective particles after a step of beta
constexpr double kRedrawn = 0.4;         // share of a block's moves in which one of its jumping coordinates is redrawn
constexpr double kAlone = 0.5;           // share of those in which nothing else moves
constexpr std::array kMoved = {0.2, 0.5, 1.0};  // shares of the coordinates that move at once, equally often
constexpr double kJump = 0.1;                   // share of the moves by a whole difference, from mode to mode
constexpr double kJitter = 0.05;                // deviation added to each proposal

double log_prior(const Point& point) {
  double sum = 0;
  for (const double z : point) sum -= 0.5 * z * z;
  return sum;
}

double effective(const std::vector<double>& weights) {
  double sum = 0, squares = 0;
  for (const double w : weights) sum += w, squares += w * w;
  return squares > 0 ? sum * sum / squares : 0;
}

class Sampler {
 public:
  Sampler(const Target& target, const Sampling& sampling)
      : target_(target), sampling_(sampling), dice_(sampling.seed), blocks_(target.blocks) {
    if (blocks_.empty()) {
      MoveBlock& all = blocks_.emplace_back();
      all.coordinates.resize(target.dimensions);
      all.parts.resize(target.parts);
      std::iota(all.coordinates.begin(), all.coordinates.end(), std::size_t{0});
      std::iota(all.parts.begin(), all.parts.end(), std::size_t{0});
    }
  }

  Sample run() {
    out_.points = latin_hypercube(sampling_.particles, target_.dimensions, dice_);
    parts_.assign(out_.points.size(), std::vector<double>(target_.parts));
    for (std::size_t part = 0; part < target_.parts; ++part) {
      const auto likelihoods = evaluate(out_.points, part);
      for (std::size_t i = 0; i < likelihoods.size(); ++i) parts_[i][part] = likelihoods[i];
    }
    for (const auto& parts : parts_) out_.log_likelihood.push_back(sum_of(parts));
    while (out_.beta < 1 && !stopped()) {
      temper();
      for (int sweep = 0; sweep < sampling_.sweeps && !stopped(); ++sweep) {
        for (const auto& block : blocks_) move(block);
      }
    }
    return std::move(out_);
  }

 private:
  bool stopped() const { return sampling_.stop && sampling_.stop(); }

  static double sum_of(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

  std::vector<double> evaluate(const std::vector<Point>& points, std::size_t part) {
    out_.evaluations += points.size();
    return target_.log_likelihood(points, part);
  }

  // The largest step that keeps enough particles effective, and the particles resampled by it.
  void temper() {
    const auto& l = out_.log_likelihood;
    if (std::ranges::none_of(l, [](double x) { return std::isfinite(x); })) {
      out_.beta = 1;  // nothing is possible: the particles stay
      return;
    }
    const double least = kEffectiveShare * static_cast<double>(l.size());
    double low = 0, high = 1 - out_.beta;
    if (effective(weights_of(l, high)) < least) {
      for (int i = 0; i < 50; ++i) {
        const double middle = (low + high) / 2;
        (effective(weights_of(l, middle)) < least ? high : low) = middle;
      }
      high = std::max(low, 1e-6);
    }
    const auto weights = weights_of(l, high);
    const double most = *std::ranges::max_element(l);
    const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    out_.log_evidence += std::log(mean) + high * most;
    out_.beta = std::min(1.0, out_.beta + high);
    if (1 - out_.beta < 1e-9) out_.beta = 1;
    std::vector<Point> points;
    std::vector<double> likelihoods;
    std::vector<std::vector<double>> parts;
    for (const std::size_t i : resampled(weights, l.size(), dice_.uniform())) {
      points.push_back(out_.points[i]);
      likelihoods.push_back(l[i]);
      parts.push_back(parts_[i]);
    }
    out_.points = std::move(points);
    out_.log_likelihood = std::move(likelihoods);
    parts_ = std::move(parts);
    if (sampling_.progress) sampling_.progress(out_.beta, out_.evaluations);
  }

  // Moves half of the particles at a time, by differences of the other half, so that detailed balance holds. The halves are
  // redrawn each time, because copies of a particle are adjacent.
  void move(const MoveBlock& block) {
    std::vector<std::size_t> order(out_.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice_.below(i)]);
    const std::size_t half = order.size() / 2;
    const std::vector<std::size_t> first(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(half));
    const std::vector<std::size_t> second(order.begin() + static_cast<std::ptrdiff_t>(half), order.end());
    move(block, first, second);
    move(block, second, first);
  }

  void move(const MoveBlock& block, const std::vector<std::size_t>& moved, const std::vector<std::size_t>& others) {
    if (moved.empty() || others.size() < 2 || stopped()) return;
    std::vector<Point> proposals;
    proposals.reserve(moved.size());
    for (const std::size_t i : moved) proposals.push_back(proposal(block.coordinates, out_.points[i], others));
    std::vector<std::vector<double>> parts;  // of the proposals
    parts.reserve(moved.size());
    for (const std::size_t i : moved) parts.push_back(parts_[i]);
    for (const std::size_t part : block.parts) {
      const auto likelihoods = evaluate(proposals, part);
      if (stopped()) return;
      for (std::size_t k = 0; k < moved.size(); ++k) parts[k][part] = likelihoods[k];
    }
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const std::size_t i = moved[k];
      const double likelihood = sum_of(parts[k]);
      const double before = out_.beta * out_.log_likelihood[i] + log_prior(out_.points[i]);
      const double after = out_.beta * likelihood + log_prior(proposals[k]);
      const double chance = dice_.uniform();
      if (!std::isfinite(likelihood)) continue;
      if (std::isfinite(out_.log_likelihood[i]) && std::log(chance) >= after - before + correction_[k]) continue;
      out_.points[i] = proposals[k];
      out_.log_likelihood[i] = likelihood;
      parts_[i] = std::move(parts[k]);
    }
    correction_.clear();
  }

  // `correction_`: for coordinates redrawn from the prior, whose ratio of priors is not part of the acceptance.
  Point proposal(const std::vector<std::size_t>& block, const Point& from, const std::vector<std::size_t>& others) {
    const std::size_t a = dice_.below(others.size());
    std::size_t b = dice_.below(others.size() - 1);
    if (b >= a) ++b;
    const Point &p = out_.points[others[a]], &q = out_.points[others[b]];
    Point to = from;
    correction_.push_back(0);
    // One at most: of several choices redrawn at once, one would be wrong and all would be rejected.
    std::vector<std::size_t> moved, jumping;
    std::copy_if(block.begin(), block.end(), std::back_inserter(jumping), [&](auto d) { return target_.jumps[d]; });
    std::size_t redrawn = target_.dimensions;
    if (!jumping.empty() && dice_.uniform() < kRedrawn) {
      redrawn = jumping[dice_.below(jumping.size())];
      to[redrawn] = dice_.normal();
      correction_.back() = 0.5 * (to[redrawn] * to[redrawn] - from[redrawn] * from[redrawn]);
      if (dice_.uniform() < kAlone) return to;
    }
    const bool jump = dice_.uniform() < kJump;
    const double share = jump ? 1 : kMoved[dice_.below(kMoved.size())];
    for (const std::size_t d : block) {
      if (d != redrawn && dice_.uniform() < share) moved.push_back(d);
    }
    // Optimal for normals; shrunk at random.
    const double scale = 2.38 / std::sqrt(2.0 * static_cast<double>(std::max<std::size_t>(1, moved.size())));
    const double gamma = jump ? 1.0 : scale * (0.25 + dice_.uniform());
    for (const std::size_t d : moved) to[d] += gamma * (p[d] - q[d]) + kJitter * dice_.normal();
    return to;
  }

  const Target& target_;
  const Sampling& sampling_;
  Dice dice_;
  std::vector<MoveBlock> blocks_;
  std::vector<double> correction_;
  std::vector<std::vector<double>> parts_;  // log-likelihoods of each particle
  Sample out_;
};

constexpr Discrepancy kTypical;
constexpr double kDiscrepancyFactor = 2;

// With 4 degrees of freedom density, distribution function (Abramowitz and Stegun, 26.7.4) and its inverse (Shaw 2006, "Sampling
// Student's T distribution") are closed: mixtures evaluate them millions of times.
static_assert(kTailFreedom == 4);
double tail_density(double distance) { return 0.375 * std::pow(1 + distance * distance / 4, -2.5); }

double mixed(double probability) { return kOtherCause / 2 + (1 - kOtherCause) * probability; }

}  // namespace

double Dice::uniform() { return (static_cast<double>(bits_.next53()) + 0.5) / 9007199254740992.0; }

double Dice::normal() { return normal_quantile(uniform()); }

std::size_t Dice::below(std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(uniform() * static_cast<double>(count)));
}

std::vector<double> weights_of(const std::vector<double>& log_likelihood, double step) {
  const double most = *std::ranges::max_element(log_likelihood);
  if (!std::isfinite(most)) return std::vector<double>(log_likelihood.size(), 1.0);
  std::vector<double> out;
  out.reserve(log_likelihood.size());
  for (const double l : log_likelihood) out.push_back(std::isfinite(l) ? std::exp(step * (l - most)) : 0);
  return out;
}

std::vector<Point> latin_hypercube(std::size_t count, std::size_t dimensions, Dice& dice) {
  std::vector<Point> out(count, Point(dimensions));
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
    for (std::size_t i = 0; i < count; ++i)
      out[i][d] = normal_quantile((static_cast<double>(order[i]) + dice.uniform()) / static_cast<double>(count));
  }
  return out;
}

std::vector<std::size_t> resampled(const std::vector<double>& weights, std::size_t count, double offset) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::size_t> out;
  double passed = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double target = sum * (static_cast<double>(i) + offset) / static_cast<double>(count);
    while (at + 1 < weights.size() && passed + weights[at] <= target) passed += weights[at++];
    out.push_back(at);
  }
  return out;
}

Sample draw(const Target& target, const Sampling& sampling) { return Sampler(target, sampling).run(); }

double tail_quantile(double probability) {
  const double p = std::clamp(probability, 1e-12, 1 - 1e-12);
  const double root = std::sqrt(4 * p * (1 - p));
  const double distance = 2 * std::sqrt(std::max(0.0, std::cos(std::acos(std::min(1.0, root)) / 3) / root - 1));
  return p < 0.5 ? -distance : distance;
}

double tail_probability(double distance) {
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
      out += std::log(tail_density(distance / scale) / scale);
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
