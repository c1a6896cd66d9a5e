// The integer program against all combinations, on random small graphs.
#include "sim/technique/alpa/planner/solver/choice_program.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace slmsim::choice_program_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Seconds kEnough{60};

// The cheapest of all combinations that keep within the budgets; infinite if there is none.
double cheapest_of_all(const ChoiceProgram& program) {
  std::vector<std::size_t> options(program.cost.size(), 0);
  double best = kInfinity;
  for (bool more = true; more;) {
    if (within_budgets(program, options)) best = std::min(best, cost_of(program, options));
    more = false;
    for (std::size_t i = 0; i < options.size() && !more; ++i) {
      more = ++options[i] < program.cost[i].size();
      if (!more) options[i] = 0;
    }
  }
  return best;
}

struct Shape {
  std::size_t choices = 5, most_options = 4;
  double edges = 0.5;      // probability of a pair
  double forbidden = 0.1;  // probability of an entry of a pair
};

ChoiceProgram random_program(std::mt19937& random, const Shape& shape) {
  std::uniform_real_distribution<double> cost(0, 100), chance(0, 1);
  std::uniform_int_distribution<std::size_t> options(1, shape.most_options);
  ChoiceProgram program;
  for (std::size_t i = 0; i < shape.choices; ++i) {
    program.cost.emplace_back(options(random));
    for (double& c : program.cost.back()) c = cost(random);
  }
  for (std::size_t a = 0; a < shape.choices; ++a) {
    for (std::size_t b = a + 1; b < shape.choices; ++b) {
      if (chance(random) > shape.edges) continue;
      ChoiceProgram::Pair pair{a, b, {}};
      for (std::size_t k = 0; k < program.cost[a].size() * program.cost[b].size(); ++k)
        pair.cost.push_back(chance(random) < shape.forbidden ? kInfinity : cost(random));
      program.pairs.push_back(std::move(pair));
    }
  }
  return program;
}

TEST(ChoiceProgram, IsSolvedAsWellAsByTryingAll) {
  std::mt19937 random(1);
  int infeasible = 0;
  for (int i = 0; i < 150; ++i) {
    const ChoiceProgram program = random_program(random, {6, 4, 0.6, i % 3 == 0 ? 0.5 : 0.1});
    const double best = cheapest_of_all(program);
    const ChoiceResult result = solve(program, kEnough);
    if (std::isinf(best)) {
      EXPECT_EQ(result.status, SolveStatus::kInfeasible);
      ++infeasible;
      continue;
    }
    ASSERT_EQ(result.status, SolveStatus::kOptimal);
    EXPECT_NEAR(result.cost, best, 1e-6 * best);
    EXPECT_DOUBLE_EQ(result.cost, cost_of(program, result.options));
  }
  EXPECT_GT(infeasible, 0);
}

TEST(ChoiceProgram, KeepsWithinItsBudgetsOrSaysThatItCannot) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> use(0, 1);
  int binding = 0, infeasible = 0;
  for (int i = 0; i < 150; ++i) {
    ChoiceProgram program = random_program(random, {6, 4, 0.4, 0});
    const double free = cheapest_of_all(program);
    for (int m = 0; m < 2; ++m) {
      ChoiceProgram::Budget budget{{}, 1.5 + 0.1 * (i % 10)};
      for (const auto& options : program.cost) {
        budget.use.emplace_back();
        for (std::size_t k = 0; k < options.size(); ++k) budget.use.back().push_back(use(random));
      }
      program.budgets.push_back(std::move(budget));
    }
    const double best = cheapest_of_all(program);
    const ChoiceResult result = solve(program, kEnough);
    if (std::isinf(best)) {
      EXPECT_EQ(result.status, SolveStatus::kInfeasible);
      ++infeasible;
      continue;
    }
    ASSERT_EQ(result.status, SolveStatus::kOptimal);
    EXPECT_TRUE(within_budgets(program, result.options));
    EXPECT_NEAR(result.cost, best, 1e-6 * best);
    binding += best > free * 1.001;
  }
  EXPECT_GT(binding, 0);
  EXPECT_GT(infeasible, 0);
}

TEST(ChoiceProgram, GivesTheSameOptionsAgain) {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    ChoiceProgram program = random_program(random, {12, 5, 0.4, 0.1});
    for (auto& options : program.cost) {
      for (double& c : options) c = std::round(c / 50);  // many ties
    }
    for (auto& pair : program.pairs) {
      for (double& c : pair.cost) c = std::round(c / 50);
    }
    EXPECT_EQ(solve(program, kEnough).options, solve(program, kEnough).options);
  }
}

TEST(ChoiceProgram, TellsCostsApartThatDifferByMuchInSize) {
  // Bytes of a gigabyte beside Alpa's terms of 0.01: the second option of each is better by one of them.
  ChoiceProgram program;
  program.cost = {{1e9 + 0.1, 1e9 + 0.01}, {0.1, 0.001}};
  program.pairs = {{0, 1, {0, 0, 0, 0}}};
  EXPECT_EQ(solve(program, kEnough).options, (std::vector<std::size_t>{1, 1}));
}

TEST(ChoiceProgram, WithoutChoicesCostsNothing) {
  EXPECT_EQ(solve({}, kEnough).status, SolveStatus::kOptimal);
  EXPECT_EQ(reduced_minimum({}), 0.0);
}

TEST(ReducedMinimum, IsThatOfAllCombinationsOnSeriesParallelGraphs) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> cost(0, 100);
  for (int i = 0; i < 50; ++i) {
    // A chain whose every second choice is also joined to the one after the next, as residuals are.
    ChoiceProgram program = random_program(random, {8, 3, 0, 0});
    for (std::size_t a = 0; a + 1 < 8; ++a) {
      for (const std::size_t b : {a + 1, a + 2}) {
        if (b >= 8 || (b == a + 2 && a % 2 == 1)) continue;
        ChoiceProgram::Pair pair{a, b, {}};
        for (std::size_t k = 0; k < program.cost[a].size() * program.cost[b].size(); ++k)
          pair.cost.push_back(cost(random));
        program.pairs.push_back(std::move(pair));
      }
    }
    const auto minimum = reduced_minimum(program);
    ASSERT_TRUE(minimum.has_value());
    EXPECT_NEAR(*minimum, cheapest_of_all(program), 1e-9 * *minimum);
    const auto options = reduced_options(program);
    ASSERT_TRUE(options.has_value());
    EXPECT_NEAR(cost_of(program, *options), *minimum, 1e-9 * *minimum);
    // A tied head: the first and the last choice together.
    ChoiceProgram::Pair tie{0, 7, {}};
    for (std::size_t k = 0; k < program.cost[0].size() * program.cost[7].size(); ++k) tie.cost.push_back(cost(random));
    program.pairs.push_back(std::move(tie));
    const auto closed = reduced_minimum(program);
    ASSERT_TRUE(closed.has_value());
    EXPECT_NEAR(*closed, cheapest_of_all(program), 1e-9 * *closed);
    EXPECT_NEAR(cost_of(program, reduced_options(program).value()), *closed, 1e-9 * *closed);
  }
}

TEST(ReducedMinimum, OfAThousandLayersTakesNoTime) {
  // As above, 12 000 choices long: quadratic work would take minutes, and the tests' time is bounded.
  std::mt19937 random(6);
  std::uniform_real_distribution<double> cost(0, 100);
  ChoiceProgram program;
  program.cost.assign(12'000, {1, 2, 3});
  for (std::size_t a = 0; a + 2 < program.cost.size(); ++a) {
    ChoiceProgram::Pair pair{a, a + 1 + (a % 3 == 0), {}};
    for (int k = 0; k < 9; ++k) pair.cost.push_back(cost(random));
    program.pairs.push_back(std::move(pair));
  }
  const auto minimum = reduced_minimum(program);
  ASSERT_TRUE(minimum.has_value());
  EXPECT_NEAR(cost_of(program, reduced_options(program).value()), *minimum, 1e-9 * *minimum);
}

TEST(ReducedMinimum, SaysThatItCannotOnADenseGraph) {
  std::mt19937 random(5);
  EXPECT_FALSE(reduced_minimum(random_program(random, {6, 3, 1.0, 0})).has_value());
}

}  // namespace
}  // namespace slmsim::choice_program_test
