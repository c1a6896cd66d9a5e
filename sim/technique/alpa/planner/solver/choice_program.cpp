#include "sim/technique/alpa/planner/solver/choice_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include <boost/range/adaptor/reversed.hpp>

namespace slmsim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A program from which choices are eliminated. There is at most one cost table between two choices.
class Reduction {
 public:
  explicit Reduction(const ChoiceProgram& program)
      : cost_(program.cost), neighbours_(program.cost.size()), gone_(program.cost.size(), false) {
    for (const auto& pair : program.pairs) add(pair.a, pair.b, pair.cost);
  }

  // Returns nothing where it ends early. If all remaining choices have three neighbours or more, one of them is fixed
  // to each of its options in turn, once: a tied head closes the chain of layers to a ring.
  std::optional<double> minimum(bool may_fix = true) {
    // Takes the first choice with the fewest neighbours; dead ends are equivalent. Outdated keys stay in the queue and
    // are skipped.
    using Key = std::pair<std::size_t, std::size_t>;
    const auto key = [&](std::size_t i) { return Key(std::max<std::size_t>(1, neighbours_[i].size()), i); };
    std::vector<Key> keys;
    for (std::size_t i = 0; i < cost_.size(); ++i) {
      if (!gone_[i]) keys.push_back(key(i));
    }
    std::priority_queue<Key, std::vector<Key>, std::greater<>> left({}, std::move(keys));
    double constant = 0;
    while (!left.empty()) {
      const auto [degree, best] = left.top();
      left.pop();
      if (gone_[best] || key(best).first != degree) continue;
      if (degree > 2) {
        if (!may_fix) return std::nullopt;
        Key most{0, 0};
        for (std::size_t i = 0; i < cost_.size(); ++i) {
          if (!gone_[i]) most = std::max(most, key(i));
        }
        const auto rest = minimum_with_one_fixed(most.second);
        return rest ? std::optional(constant + *rest) : std::nullopt;
      }
      std::array<Key, 2> around;  // before the elimination
      std::size_t count = 0;
      for (const auto& [other, table] : neighbours_[best]) around[count++] = key(other);
      constant += take_out(best);
      for (std::size_t n = 0; n < count; ++n) {
        if (const Key now = key(around[n].second); now != around[n]) left.push(now);
      }
    }
    return constant;
  }

  // The optimal options after minimum().
  std::vector<std::size_t> options() const {
    std::vector<std::size_t> out(cost_.size());
    for (const auto& taken : boost::adaptors::reverse(taken_)) {
      std::size_t at = 0;
      for (const auto& [other, count] : taken.neighbours) at = at * count + out[other];
      out[taken.choice] = taken.best[at];
    }
    return out;
  }

 private:
  using Table = std::vector<double>;                              // row-major, own options x neighbour's options
  using Neighbours = std::vector<std::pair<std::size_t, Table>>;  // few, in order

  // The best option of an eliminated choice for every combination of its neighbours' options.
  struct Elimination {
    std::size_t choice = 0;
    std::vector<std::pair<std::size_t, std::size_t>> neighbours;  // with their numbers of options
    std::vector<std::uint16_t> best;
  };

  std::optional<double> minimum_with_one_fixed(std::size_t choice) {
    std::optional<double> best;
    std::optional<Reduction> of_best;
    for (std::size_t option = 0; option < cost_[choice].size(); ++option) {
      Reduction fixed = *this;
      const double own = fixed.fix(choice, option);
      const auto rest = fixed.minimum(false);
      if (!rest) return std::nullopt;
      if (best && own + *rest >= *best) continue;
      best = own + *rest;
      of_best.emplace(std::move(fixed));
    }
    if (of_best) *this = std::move(*of_best);
    return best;
  }

  // Returns the option's cost; its neighbours take over the costs of their pairs with it.
  double fix(std::size_t choice, std::size_t option) {
    for (const auto& [other, table] : neighbours_[choice]) {
      forget(other, choice);
      const std::size_t wide = cost_[other].size();
      for (std::size_t k = 0; k < wide; ++k) cost_[other][k] += table[option * wide + k];
    }
    neighbours_[choice].clear();
    gone_[choice] = true;
    Elimination& taken = taken_.emplace_back();
    taken.choice = choice;
    taken.best = {static_cast<std::uint16_t>(option)};
    return cost_[choice][option];
  }

  // The position of a neighbour, or its insertion point.
  static Neighbours::iterator place_of(Neighbours& around, std::size_t other) {
    return std::find_if(around.begin(), around.end(), [&](const auto& each) { return each.first >= other; });
  }
  void forget(std::size_t i, std::size_t other) { neighbours_[i].erase(place_of(neighbours_[i], other)); }
  Table& table_of(std::size_t i, std::size_t other, std::size_t size) {
    const auto at = place_of(neighbours_[i], other);
    if (at != neighbours_[i].end() && at->first == other) return at->second;
    return neighbours_[i].emplace(at, other, Table(size, 0.0))->second;
  }

  void add(std::size_t a, std::size_t b, const Table& costs) {
    auto& forward = table_of(a, b, costs.size());
    auto& backward = table_of(b, a, costs.size());
    const std::size_t high = cost_[a].size(), wide = cost_[b].size();
    for (std::size_t k = 0; k < high; ++k) {
      for (std::size_t l = 0; l < wide; ++l) {
        forward[k * wide + l] += costs[k * wide + l];
        backward[l * high + k] += costs[k * wide + l];
      }
    }
  }

  // Returns the cost of a choice without neighbours; else its neighbours take over its costs.
  double take_out(std::size_t i) {
    const auto neighbours = std::move(neighbours_[i]);
    neighbours_[i].clear();
    gone_[i] = true;
    Elimination& taken = taken_.emplace_back();
    taken.choice = i;
    for (const auto& [other, table] : neighbours) {
      forget(other, i);
      taken.neighbours.emplace_back(other, cost_[other].size());
    }
    const auto least = [&](const auto& beside) {
      double cost = kInfinity;
      std::size_t best = 0;
      for (std::size_t o = 0; o < cost_[i].size(); ++o) {
        const double here = cost_[i][o] + beside(o);
        if (here < cost) std::tie(cost, best) = std::pair(here, o);
      }
      taken.best.push_back(static_cast<std::uint16_t>(best));
      return cost;
    };
    if (neighbours.empty()) return least([](std::size_t) { return 0.0; });
    const auto& [a, to_a] = neighbours.front();
    const std::size_t high = cost_[a].size();
    if (neighbours.size() == 1) {
      for (std::size_t k = 0; k < high; ++k)
        cost_[a][k] += least([&, k, &table = to_a](std::size_t o) { return table[o * high + k]; });
      return 0;
    }
    const auto& [b, to_b] = neighbours.back();
    const std::size_t wide = cost_[b].size();
    Table joined(high * wide, kInfinity);
    for (std::size_t k = 0; k < high; ++k) {
      for (std::size_t l = 0; l < wide; ++l) {
        joined[k * wide + l] = least([&, k, l, &table_a = to_a, &table_b = to_b](std::size_t o) {
          return table_a[o * high + k] + table_b[o * wide + l];
        });
      }
    }
    add(a, b, joined);
    return 0;
  }

  std::vector<Table> cost_;
  std::vector<Neighbours> neighbours_;
  std::vector<bool> gone_;
  std::vector<Elimination> taken_;
};

}  // namespace

double cost_of(const ChoiceProgram& program, const std::vector<std::size_t>& options) {
  double cost = 0;
  for (std::size_t i = 0; i < program.cost.size(); ++i) cost += program.cost[i][options[i]];
  for (const auto& pair : program.pairs)
    cost += pair.cost[options[pair.a] * program.cost[pair.b].size() + options[pair.b]];
  return cost;
}

bool within_budgets(const ChoiceProgram& program, const std::vector<std::size_t>& options) {
  return std::all_of(program.budgets.begin(), program.budgets.end(), [&](const ChoiceProgram::Budget& budget) {
    double use = 0;
    for (std::size_t i = 0; i < options.size(); ++i) use += budget.use[i][options[i]];
    return use <= budget.limit * (1 + 1e-9);
  });
}

namespace {

// Costs of single choices with their neighbours, so that most changes need no sum over the whole program.
class NeighbourCosts {
 public:
  explicit NeighbourCosts(const ChoiceProgram& program) : program_(program), pairs_(program.cost.size()) {
    for (const auto& pair : program.pairs) {
      pairs_[pair.a].push_back(&pair);
      pairs_[pair.b].push_back(&pair);
    }
  }

  double cost(const std::vector<std::size_t>& options, std::size_t choice) const {
    double cost = program_.cost[choice][options[choice]];
    for (const auto* pair : pairs_[choice])
      cost += pair->cost[options[pair->a] * program_.cost[pair->b].size() + options[pair->b]];
    return cost;
  }

 private:
  const ChoiceProgram& program_;
  std::vector<std::vector<const ChoiceProgram::Pair*>> pairs_;
};

}  // namespace

std::vector<std::size_t> improved(const ChoiceProgram& program, std::vector<std::size_t> options) {
  constexpr double kRounding = 1e-13;  // relative to the cost of one choice
  const NeighbourCosts around(program);
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t k = 0; k < program.cost[i].size(); ++k) {
        if (k == options[i]) continue;
        const double here = around.cost(options, i);
        const std::size_t before = std::exchange(options[i], k);
        if (around.cost(options, i) < here - kRounding * std::abs(here) && within_budgets(program, options)) {
          better = true;
        } else {
          options[i] = before;
        }
      }
    }
  }
  return options;
}

std::optional<double> reduced_minimum(const ChoiceProgram& program) { return Reduction(program).minimum(); }

std::optional<std::vector<std::size_t>> reduced_options(const ChoiceProgram& program) {
  Reduction reduction(program);
  const auto minimum = reduction.minimum();
  if (!minimum || !std::isfinite(*minimum)) return std::nullopt;
  return reduction.options();
}

}  // namespace slmsim
