// The only file that uses COIN-OR CBC.
#include <CbcModel.hpp>
#include <CoinError.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include "sim/technique/alpa/planner/solver/linear_program.h"

namespace slmsim {
namespace {

OsiClpSolverInterface load(const LinearProgram& program) {
  CoinPackedMatrix matrix(false, program.row.data(), program.column.data(), program.value.data(),
                          static_cast<CoinBigIndex>(program.value.size()));
  matrix.setDimensions(static_cast<int>(program.low.size()), static_cast<int>(program.cost.size()));
  const std::vector<double> least(program.cost.size(), 0.0);
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  solver.loadProblem(matrix, least.data(), program.upper.data(), program.cost.data(), program.low.data(),
                     program.high.data());
  for (int column = 0; column < program.integers; ++column) solver.setInteger(column);
  return solver;
}

LinearSolution solve(const LinearProgram& program, double limit) {
  LinearSolution out;
  try {
    CbcModel model(load(program));
    model.setLogLevel(0);
    model.solver()->messageHandler()->setLogLevel(0);
    model.setMaximumSeconds(limit);
    model.setAllowableGap(0.0);
    model.setAllowableFractionGap(0.0);
    model.branchAndBound();
    out.infeasible = model.isProvenInfeasible() || model.isContinuousUnbounded();
    out.optimal = model.isProvenOptimal();
    if (const double* best = model.bestSolution()) out.best.assign(best, best + program.cost.size());
  } catch (const CoinError& error) {
    out.error = error.message() + " in " + error.methodName();
  }
  return out;
}

}  // namespace
}  // namespace slmsim

extern "C" [[gnu::visibility("default")]] void slmsim_cbc_solve(const slmsim::LinearProgram& program, double limit,
                                                                slmsim::LinearSolution& out) {
  out = slmsim::solve(program, limit);
}
