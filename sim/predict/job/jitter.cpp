#include "sim/predict/job/jitter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/hash.h"

namespace slmsim {
namespace {

constexpr double kLeastNormal = 0.01;  // times are positive
constexpr double kClip = 4;            // standard deviations
enum JitterStream : std::uint64_t { kGpu, kRate, kRtt };
constexpr std::uint64_t kMostSteps = 1U << 20U;  // in a round

// (0, 1)
double uniform(SplitMix64& bits) { return (static_cast<double>(bits.next53()) + 0.5) * 0x1p-53; }

// Box and Muller (Annals of Mathematical Statistics 29, 1958).
double normal(SplitMix64& bits) {
  const double radius = std::sqrt(-2 * std::log(uniform(bits)));
  return std::clamp(radius * std::cos(2 * std::numbers::pi * uniform(bits)), -kClip, kClip);
}

double factor_at(const Scatter& scatter, double deviate) {
  if (scatter.shape == JitterShape::kNormal) return std::max(kLeastNormal, 1 + scatter.sd * deviate);
  const double variance = std::log1p(scatter.sd * scatter.sd);
  return std::exp(std::sqrt(variance) * deviate - variance / 2);
}

}  // namespace

double JitterDraw::factor(const std::optional<Scatter>& scatter, std::uint64_t what, std::uint64_t which) const {
  if (!scatter) return 1;
  std::uint64_t key = SplitMix64::mixed(seed_ + SplitMix64::kStep);
  for (const std::uint64_t part : {state_, what, which}) key = SplitMix64::mixed(key ^ (part * SplitMix64::kStep + 1));
  SplitMix64 bits(key);
  if (scatter->shape == JitterShape::kExponential) return 1 - scatter->sd - scatter->sd * std::log(uniform(bits));
  return factor_at(*scatter, normal(bits));
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
