// Converts a choice program to an integer program, and its solution to choices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "sim/base/file.h"
#include "sim/technique/alpa/planner/solver/choice_program.h"
#include "sim/technique/alpa/planner/solver/linear_program.h"

namespace slmsim {
namespace {

// CBC's tolerances are absolute (1e-7 and 1e-5); objectives are scaled to this size.
constexpr double kObjectiveSize = 1e4;

class Translation {
 public:
  explicit Translation(const ChoiceProgram& program) : program_(program) {
    first_.reserve(program.cost.size());
    for (const auto& options : program.cost) {
      first_.push_back(columns());
      const int row = add_row(1.0, 1.0);
      for (const double cost : options) add_column(cost, {{row, 1.0}});
    }
    linear_.integers = columns();
    for (const auto& pair : program.pairs) add_pair(pair);
    for (const auto& budget : program.budgets) add_budget(budget);
  }

  LinearProgram program() const {
    LinearProgram out = linear_;
    double largest = 0;
    for (const double cost : out.cost) largest = std::max(largest, std::abs(cost));
    for (double& cost : out.cost) cost *= largest > 0 ? kObjectiveSize / largest : 1.0;
    return out;
  }

  std::vector<std::size_t> options(const std::vector<double>& solution) const {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < program_.cost.size(); ++i) {
      const auto begin = solution.begin() + first_[i];
      const auto end = begin + static_cast<std::ptrdiff_t>(program_.cost[i].size());
      chosen.push_back(static_cast<std::size_t>(std::max_element(begin, end) - begin));
    }
    return chosen;
  }

 private:
  using Entries = std::vector<std::pair<int, double>>;

  int columns() const { return static_cast<int>(linear_.cost.size()); }
  int add_row(double low, double high) {
    linear_.low.push_back(low);
    linear_.high.push_back(high);
    return static_cast<int>(linear_.low.size()) - 1;
  }
  void add_column(double cost, const Entries& entries) {
    for (const auto& [row, value] : entries) add_entry(row, columns(), value);
    linear_.cost.push_back(std::isfinite(cost) ? cost : 0.0);
    linear_.upper.push_back(std::isfinite(cost) ? 1.0 : 0.0);
  }
  void add_entry(int row, int column, double value) {
    linear_.row.push_back(row);
    linear_.column.push_back(column);
    linear_.value.push_back(value);
  }

  void add_pair(const ChoiceProgram::Pair& pair) {
    const std::size_t wide = program_.cost[pair.b].size(), high = program_.cost[pair.a].size();
    const auto marginals = [&](std::size_t choice) {
      std::vector<int> rows;
      for (std::size_t k = 0; k < program_.cost[choice].size(); ++k) {
        rows.push_back(add_row(0.0, 0.0));
        add_entry(rows.back(), first_[choice] + static_cast<int>(k), -1.0);
      }
      return rows;
    };
    const auto rows_a = marginals(pair.a), rows_b = marginals(pair.b);
    for (std::size_t k = 0; k < high; ++k) {
      for (std::size_t l = 0; l < wide; ++l) {
        const double cost = pair.cost[k * wide + l];
        if (std::isfinite(cost)) add_column(cost, {{rows_a[k], 1.0}, {rows_b[l], 1.0}});
      }
    }
  }

  void add_budget(const ChoiceProgram::Budget& budget) {
    // Relative to the limit, so that the row has the same magnitude as the others.
    const double unit = budget.limit > 0 ? budget.limit : 1.0;
    const int row = add_row(-std::numeric_limits<double>::max(), budget.limit / unit);
    for (std::size_t i = 0; i < budget.use.size(); ++i) {
      for (std::size_t k = 0; k < budget.use[i].size(); ++k) {
        if (budget.use[i][k] != 0) add_entry(row, first_[i] + static_cast<int>(k), budget.use[i][k] / unit);
      }
    }
  }

  const ChoiceProgram& program_;
  std::vector<int> first_;  // column of each choice's first option
  LinearProgram linear_;
};

}  // namespace

ChoiceResult solve(const ChoiceProgram& program, Seconds limit) {
  if (program.cost.empty()) return {SolveStatus::kOptimal, {}, 0.0};
  static auto* const kSolve = library_function<decltype(slmsim_cbc_solve)>("libslmsim_cbc.so", "slmsim_cbc_solve");
  const Translation translation(program);
  LinearSolution found;
  kSolve(translation.program(), limit.value, found);
  if (!found.error.empty()) throw std::runtime_error("CBC: " + found.error);
  if (found.infeasible) return {};
  const SolveStatus status = found.optimal ? SolveStatus::kOptimal : SolveStatus::kStopped;
  if (found.best.empty()) return {found.optimal ? SolveStatus::kInfeasible : status, {}, 0.0};
  ChoiceResult result{status, improved(program, translation.options(found.best)), 0.0};
  result.cost = cost_of(program, result.options);
  return result;
}

}  // namespace slmsim
