// An integer program in matrix form, and CBC behind it: a library of its own (cbc_library.cpp), loaded with the first
// program.
//
//   minimise cost x, where low <= A x <= high and 0 <= x <= upper, and the first `integers` of x are whole.
#pragma once

#include <string>
#include <vector>

namespace slmsim {

struct LinearProgram {
  int integers = 0;
  std::vector<double> cost, upper;  // of columns
  std::vector<double> low, high;    // of rows
  // Entries of A: their rows, columns and values.
  std::vector<int> row, column;
  std::vector<double> value;
};

// Deterministic: one thread, no randomness.
struct LinearSolution {
  bool infeasible = false, optimal = false;  // proven; neither if the time limit was reached
  std::vector<double> best;                  // columns; empty where none was found
  std::string error;                         // of the solver itself
};

}  // namespace slmsim

// Entry point of the library; `limit`: seconds.
extern "C" void slmsim_cbc_solve(const slmsim::LinearProgram& program, double limit, slmsim::LinearSolution& out);
