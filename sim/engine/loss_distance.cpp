#include "sim/engine/loss_distance.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "sim/base/hash.h"

namespace slmsim {
namespace {

constexpr int kParts = 16;

// Means of equal parts of the exponential distribution with mean 1: integrals of -ln v over parts of [0, 1].
std::array<double, kParts> part_means() {
  const auto integral = [](int to) {
    const double v = static_cast<double>(to) / kParts;
    return to > 0 ? v - v * std::log(v) : 0;
  };
  std::array<double, kParts> out{};
  int part = 0;
  for (double& mean : out) {
    mean = (integral(part + 1) - integral(part)) * kParts;
    ++part;
  }
  return out;
}

}  // namespace

double distance_to_loss(const TcpWindow& path, int losses) {
  static const std::array<double, kParts> kMeans = part_means();
  if (path.loss <= 0) return INFINITY;
  const double mean = path.segment.value / path.loss;
  const auto block = static_cast<std::uint64_t>((losses - 1 + kParts) / kParts);
  SplitMix64 random(SplitMix64::mixed(path.loss_sequence + SplitMix64::kStep) + block);
  if (losses == 0) return mean * (0.5 + static_cast<double>(random.next53()) * 0x1p-53);
  std::array<std::size_t, kParts> order{};
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = kParts - 1; i > 0; --i) std::swap(order[i], order[random.next() % (i + 1)]);
  return mean * kMeans[order[static_cast<std::size_t>((losses - 1) % kParts)]];
}

}  // namespace slmsim
