#include "sim/planner/solver/choice_program.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace slmsim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A program while choices are taken out of it. Between two choices there is at most one table of costs.
class Reduction {
 public:
  explicit Reduction(const ChoiceProgram& program) : cost_(program.cost), neighbours_(program.cost.size()) {
    for (const auto& pair : program.pairs) add(pair.a, pair.b, pair.cost);
  }

  std::optional<double> minimum() {
    std::vector<bool> gone(cost_.size(), false);
    double constant = 0;
    for (std::size_t left = cost_.size(); left > 0; --left) {
      std::size_t best = cost_.size();
      for (std::size_t i = 0; i < cost_.size(); ++i) {
        if (!gone[i] && (best == cost_.size() || neighbours_[i].size() < neighbours_[best].size())) best = i;
        if (best == i && neighbours_[i].size() <= 1) break;
      }
      if (neighbours_[best].size() > 2) return std::nullopt;
      constant += take_out(best);
      gone[best] = true;
    }
    return constant;
  }

 private:
  using Table = std::vector<double>;  // row-major, own options x neighbour's options

  void add(std::size_t a, std::size_t b, const Table& costs) {
    auto& forward = neighbours_[a].try_emplace(b, Table(costs.size(), 0.0)).first->second;
    auto& backward = neighbours_[b].try_emplace(a, Table(costs.size(), 0.0)).first->second;
    const std::size_t high = cost_[a].size(), wide = cost_[b].size();
    for (std::size_t k = 0; k < high; ++k) {
      for (std::size_t l = 0; l < wide; ++l) {
        forward[k * wide + l] += costs[k * wide + l];
        backward[l * high + k] += costs[k * wide + l];
      }
    }
  }

  // Returns what is left of a choice without neighbours; else its neighbours take over its costs.
  double take_out(std::size_t i) {
    const auto neighbours = std::move(neighbours_[i]);
    neighbours_[i].clear();
    for (const auto& [other, table] : neighbours) neighbours_[other].erase(i);
    if (neighbours.empty()) return *std::min_element(cost_[i].begin(), cost_[i].end());
    const auto& [a, to_a] = *neighbours.begin();
    const std::size_t high = cost_[a].size();
    if (neighbours.size() == 1) {
      for (std::size_t k = 0; k < high; ++k) {
        double least = kInfinity;
        for (std::size_t o = 0; o < cost_[i].size(); ++o) least = std::min(least, cost_[i][o] + to_a[o * high + k]);
        cost_[a][k] += least;
      }
      return 0;
    }
    const auto& [b, to_b] = *neighbours.rbegin();
    const std::size_t wide = cost_[b].size();
    Table joined(high * wide, kInfinity);
    for (std::size_t k = 0; k < high; ++k) {
      for (std::size_t l = 0; l < wide; ++l) {
        for (std::size_t o = 0; o < cost_[i].size(); ++o)
          joined[k * wide + l] = std::min(joined[k * wide + l], cost_[i][o] + to_a[o * high + k] + to_b[o * wide + l]);
      }
    }
    add(a, b, joined);
    return 0;
  }

  std::vector<Table> cost_;
  std::vector<std::map<std::size_t, Table>> neighbours_;
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

std::vector<std::size_t> improved(const ChoiceProgram& program, std::vector<std::size_t> options) {
  double cost = cost_of(program, options);
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t k = 0; k < program.cost[i].size(); ++k) {
        const std::size_t before = std::exchange(options[i], k);
        const double now = k == before ? cost : cost_of(program, options);
        if (now < cost && within_budgets(program, options)) {
          cost = now;
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

}  // namespace slmsim
