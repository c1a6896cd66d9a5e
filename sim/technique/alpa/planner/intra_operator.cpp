#include "sim/technique/alpa/planner/intra_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/common/holding.h"
#include "sim/technique/common/memory.h"

namespace slmsim {
namespace {

constexpr double kForbidden = std::numeric_limits<double>::infinity();
constexpr std::size_t kNoOperator = static_cast<std::size_t>(-1);
// The accuracies of the solver and of sums.
constexpr double kTolerance = 1e-6, kRounding = 1e-12;
// Programs with a memory limit are hard beyond a few layers: with this number of operators at most, the whole is solved
// exactly.
constexpr std::size_t kMostChoices = 48;
// Far more than any program here takes.
constexpr Seconds kStageSolverTime{20};

// Whether two operators of different layers are equal.
bool alike(const Operator& a, const Operator& b) {
  return a.kind == b.kind && a.role == b.role && a.weights == b.weights && a.parameters == b.parameters &&
         a.inputs == b.inputs && a.outputs == b.outputs && a.flops == b.flops && a.columns == b.columns &&
         a.rows == b.rows;
}

class Builder {
 public:
  Builder(const IntraOperatorRequest& request, bool alike) : r_(request) {
    for (std::size_t v = r_.first; v < r_.last; ++v) {
      if (r_.operators[v].kind == OperatorKind::kEmbedding) embedding_ = v;
      if (embedding_ != kNoOperator && r_.operators[v].is_tied()) tied_head_ = v;
    }
    choose_representatives();
    kin_ = representative_;
    number_.assign(r_.last - r_.first, kNoOperator);
    own_costs_.resize(r_.last - r_.first);
    if (!alike) {
      for (std::size_t v = r_.first; v < r_.last; ++v) representative_[v - r_.first] = v;
    }
    for (std::size_t v = r_.first; v < r_.last; ++v) {
      const std::size_t choice = representative_[v - r_.first];
      if (choice == v) {
        const std::size_t kin = number_[kin_[v - r_.first] - r_.first];
        number_[v - r_.first] = out_.divisions.size();
        out_.divisions.push_back(kin != kNoOperator ? out_.divisions[kin] : options(r_.operators[v]));
        chosen_.push_back(v);
        counts_.push_back(0);
      }
      out_.choice_of.push_back(number_[choice - r_.first]);
      ++counts_[out_.choice_of.back()];
    }
  }

  DivisionProgram build() {
    for (std::size_t choice = 0; choice < chosen_.size(); ++choice) {
      const std::size_t v = chosen_[choice];
      auto& own = own_costs_[kin_[v - r_.first] - r_.first];  // once per class of equal operators
      if (own.empty()) {
        for (const auto& division : out_.divisions[choice]) own.push_back(own_cost(v, division));
      }
      std::vector<double> costs;
      for (const double cost : own) costs.push_back(counts_[choice] * cost);
      out_.program.cost.push_back(std::move(costs));
    }
    add_edges();
    if (tied_head_ != kNoOperator)
      add_pair(embedding_, tied_head_, 1, [&](const Division& e, const Division& h) { return tied_cost(e, h); });
    if (r_.memory_limit) add_budget();
    return std::move(out_);
  }

 private:
  // A layer whose operators and edges equal those of the layer before shares that layer's representative.
  void choose_representatives() {
    for (std::size_t v = r_.first; v < r_.last; ++v) representative_.push_back(v);
    std::vector<std::size_t> starts;
    for (std::size_t v = r_.first; v < r_.last; ++v) {
      if (v == r_.first || r_.operators[v].layer != r_.operators[v - 1].layer) starts.push_back(v);
    }
    starts.push_back(r_.last);
    for (std::size_t i = 1; i + 1 < starts.size(); ++i) {
      const std::size_t before = starts[i - 1], here = starts[i], size = starts[i + 1] - here;
      if (here - before != size) continue;
      bool same = true;
      for (std::size_t k = 0; same && k < size; ++k) same = alike_at(before + k, here + k);
      for (std::size_t k = 0; same && k < size; ++k)
        representative_[here + k - r_.first] = representative_[before + k - r_.first];
    }
  }

  bool alike_at(std::size_t a, std::size_t b) const {
    return alike(r_.operators[a], r_.operators[b]) &&
           boost::in_degree(a, r_.operators) == boost::in_degree(b, r_.operators);
  }

  std::vector<Division> options(const Operator& op) const {
    std::vector<Division> all = valid_divisions(op, r_.shape, r_.sequences);
    const auto keep = [&](auto good) {
      if (std::any_of(all.begin(), all.end(), good)) std::erase_if(all, [&](const Division& d) { return !good(d); });
    };
    if (r_.costs.batch_on_first_axis) {
      keep([](const Division& d) { return d.along[1] != Sharding::kBatch; });
      keep([](const Division& d) { return d.along[0] == Sharding::kBatch; });
    }
    if (!r_.costs.may_recompute && op.kind == OperatorKind::kMatrix) {
      const auto whole = [&](const Division& d) {
        return span(within(axes_of(d, Sharding::kReplicated), r_.shape), r_.shape);
      };
      int least = whole(Division());
      for (const auto& d : all) least = std::min(least, whole(d));
      keep([&](const Division& d) { return whole(d) == least; });
    }
    return all;
  }

  double calls_cost(const std::vector<CollectiveCall>& calls) const {
    double cost = 0;
    for (const auto& call : calls) cost += r_.costs.collective(call);
    return cost;
  }

  // A tied head holds nothing in addition to its embedding's table.
  double weights_of(std::size_t v, const Division& division) const {
    return v == tied_head_ ? 0.0 : r_.operators[v].weights / weight_parts(division, r_.shape);
  }

  double gradient_cost(double weights, Axes axes) const {
    axes = within(axes, r_.shape);
    if (weights == 0 || axes == 0) return 0;
    return r_.costs.gradients(Bytes{weights * element_bytes(r_.training.gradient_precision)}, axes);
  }

  double own_cost(std::size_t v, const Division& division) const {
    const Operator& op = r_.operators[v];
    const double size = element_bytes(r_.training.precision);
    const int layers = layer_count(r_.operators);
    const double again = share_computed_anew(op, r_.recompute, layers);
    const ComputationCost computation = r_.costs.compute(op, division);
    const double forward =
        computation.forward + calls_cost(forward_collectives(op, division, r_.shape, r_.sequences, size));
    const double backward =
        computation.backward + calls_cost(backward_collectives(op, division, r_.shape, r_.sequences, size));
    const double weights = weights_of(v, division);
    // With a tied head, the pair pays for the table's gradients.
    const bool paid = v == embedding_ && tied_head_ != kNoOperator;
    return r_.costs.micro_batches * (forward * (1 + again) + backward) + r_.costs.update(weights) +
           (paid ? 0.0 : gradient_cost(weights, axes_of(division, Sharding::kBatch)));
  }

  double tied_cost(const Division& embedding, const Division& head) const {
    for (std::size_t a = 0; a < kAxes; ++a) {
      if (!same_table(embedding.along[a], head.along[a])) return kForbidden;
    }
    return gradient_cost(weights_of(embedding_, embedding),
                         axes_of(embedding, Sharding::kBatch) | axes_of(head, Sharding::kBatch));
  }

  double edge_cost(std::size_t producer, const Division& made, std::size_t reader, const Division& read) const {
    const Operator& from = r_.operators[producer];
    const Bytes size{from.outputs * r_.sequences * element_bytes(r_.training.precision)};
    const Layout have = output_layout(from, made), need = input_layout(r_.operators[reader], read);
    return r_.costs.micro_batches *
           (calls_cost(resharding(size, have, need, r_.shape)) + calls_cost(resharding(size, need, have, r_.shape)));
  }

  void add_edges() {
    // Edges between representatives of the same operators cost the same.
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t v = r_.first; v < r_.last; ++v) {
      for (const auto edge : boost::make_iterator_range(boost::in_edges(v, r_.operators))) {
        const std::size_t producer = boost::source(edge, r_.operators);
        if (producer >= r_.first) all.emplace_back(representative_[producer - r_.first], representative_[v - r_.first]);
      }
    }
    std::sort(all.begin(), all.end());
    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>>
        known;  // costs of edges between operators that are equal
    for (std::size_t at = 0, count = 0; at < all.size(); at += count) {
      const auto [producer, reader] = all[at];
      count = static_cast<std::size_t>(std::find_if(all.begin() + static_cast<long>(at), all.end(),
                                                    [&](const auto& e) { return e != all[at]; }) -
                                       all.begin()) -
              at;
      auto& costs = known[{kin_[producer - r_.first], kin_[reader - r_.first]}];
      const bool is_new = costs.empty();
      std::size_t next = 0;
      add_pair(producer, reader, static_cast<int>(count),
               [&, p = producer, q = reader](const Division& made, const Division& read) {
                 if (is_new) costs.push_back(edge_cost(p, made, q, read));
                 return costs[next++];
               });
    }
  }

  template <class Cost>
  void add_pair(std::size_t v, std::size_t w, int count, Cost cost) {
    const std::size_t a = number_[v - r_.first], b = number_[w - r_.first];
    if (a == b) {  // a layer of a single operator, which follows itself
      for (std::size_t k = 0; k < out_.divisions[a].size(); ++k)
        out_.program.cost[a][k] += count * cost(out_.divisions[a][k], out_.divisions[a][k]);
      return;
    }
    ChoiceProgram::Pair pair{a, b, {}};
    for (const auto& first : out_.divisions[a]) {
      for (const auto& second : out_.divisions[b]) pair.cost.push_back(count * cost(first, second));
    }
    out_.program.pairs.push_back(std::move(pair));
  }

  void add_budget() {
    const double state = StateBytes(r_.training).all();
    ChoiceProgram::Budget budget{{}, r_.memory_limit->value};
    for (std::size_t choice = 0; choice < chosen_.size(); ++choice) {
      const std::size_t v = chosen_[choice];
      const Operator& op = r_.operators[v];
      std::vector<double> use;
      for (const auto& division : out_.divisions[choice]) {
        const Share share{span(axes_of(division, Sharding::kColumn), r_.shape),
                          span(axes_of(division, Sharding::kRow), r_.shape),
                          r_.sequences / span(axes_of(division, Sharding::kBatch), r_.shape)};
        const double weights = weights_of(v, division);
        const bool summed = within(axes_of(division, Sharding::kBatch), r_.shape) != 0;
        const double buffer = summed ? weights * element_bytes(r_.training.gradient_precision) : 0.0;
        const double kept =
            kept_activations(op, share, r_.training.precision, r_.attention, r_.software) * r_.micro_batches_in_flight;
        use.push_back(counts_[choice] * (weights * state + buffer + kept));
      }
      budget.use.push_back(std::move(use));
    }
    out_.program.budgets.push_back(std::move(budget));
  }

  const IntraOperatorRequest& r_;
  DivisionProgram out_;
  std::size_t embedding_ = kNoOperator, tied_head_ = kNoOperator;
  std::vector<std::size_t> representative_;     // per operator
  std::vector<std::size_t> kin_;                // per operator, the first equal one, which may have choices of its own
  std::vector<std::vector<double>> own_costs_;  // of such a first operator, per division
  std::vector<std::size_t> number_;             // of a representative's choice
  std::vector<std::size_t> chosen_;             // the representative of each choice
  std::vector<int> counts_;                     // of operators per choice
};

IntraOperatorPlan plan_from(const DivisionProgram& built, const ChoiceResult& result) {
  IntraOperatorPlan plan;
  plan.cost = plan.bound = result.cost;
  plan.optimal = result.status == SolveStatus::kOptimal;
  for (const std::size_t choice : built.choice_of)
    plan.shardings.push_back(built.divisions[choice][result.options[choice]]);
  return plan;
}

bool keeps_within(const DivisionProgram& each, const std::vector<Division>& shardings) {
  std::vector<std::size_t> options;
  for (std::size_t v = 0; v < shardings.size(); ++v) {
    const auto& divisions = each.divisions[each.choice_of[v]];
    options.push_back(
        static_cast<std::size_t>(std::find(divisions.begin(), divisions.end(), shardings[v]) - divisions.begin()));
  }
  return within_budgets(each.program, options);
}

// Lower bound of the stage's memory at any cost: over compatible divisions, if that is quickly known, else over each
// operator separately.
Bytes least_memory(const DivisionProgram& built) {
  const auto& use = built.program.budgets.front().use;
  ChoiceProgram small{use, built.program.pairs, {}};
  for (std::size_t i = 0; i < use.size(); ++i) {
    for (std::size_t k = 0; k < use[i].size(); ++k) {
      if (std::isinf(built.program.cost[i][k])) small.cost[i][k] = kForbidden;
    }
  }
  for (auto& pair : small.pairs) {
    for (double& cost : pair.cost) cost = std::isinf(cost) ? kForbidden : 0;
  }
  if (const auto least = reduced_minimum(small)) return Bytes{*least};
  double least = 0;
  for (const auto& each : use) least += *std::min_element(each.begin(), each.end());
  return Bytes{least};
}

}  // namespace

DivisionProgram division_program(const IntraOperatorRequest& request, bool alike) {
  return Builder(request, alike).build();
}

namespace {

IntraOperatorPlan divide_with_limit(const IntraOperatorRequest& r, const DivisionProgram& each,
                                    const DivisionProgram& once) {
  IntraOperatorPlan plan;
  // Sums of bytes in another order differ by rounding.
  if (const Bytes least = least_memory(each); least > *r.memory_limit * (1 + kRounding)) {
    plan.reason = fmt::format("no division of the operators fits into {} per GPU; they need at least {}",
                              to_text(*r.memory_limit), to_text(least));
    return plan;
  }
  MemoryDivision found = divide_within_memory(once, each, r);
  const bool near = !found.options.empty() && found.cost <= found.bound * (1 + kTolerance);
  const bool small = each.program.cost.size() <= kMostChoices;
  if (found.options.empty() || (small && !near)) {
    const ChoiceResult whole = solve(each.program, kStageSolverTime);
    if (!whole.options.empty()) return plan_from(each, whole);
  }
  if (found.options.empty()) {
    // The solver found none either.
    plan.optimal = false;
    plan.reason = fmt::format("no division of the operators fits into {} per GPU", to_text(*r.memory_limit));
    return plan;
  }
  plan = plan_from(each, {SolveStatus::kOptimal, std::move(found.options), found.cost});
  plan.bound = found.bound;
  plan.optimal = found.cost <= found.bound * (1 + kTolerance);
  return plan;
}

}  // namespace

namespace {

// With hundreds of layers the solver would take minutes; chains of layers are reduced completely.
ChoiceResult solved_exactly(const ChoiceProgram& program) {
  const auto options = reduced_options(program);
  if (!options) return solve(program, kStageSolverTime);
  ChoiceResult out{SolveStatus::kOptimal, improved(program, *options), 0};
  out.cost = cost_of(program, out.options);
  return out;
}

// `once`, `each`: without a limit.
IntraOperatorPlan divide_freely(const DivisionProgram& once, const DivisionProgram& each) {
  const ChoiceResult periodic = solved_exactly(once.program);
  const std::optional<double> bound = reduced_minimum(each.program);
  const bool solved = periodic.status == SolveStatus::kOptimal;
  if (solved && bound && periodic.cost <= *bound + kTolerance * std::abs(*bound)) return plan_from(once, periodic);
  const ChoiceResult whole = solved_exactly(each.program);
  const bool whole_is_better =
      !whole.options.empty() && (periodic.options.empty() || whole.cost < periodic.cost * (1 - kTolerance));
  IntraOperatorPlan plan = whole_is_better ? plan_from(each, whole) : plan_from(once, periodic);
  plan.optimal = whole.status == SolveStatus::kOptimal;
  if (bound) plan.bound = *bound;
  return plan;
}

}  // namespace

IntraOperatorPlan divide_operators(const IntraOperatorRequest& r) {
  DivisionProgram once = division_program(r, true), each = division_program(r, false);
  const auto budget_of_once = std::exchange(once.program.budgets, {});
  const auto budget_of_each = std::exchange(each.program.budgets, {});
  IntraOperatorPlan plan = divide_freely(once, each);
  if (!r.memory_limit) return plan;
  // The optimum without a limit is the optimum if it is within the limit.
  once.program.budgets = budget_of_once;
  each.program.budgets = budget_of_each;
  return keeps_within(each, plan.shardings) ? plan : divide_with_limit(r, each, once);
}

}  // namespace slmsim
