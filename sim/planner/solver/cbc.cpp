// The only file that knows COIN-OR CBC.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <CbcModel.hpp>
#include <CoinError.hpp>
#include <CoinFinite.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <fmt/format.h>

#include "sim/planner/solver/choice_program.h"

namespace slmsim {
namespace {

// CBC's tolerances are absolute (1e-7 and 1e-5); objectives are brought to this size.
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
    binaries_ = columns();
    for (const auto& pair : program.pairs) add_pair(pair);
    for (const auto& budget : program.budgets) add_budget(budget);
  }

  OsiClpSolverInterface load() const {
    CoinPackedMatrix matrix(false, row_of_.data(), column_of_.data(), value_.data(),
                            static_cast<CoinBigIndex>(value_.size()));
    matrix.setDimensions(static_cast<int>(row_low_.size()), columns());
    double largest = 0;
    for (const double cost : objective_) largest = std::max(largest, std::abs(cost));
    std::vector<double> scaled = objective_;
    for (double& cost : scaled) cost *= largest > 0 ? kObjectiveSize / largest : 1.0;
    const std::vector<double> low(objective_.size(), 0.0);
    OsiClpSolverInterface solver;
    solver.messageHandler()->setLogLevel(0);
    solver.loadProblem(matrix, low.data(), upper_.data(), scaled.data(), row_low_.data(), row_high_.data());
    for (int column = 0; column < binaries_; ++column) solver.setInteger(column);
    return solver;
  }

  std::vector<std::size_t> options(const double* solution) const {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < program_.cost.size(); ++i) {
      const double* begin = solution + first_[i];
      const double* end = begin + program_.cost[i].size();
      chosen.push_back(static_cast<std::size_t>(std::max_element(begin, end) - begin));
    }
    return chosen;
  }

 private:
  using Entries = std::vector<std::pair<int, double>>;

  int columns() const { return static_cast<int>(objective_.size()); }
  int add_row(double low, double high) {
    row_low_.push_back(low);
    row_high_.push_back(high);
    return static_cast<int>(row_low_.size()) - 1;
  }
  void add_column(double cost, const Entries& entries) {
    for (const auto& [row, value] : entries) add_entry(row, columns(), value);
    objective_.push_back(std::isfinite(cost) ? cost : 0.0);
    upper_.push_back(std::isfinite(cost) ? 1.0 : 0.0);
  }
  void add_entry(int row, int column, double value) {
    row_of_.push_back(row);
    column_of_.push_back(column);
    value_.push_back(value);
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
    // In parts of the limit, so that the row's size is that of the others.
    const double unit = budget.limit > 0 ? budget.limit : 1.0;
    const int row = add_row(-COIN_DBL_MAX, budget.limit / unit);
    for (std::size_t i = 0; i < budget.use.size(); ++i) {
      for (std::size_t k = 0; k < budget.use[i].size(); ++k) {
        if (budget.use[i][k] != 0) add_entry(row, first_[i] + static_cast<int>(k), budget.use[i][k] / unit);
      }
    }
  }

  const ChoiceProgram& program_;
  std::vector<int> first_;  // column of each choice's first option
  int binaries_ = 0;
  std::vector<double> objective_, upper_, row_low_, row_high_;
  std::vector<int> row_of_, column_of_;
  std::vector<double> value_;
};

}  // namespace

ChoiceResult solve(const ChoiceProgram& program, Seconds limit) {
  if (program.cost.empty()) return {SolveStatus::kOptimal, {}, 0.0};
  try {
    const Translation translation(program);
    CbcModel model(translation.load());
    model.setLogLevel(0);
    model.solver()->messageHandler()->setLogLevel(0);
    model.setMaximumSeconds(limit.value);
    model.setAllowableGap(0.0);
    model.setAllowableFractionGap(0.0);
    model.branchAndBound();
    if (model.isProvenInfeasible() || model.isContinuousUnbounded()) return {};
    const double* best = model.bestSolution();
    const SolveStatus status = model.isProvenOptimal() ? SolveStatus::kOptimal : SolveStatus::kStopped;
    if (!best) return {status == SolveStatus::kOptimal ? SolveStatus::kInfeasible : status, {}, 0.0};
    ChoiceResult result{status, improved(program, translation.options(best)), 0.0};
    result.cost = cost_of(program, result.options);
    return result;
  } catch (const CoinError& error) {
    throw std::runtime_error(fmt::format("CBC: {} in {}", error.message(), error.methodName()));
  }
}

}  // namespace slmsim
