#include "sim/planner/layer_cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/range/iterator_range.hpp>

namespace slmsim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Bytes that would cross a cut before each operator; kNever where more than the output of the operator before it does.
std::vector<double> crossing(const OperatorGraph& operators) {
  const std::size_t count = boost::num_vertices(operators);
  std::vector<double> bytes(count, kNever);
  std::size_t farthest = 0;  // reader of any operator before v - 1
  for (std::size_t v = 1; v < count; ++v) {
    if (farthest < v) bytes[v] = operators[v - 1].outputs;
    for (const auto edge : boost::make_iterator_range(boost::out_edges(v - 1, operators)))
      farthest = std::max(farthest, boost::target(edge, operators));
  }
  return bytes;
}

}  // namespace

std::vector<std::size_t> cluster_operators(const OperatorGraph& operators, std::size_t layers) {
  constexpr double kUneven = 1.6, kRounding = 1e-9;
  const std::size_t count = boost::num_vertices(operators);
  const std::vector<double> bytes = crossing(operators);
  std::vector<std::size_t> cuts = {0};
  for (std::size_t v = 1; v < count; ++v) {
    if (bytes[v] != kNever) cuts.push_back(v);
  }
  cuts.push_back(count);
  std::vector<double> before = {0};  // FLOPs in front of each cut
  for (std::size_t c = 1; c < cuts.size(); ++c) {
    before.push_back(before.back());
    for (std::size_t v = cuts[c - 1]; v < cuts[c]; ++v) before.back() += operators[v].matrix.flops();
  }
  const std::size_t most = std::min(layers, cuts.size() - 1);
  const double share = before.back() / static_cast<double>(most);
  // Too much work of a layer, then bytes, then squares of work, each least.
  struct Cost {
    double excess = kNever, crossed = 0, squares = 0;
    auto operator<=>(const Cost&) const = default;  // NOLINT(modernize-use-nullptr): see sim/base/unit.h
  };
  std::vector<std::vector<Cost>> best(most + 1, std::vector<Cost>(cuts.size()));
  std::vector<std::vector<std::size_t>> from(most + 1, std::vector<std::size_t>(cuts.size(), 0));
  best[0][0] = {0, 0, 0};
  // The first place whose work in front is such; searched from where it was found for the end before.
  const auto from_here = [&](std::size_t& at, auto such) {
    while (at < before.size() && !such(before[at])) ++at;
    while (at > 0 && such(before[at - 1])) --at;
    return at;
  };
  const auto fill = [&](double most_excess) {
    std::vector<double> crossed(cuts.size());  // of a layer that begins there, with all in front of it
    for (std::size_t n = 1; n <= most; ++n) {
      const std::vector<Cost>& row = best[n - 1];
      double least_crossed = kNever;
      std::size_t first = cuts.size(), end_of_row = 0;
      for (std::size_t begin = 0; begin < cuts.size(); ++begin) {
        if (row[begin].excess == kNever) continue;
        crossed[begin] = row[begin].crossed + (begin > 0 ? bytes[cuts[begin]] : 0.0);
        least_crossed = std::min(least_crossed, crossed[begin]);
        first = std::min(first, begin);
        end_of_row = begin + 1;
      }
      std::size_t at_low = 0, at_high = 0;
      for (std::size_t end = n; end < cuts.size(); ++end) {
        // What so many layers, and what those behind them, can hold.
        const double room = kUneven * share * (1 + kRounding), left = before.back() - before[end];
        if (before[end] > static_cast<double>(n) * room + most_excess) break;
        if (left > static_cast<double>(most - n) * room + most_excess) continue;
        Cost& to = best[n][end];
        std::size_t low = std::max(first, n - 1), high = std::min(end, end_of_row);
        // Where the last cut but one lies about where it did for the end before, of those with the least bytes, layers that are
        // less even than that cannot be the best: n - 1 layers of work w have squares of w^2 / (n - 1) or more.
        if (const std::size_t like = from[n][end - 1] + 1; most_excess == 0 && n > 1 && low <= like && like < high &&
                                                           row[like].excess == 0 && crossed[like] == least_crossed &&
                                                           before[end] - before[like] <= kUneven * share) {
          const double last = before[end] - before[like], all = before[end], parts = static_cast<double>(n);
          const double squares = (row[like].squares + last * last) * (1 + kRounding);
          const double middle = all * (parts - 1) / parts;
          const double wide =
              std::sqrt(std::max(0.0, (squares - all * all / parts) * (parts - 1) / parts)) + kRounding * all;
          low = std::max(low, from_here(at_low, [&](double work) { return work >= middle - wide; }));
          high = std::min(high, from_here(at_high, [&](double work) { return work > middle + wide; }));
        }
        for (std::size_t begin = high; begin-- > low;) {
          const double work = before[end] - before[begin], excess = std::max(0.0, work - kUneven * share);
          if (excess > std::min(to.excess, most_excess)) break;  // what begins earlier has no less
          const Cost& so_far = row[begin];
          if (so_far.excess == kNever || so_far.excess + excess > to.excess) continue;
          const Cost cost{so_far.excess + excess, crossed[begin], so_far.squares + work * work};
          if (cost <= to) {
            to = cost;
            from[n][end] = begin;
          }
        }
      }
    }
  };
  fill(0);  // which looks at few
  if (best[most].back().excess == kNever) fill(kNever);
  std::vector<std::size_t> starts(most);
  for (std::size_t n = most, end = cuts.size() - 1; n > 0; --n) {
    end = from[n][end];
    starts[n - 1] = cuts[end];
  }
  return starts;
}

}  // namespace slmsim
