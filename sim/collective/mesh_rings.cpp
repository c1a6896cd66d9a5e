#include "sim/collective/mesh_rings.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace slmsim {
namespace {

using RankOrder = std::vector<std::size_t>;

constexpr double kLeastStep = 0.49;  // of the best speed: slower ones are not tried (search.cc)
constexpr int kMostRings = 16;       // maxChannels: half of MAXCHANNELS
constexpr int kMostTries = 1 << 20;  // NCCL's search is limited too (NCCL_SEARCH_TIMEOUT), and keeps its best result
constexpr double kRounding = 1 + 1e-9;

// Rings of one speed that fit on the links together.
class RingSearch {
 public:
  RingSearch(const PairRates& rates, double speed, bool relayed) : rates_(rates), left_(rates.size() * rates.size()) {
    const std::size_t n = rates.size();
    for (std::size_t i = 0; i < n * n; ++i) left_[i] = static_cast<int>(rates.rate(i / n, i % n) / speed * kRounding);
    find_cycles(relayed);
    place(0);
  }

  std::vector<RankOrder> orders() const {
    std::vector<RankOrder> out;
    out.reserve(best_.size());
    for (const std::size_t cycle : best_) out.push_back(cycles_[cycle].order);
    return out;
  }

 private:
  struct Cycle {
    RankOrder order;
    std::vector<std::size_t> links;  // indices into left_, repeated by use
    int times = 0;                   // how often it fits alone
  };

  std::size_t link(std::size_t from, std::size_t to) const { return from * rates_.size() + to; }

  // Collects the links of an order's ring; false: it is not closed.
  bool links_of(const RankOrder& order, bool relayed, std::vector<std::size_t>& links) const {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t from = order[i], to = order[(i + 1) % order.size()];
      const int relay = relayed ? rates_.relay(from, to) : -1;
      if (left_[link(from, to)] > 0) {
        links.push_back(link(from, to));
      } else if (relay >= 0) {
        links.push_back(link(from, static_cast<std::size_t>(relay)));
        links.push_back(link(static_cast<std::size_t>(relay), to));
      } else {
        return false;
      }
    }
    return true;
  }

  void find_cycles(bool relayed) {
    RankOrder order(rates_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      Cycle cycle{order, {}, 0};
      if (!links_of(order, relayed, cycle.links)) continue;
      while (cycle.times < kMostRings && take(cycle)) ++cycle.times;
      for (int i = 0; i < cycle.times; ++i) give(cycle);
      if (cycle.times > 0) cycles_.push_back(std::move(cycle));
    } while (std::next_permutation(order.begin() + 1, order.end()));
    std::stable_sort(cycles_.begin(), cycles_.end(), [](const Cycle& a, const Cycle& b) { return a.times > b.times; });
  }

  bool take(const Cycle& cycle) {
    for (std::size_t i = 0; i < cycle.links.size(); ++i) {
      if (--left_[cycle.links[i]] >= 0) continue;
      for (std::size_t back = 0; back <= i; ++back) ++left_[cycle.links[back]];
      return false;
    }
    return true;
  }
  void give(const Cycle& cycle) {
    for (const std::size_t at : cycle.links) ++left_[at];
  }

  // Upper bound of further rings by the GPU with the fewest remaining links: each ring enters and leaves every GPU.
  int bound() const {
    const std::size_t n = rates_.size();
    int least = kMostRings;
    for (std::size_t gpu = 0; gpu < n; ++gpu) {
      int out = 0, in = 0;
      for (std::size_t other = 0; other < n; ++other) {
        out += left_[link(gpu, other)];
        in += left_[link(other, gpu)];
      }
      least = std::min({least, out, in});
    }
    return least;
  }

  // Adds rings from the cycle `first` on. False: the search ends.
  bool place(std::size_t first) {
    if (taken_.size() > best_.size()) best_ = taken_;
    const int more = bound();
    if (taken_.empty()) most_ = static_cast<std::size_t>(more);
    if (best_.size() >= most_) return false;
    if (taken_.size() + static_cast<std::size_t>(more) <= best_.size()) return true;
    for (std::size_t i = first; i < cycles_.size(); ++i) {
      if (++tries_ > kMostTries) return false;
      if (!take(cycles_[i])) continue;
      taken_.push_back(i);
      const bool goes_on = place(i);
      taken_.pop_back();
      give(cycles_[i]);
      if (!goes_on) return false;
    }
    return true;
  }

  const PairRates& rates_;
  std::vector<int> left_;  // remaining rings per direction of each link
  std::vector<Cycle> cycles_;
  std::vector<std::size_t> taken_, best_;
  std::size_t most_ = 0;
  int tries_ = 0;
};

}  // namespace

PairRates::PairRates(const NodeInside& inside, std::span<const int> gpus)
    : count_(gpus.size()), rates_(count_ * count_, 0.0) {
  for (const PartLink& link : inside.links) {
    const auto a = std::find(gpus.begin(), gpus.end(), link.from), b = std::find(gpus.begin(), gpus.end(), link.to);
    if (a == gpus.end() || b == gpus.end()) continue;
    const auto i = static_cast<std::size_t>(a - gpus.begin()), j = static_cast<std::size_t>(b - gpus.begin());
    const double rate = std::max(rates_[i * count_ + j], (link.peak * link.efficiency).value);
    rates_[i * count_ + j] = rates_[j * count_ + i] = rate;
  }
}

bool PairRates::any() const {
  return std::any_of(rates_.begin(), rates_.end(), [](double rate) { return rate > 0; });
}

bool PairRates::equal() const {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (rate(i, j) != rate(1, 0)) return false;
    }
  }
  return true;
}

int PairRates::relay(std::size_t from, std::size_t to) const {
  if (rate(from, to) > 0) return -1;
  int best = -1;
  double most = 0;
  for (std::size_t by = 0; by < count_; ++by) {
    const double least = std::min(rate(from, by), rate(by, to));
    if (least <= most) continue;
    most = least;
    best = static_cast<int>(by);
  }
  return best;
}

std::vector<RankOrder> mesh_rings(const PairRates& rates) {
  std::set<double, std::greater<>> speeds;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (rates.rate(i, j) > 0) speeds.insert(rates.rate(i, j));
    }
  }
  std::vector<RankOrder> best;
  double best_speed = 0;
  for (const double speed : speeds) {
    if (!best.empty() && speed < kLeastStep * best_speed) break;
    for (const bool relayed : {false, true}) {
      if (relayed && !best.empty()) break;
      auto found = RingSearch(rates, speed, relayed).orders();
      if (static_cast<double>(found.size()) * speed <= static_cast<double>(best.size()) * best_speed) continue;
      best = std::move(found);
      best_speed = speed;
    }
  }
  return best;
}

}  // namespace slmsim
