#include "sim/predict/job/jitter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <boost/math/distributions/normal.hpp>

#include "sim/base/hash.h"
#include "sim/predict/iterations.h"

namespace slmsim {
namespace {

constexpr double kLeastNormal = 0.01;  // times are positive
constexpr double kClip = 4;            // standard deviations
enum JitterStream : std::uint64_t { kGpu, kRate, kRtt, kKinds };
constexpr std::size_t kMostRanges = 16;          // so many states does a block have at most
constexpr std::uint64_t kMostSteps = 1U << 20U;  // in a round

// (0, 1)
double uniform(SplitMix64& bits) { return (static_cast<double>(bits.next53()) + 0.5) * 0x1p-53; }

double factor_at(const Scatter& scatter, double deviate) {
  if (scatter.shape == JitterShape::kNormal) return std::max(kLeastNormal, 1 + scatter.sd * deviate);
  const double variance = std::log1p(scatter.sd * scatter.sd);
  return std::exp(std::sqrt(variance) * deviate - variance / 2);
}

}  // namespace

JitterDraw::JitterDraw(const JitterRules& rules, std::int64_t seed, int state)
    : rules_(rules), seed_(static_cast<std::uint64_t>(seed)), state_(static_cast<std::size_t>(state)) {
  const auto states = static_cast<std::size_t>(rules.states);
  const std::size_t size = std::clamp(states / kPartsOfMean, std::size_t{1}, kMostRanges);
  block_ = state_ / size;
  place_ = state_ % size;
  const std::size_t begin = block_ * size;
  ranges_ = begin < states ? std::min(size, states - begin) : size;
}

// (0, 1)
double JitterDraw::share(std::uint64_t what, std::uint64_t which) const {
  const auto bits_of = [&](std::uint64_t number, std::uint64_t kind) {
    std::uint64_t key = SplitMix64::mixed(seed_ + SplitMix64::kStep);
    for (const std::uint64_t part : {number, kind, which})
      key = SplitMix64::mixed(key ^ (part * SplitMix64::kStep + 1));
    return SplitMix64(key);
  };
  SplitMix64 order = bits_of(block_, kKinds + what), bits = bits_of(state_, what);
  std::array<std::size_t, kMostRanges> ranges{};
  for (std::size_t i = 0; i < ranges_; ++i) {  // a random order (Knuth, The Art of Computer Programming 2, 3.4.2)
    const std::size_t other = order.next53() % (i + 1);
    ranges[i] = ranges[other];
    ranges[other] = i;
  }
  return (static_cast<double>(ranges[place_]) + uniform(bits)) / static_cast<double>(ranges_);
}

double JitterDraw::factor(const std::optional<Scatter>& scatter, std::uint64_t what, std::uint64_t which) const {
  if (!scatter) return 1;
  const double at = share(what, which);
  if (scatter->shape == JitterShape::kExponential) return 1 - scatter->sd - scatter->sd * std::log(at);
  return factor_at(*scatter, std::clamp(boost::math::quantile(boost::math::normal(), at), -kClip, kClip));
}

double JitterDraw::gpu(int device, int step) const {
  return factor(rules_.gpu, kGpu, static_cast<std::uint64_t>(device) * kMostSteps + static_cast<std::uint64_t>(step));
}

double JitterDraw::rate(int link) const { return factor(rules_.rate, kRate, static_cast<std::uint64_t>(link)); }

double JitterDraw::rtt(int link) const { return factor(rules_.rtt, kRtt, static_cast<std::uint64_t>(link)); }

std::vector<WanLink> JitterDraw::links(std::vector<WanLink> links) const {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const int link = static_cast<int>(i);
    for (WanDirection* way : {&links[i].forward, &links[i].backward}) {
      way->bandwidth = way->bandwidth / rate(link);
      way->delay = way->delay * rtt(link);
    }
  }
  return links;
}

void JitterDraw::apply(TaskGraph& graph, int steps) const {
  if (!rules_.gpu) return;
  graph.scale_computations([&](int device, std::size_t place, std::size_t count) {
    const std::size_t step = rules_.whole_job ? 0 : place * static_cast<std::size_t>(steps) / count;
    return gpu(device, static_cast<int>(step));
  });
}

double least_factor(const Scenario& scenario) {
  if (!scenario.job || !scenario.job->jitter) return 1;
  double least = 1;
  for (const auto& scatter : {scenario.job->jitter->gpu, scenario.job->jitter->rate, scenario.job->jitter->rtt}) {
    if (scatter)
      least =
          std::min(least, scatter->shape == JitterShape::kExponential ? 1 - scatter->sd : factor_at(*scatter, -kClip));
  }
  return least;
}

}  // namespace slmsim
