#include <algorithm>
#include <functional>

#include "sim/compute/operator_graph.h"
#include "sim/technique/alpa/planner/intra_operator.h"

namespace slmsim {
namespace {

constexpr Seconds kDivisionSolverTime{5};
constexpr int kPrices = 40;                       // bisection steps over the price
constexpr double kNearEnough = 0.01;              // relative to the bound
constexpr int kCutsTried = 64, kNearCut = 2;      // layers; of more, only cuts near the best
constexpr std::size_t kBoundedAtEveryPrice = 64;  // choices; of more, the bound is computed at the last prices only

ChoiceProgram priced(const ChoiceProgram& program, double price) {
  ChoiceProgram out = program;
  for (std::size_t i = 0; i < out.cost.size(); ++i) {
    for (std::size_t k = 0; k < out.cost[i].size(); ++k) out.cost[i][k] += price * program.budgets.front().use[i][k];
  }
  out.budgets.clear();
  return out;
}

// Options of the whole program if all layers take those of the program of one layer.
std::vector<std::size_t> spread(const DivisionProgram& once, const std::vector<std::size_t>& options) {
  std::vector<std::size_t> all;
  for (const std::size_t choice : once.choice_of) all.push_back(options[choice]);
  return all;
}

// A fast division and a small enough one, from which the layers of mixed divisions are taken.
struct Cut {
  const IntraOperatorRequest& request;
  const std::vector<std::size_t>&fast, &small;

  int first() const { return request.operators[request.first].layer; }
  int last() const { return request.operators[request.last - 1].layer; }

  // `layers` of the first or last layers as in the fast division, all others as in the small one. `small_ends`: with
  // the small one's ends, whose weight table embedding and head share.
  std::vector<std::size_t> with_fast(int layers, bool front, bool small_ends) const {
    std::vector<std::size_t> mixed = small;
    for (std::size_t v = 0; v < mixed.size(); ++v) {
      const int layer = request.operators[request.first + v].layer;
      if (small_ends && (layer == first() || layer == last())) continue;
      if (front ? layer < first() + layers : layer > last() - layers) mixed[v] = fast[v];
    }
    return mixed;
  }
};

void for_each_cut(const ChoiceProgram& program, const Cut& cut,
                  const std::function<void(const std::vector<std::size_t>&)>& consider) {
  const int layers = cut.last() - cut.first() + 1;
  for (const bool front : {true, false}) {
    for (const bool small_ends : {false, true}) {
      int least = 0, most = layers;
      if (layers > kCutsTried) {
        // Layers between the ends are equal, so each fast one adds the same memory and saves the same time: find the
        // largest number that fits.
        int fits = 0, too_many = layers + 1;
        while (too_many - fits > 1) {
          const int middle = fits + (too_many - fits) / 2;
          (within_budgets(program, cut.with_fast(middle, front, small_ends)) ? fits : too_many) = middle;
        }
        least = std::max(least, fits - kNearCut);
        most = std::min(most, fits + kNearCut);
      }
      for (int count = least; count <= most; ++count) consider(cut.with_fast(count, front, small_ends));
    }
  }
}

}  // namespace

MemoryDivision divide_within_memory(const DivisionProgram& once, const DivisionProgram& each,
                                    const IntraOperatorRequest& request) {
  const double limit = each.program.budgets.front().limit;
  MemoryDivision best;
  const auto consider = [&](const std::vector<std::size_t>& options) {
    const double cost = cost_of(each.program, options);
    if (within_budgets(each.program, options) && (best.options.empty() || cost < best.cost)) {
      best.options = options;
      best.cost = cost;
    }
  };
  const auto bound_at = [&](double price) {
    const auto bound = reduced_minimum(priced(each.program, price));
    if (bound) best.bound = std::max(best.bound, *bound - price * limit);
  };
  const bool few = each.program.cost.size() <= kBoundedAtEveryPrice;
  const auto at_price = [&](double price) {
    if (few) bound_at(price);
    const ChoiceProgram alike = priced(once.program, price);
    const auto options = reduced_options(alike);
    return spread(once, options ? *options : solve(alike, kDivisionSolverTime).options);
  };
  // A price at which the division is small enough; the range starts where the limit costs as much as the whole
  // division.
  std::vector<std::size_t> fast = at_price(0), small;
  double low = 0, high = std::max(1e-12, cost_of(each.program, fast)) / std::max(1.0, limit);
  for (int i = 0; i < kPrices; ++i, high *= 4) {
    small = at_price(high);
    if (within_budgets(each.program, small)) break;
    low = high;
    fast = small;
  }
  // The integer program with its budget takes seconds, so it is solved only if nothing is near the bound.
  const auto solve_alike = [&] {
    if (!few && !best.options.empty() && best.cost <= best.bound * (1 + kNearEnough)) return;
    const ChoiceResult alike = solve(once.program, kDivisionSolverTime);
    if (!alike.options.empty()) consider(spread(once, alike.options));
  };
  if (!within_budgets(each.program, small)) {
    solve_alike();
    return best;
  }
  for (int i = 0; i < kPrices && high - low > 1e-6 * high; ++i) {
    const double price = (low + high) / 2;
    const auto options = at_price(price);
    const bool fits = within_budgets(each.program, options);
    (fits ? high : low) = price;
    (fits ? small : fast) = options;
  }
  // The bound is concave in the price, with its maximum near the price at which the division becomes small enough.
  if (!few) {
    bound_at(low);
    bound_at(high);
  }
  for_each_cut(each.program, {request, fast, small}, consider);
  solve_alike();
  if (!best.options.empty()) consider(improved(each.program, best.options));
  return best;
}

}  // namespace slmsim
