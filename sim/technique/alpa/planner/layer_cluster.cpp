#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planner/stage_choice.h"

namespace slmsim {
namespace {

constexpr double kUncut = std::numeric_limits<double>::infinity();

// Bytes across a cut before each operator; kUncut where the cut crosses more than the output of the operator before it.
std::vector<double> crossing(const OperatorGraph& operators) {
  const std::size_t count = boost::num_vertices(operators);
  std::vector<double> bytes(count, kUncut);
  std::size_t farthest = 0;  // last reader of any operator before v - 1
  for (std::size_t v = 1; v < count; ++v) {
    if (farthest < v) bytes[v] = operators[v - 1].outputs;
    for (const auto edge : boost::make_iterator_range(boost::out_edges(v - 1, operators)))
      farthest = std::max(farthest, boost::target(edge, operators));
  }
  return bytes;
}

// Excess work of a layer, then bytes, then squares of work, each minimised in turn.
struct ClusterCost {
  double excess = kUncut, crossed = 0, squares = 0;
  auto operator<=>(const ClusterCost&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
};

class Clustering {
 public:
  Clustering(const OperatorGraph& operators, std::size_t layers) : bytes_(crossing(operators)) {
    const std::size_t count = boost::num_vertices(operators);
    cuts_ = {0};
    for (std::size_t v = 1; v < count; ++v) {
      if (bytes_[v] != kUncut) cuts_.push_back(v);
    }
    cuts_.push_back(count);
    before_ = {0};
    for (std::size_t c = 1; c < cuts_.size(); ++c) {
      before_.push_back(before_.back());
      for (std::size_t v = cuts_[c - 1]; v < cuts_[c]; ++v) before_.back() += operators[v].matrix.flops();
    }
    most_ = std::min(layers, cuts_.size() - 1);
    share_ = before_.back() / static_cast<double>(most_);
    best_.assign(most_ + 1, std::vector<ClusterCost>(cuts_.size()));
    from_.assign(most_ + 1, std::vector<std::size_t>(cuts_.size(), 0));
    best_[0][0] = {0, 0, 0};
  }

  std::vector<std::size_t> starts() {
    fill(0);  // tries few cuts
    if (best_[most_].back().excess == kUncut) fill(kUncut);
    std::vector<std::size_t> starts(most_);
    for (std::size_t n = most_, end = cuts_.size() - 1; n > 0; --n) {
      end = from_[n][end];
      starts[n - 1] = cuts_[end];
    }
    return starts;
  }

 private:
  static constexpr double kUneven = 1.6, kRounding = 1e-9;

  // Possible beginnings of the last layer.
  struct Range {
    std::size_t low = 0, high = 0;
  };
  // Possible ends of n - 1 layers.
  struct Row {
    std::vector<double> crossed;  // bytes of a layer that begins there, and of all before it
    double least_crossed = kUncut;
    Range reached;
    std::size_t at_low = 0, at_high = 0;  // positions of the last search's results
  };

  void fill(double most_excess) {
    for (std::size_t n = 1; n <= most_; ++n) {
      Row row = row_behind(n);
      for (std::size_t end = n; end < cuts_.size(); ++end) {
        // Capacity of n layers, and of the layers behind them.
        const double room = kUneven * share_ * (1 + kRounding), left = before_.back() - before_[end];
        if (before_[end] > static_cast<double>(n) * room + most_excess) break;
        if (left > static_cast<double>(most_ - n) * room + most_excess) continue;
        Range range{std::max(row.reached.low, n - 1), std::min(end, row.reached.high)};
        if (most_excess == 0 && n > 1) narrow(n, end, row, range);
        choose(n, end, row, range, most_excess);
      }
    }
  }

  Row row_behind(std::size_t n) const {
    Row out;
    out.crossed.resize(cuts_.size());
    out.reached = {cuts_.size(), 0};
    for (std::size_t begin = 0; begin + 1 < cuts_.size(); ++begin) {  // none begins at the end
      const ClusterCost& cost = best_[n - 1][begin];
      if (cost.excess == kUncut) continue;
      out.crossed[begin] = cost.crossed + (begin > 0 ? bytes_[cuts_[begin]] : 0.0);
      out.least_crossed = std::min(out.least_crossed, out.crossed[begin]);
      out.reached = {std::min(out.reached.low, begin), begin + 1};
    }
    return out;
  }

  // If the last cut but one is close to that of the previous end, among those with the least bytes, then layers less
  // even than that cannot be optimal: n - 1 layers of work w have squares of w^2 / (n - 1) or more.
  void narrow(std::size_t n, std::size_t end, Row& row, Range& range) const {
    const std::size_t like = from_[n][end - 1] + 1;
    if (like < range.low || like >= range.high) return;
    const ClusterCost& cost = best_[n - 1][like];
    const double last = before_[end] - before_[like], all = before_[end], parts = static_cast<double>(n);
    if (cost.excess != 0 || row.crossed[like] != row.least_crossed || last > kUneven * share_) return;
    const double squares = (cost.squares + last * last) * (1 + kRounding);
    const double middle = all * (parts - 1) / parts;
    const double wide = std::sqrt(std::max(0.0, (squares - all * all / parts) * (parts - 1) / parts)) + kRounding * all;
    range.low = std::max(range.low, first_from(row.at_low, [&](double work) { return work >= middle - wide; }));
    range.high = std::min(range.high, first_from(row.at_high, [&](double work) { return work > middle + wide; }));
  }

  // The first position whose preceding work satisfies `such`.
  template <class Such>
  std::size_t first_from(std::size_t& at, Such such) const {
    while (at < before_.size() && !such(before_[at])) ++at;
    while (at > 0 && such(before_[at - 1])) --at;
    return at;
  }

  void choose(std::size_t n, std::size_t end, const Row& row, const Range& range, double most_excess) {
    ClusterCost& to = best_[n][end];
    for (std::size_t begin = range.high; begin-- > range.low;) {
      const double work = before_[end] - before_[begin], excess = std::max(0.0, work - kUneven * share_);
      if (excess > std::min(to.excess, most_excess)) break;  // earlier beginnings have no less
      const ClusterCost& so_far = best_[n - 1][begin];
      if (so_far.excess == kUncut || so_far.excess + excess > to.excess) continue;
      const ClusterCost cost{so_far.excess + excess, row.crossed[begin], so_far.squares + work * work};
      if (cost <= to) {
        to = cost;
        from_[n][end] = begin;
      }
    }
  }

  std::vector<double> bytes_;
  std::vector<std::size_t> cuts_;
  std::vector<double> before_;  // FLOPs before each cut
  std::size_t most_ = 0;
  double share_ = 0;
  std::vector<std::vector<ClusterCost>> best_;  // by number of layers and their end
  std::vector<std::vector<std::size_t>> from_;  // beginning of the last of these layers
};

}  // namespace

std::vector<std::size_t> cluster_operators(const OperatorGraph& operators, std::size_t layers) {
  return Clustering(operators, layers).starts();
}

}  // namespace slmsim
