// Chooses one option for each choice at the least total cost: the integer program of Alpa's intra-operator planner
// (arXiv 2201.12023, section 4.2).
//
//   minimise    sum_i c_i[x_i] + sum_(i,j) r_ij[x_i, x_j]
//   subject to  sum_i use_m,i[x_i] <= limit_m for every budget m
//
// With s_ik = 1 where choice i takes option k, and e_ijkl for the product s_ik s_jl, the program is linear: sum_k s_ik
// = 1, sum_l e_ijkl = s_ik, sum_k e_ijkl = s_jl, s binary. (Alpa requires e binary and <=; with equalities e follows
// from s, and the relaxation is tighter.)
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/base/unit.h"

namespace slmsim {

struct ChoiceProgram {
  struct Pair {
    std::size_t a = 0, b = 0;  // different choices; any number of pairs may join the same two
    std::vector<double> cost;  // of option k of a with option l of b at [k * options of b + l]; infinite: forbidden
  };
  struct Budget {
    std::vector<std::vector<double>> use;  // per choice and option, not negative
    double limit = 0;
  };

  std::vector<std::vector<double>> cost;  // per choice and option; infinite: forbidden
  std::vector<Pair> pairs;
  std::vector<Budget> budgets;
};

enum class SolveStatus {
  kOptimal,
  kInfeasible,  // every combination is forbidden or over a budget
  kStopped,     // the time limit came first; `options` holds the best found, if any
};

struct ChoiceResult {
  SolveStatus status = SolveStatus::kInfeasible;
  std::vector<std::size_t> options;  // per choice
  double cost = 0;
};

// Optimal within one part in 10^7. Deterministic: one thread, no randomness. Throws std::runtime_error if the solver
// fails.
ChoiceResult solve(const ChoiceProgram& program, Seconds limit);

// Changes single choices while that lowers the cost, for differences below the solver's accuracy.
std::vector<std::size_t> improved(const ChoiceProgram& program, std::vector<std::size_t> options);

double cost_of(const ChoiceProgram& program, const std::vector<std::size_t>& options);
bool within_budgets(const ChoiceProgram& program, const std::vector<std::size_t>& options);

// The least cost without the budgets, by another method: choices with at most two neighbours are eliminated one by one
// (dead ends, series and parallel reductions). Nothing where that ends early. It is the optimum of a program without
// budgets and a lower bound of one with them.
std::optional<double> reduced_minimum(const ChoiceProgram& program);
// The options with that cost: exact, and in a thousandth of the solver's time. Nothing where the reduction ends early,
// or every combination is forbidden.
std::optional<std::vector<std::size_t>> reduced_options(const ChoiceProgram& program);

}  // namespace slmsim
