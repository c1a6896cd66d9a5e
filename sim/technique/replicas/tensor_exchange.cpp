#include "sim/technique/replicas/tensor_exchange.h"

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

constexpr int kOfAttention = 3;  // queries, keys, values

using Calls = std::vector<TensorExchange>;

class Exchanges {
 public:
  Exchanges(const TensorPlan& plan, const TensorSizes& sizes) : plan_(plan), sizes_(sizes) {}

  // Before a block with this many products, and after it.
  Calls gathers(int products = 1) const {
    return plan_.sequence_parallel ? of(Collective::kAllGather, products) : Calls{};
  }
  Calls sums(int products = 1) const {
    return of(plan_.sequence_parallel ? Collective::kReduceScatter : Collective::kAllReduce, products);
  }
  Calls logits() const {
    return plan_.ends == TensorEnds::kDivided ? Calls{} : Calls{{Collective::kAllGather, sizes_.logits, true}};
  }

 private:
  Calls of(Collective collective, int products) const {
    return Calls(static_cast<std::size_t>(plan_.by_product ? products : 1),
                 TensorExchange{collective, sizes_.stream, collective != Collective::kAllReduce});
  }

  const TensorPlan& plan_;
  const TensorSizes& sizes_;
};

}  // namespace

TensorSizes tensor_sizes(const OperatorGraph& operators, Bytes element) {
  TensorSizes out{element * stream_elements(operators), {}, 1};
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    if (operators[v].role == Role::kHead) out.logits = element * operators[v].outputs;
    if (operators[v].role == Role::kSwiglu) out.up = 2;
  }
  return out;
}

std::vector<TensorBlock> tensor_blocks(const TensorPlan& plan, const TensorSizes& sizes, UnitKind kind, bool forward,
                                       Recompute recompute) {
  const Exchanges of(plan, sizes);
  using Blocks = std::vector<TensorBlock>;
  if (kind != UnitKind::kLayer && plan.ends == TensorEnds::kWhole) return {{}};
  if (kind == UnitKind::kEmbedding) return forward ? Blocks{{{}, of.sums()}} : Blocks{{of.gathers(), {}}};
  if (kind == UnitKind::kHead) return forward ? Blocks{{of.gathers(), of.logits()}} : Blocks{{{}, of.sums()}};
  if (forward) return {{of.gathers(kOfAttention), of.sums()}, {of.gathers(sizes.up), of.sums()}};
  Calls first;
  const auto append = [&](const Calls& calls) { first.insert(first.end(), calls.begin(), calls.end()); };
  if (begins_with_input(recompute)) {
    append(of.gathers(kOfAttention));
    if (recompute == Recompute::kFull) append(of.sums());
    append(of.gathers(sizes.up));
  }
  append(of.gathers());
  return {{first, of.sums(sizes.up)}, {of.gathers(), of.sums(kOfAttention)}};
}

}  // namespace slmsim
