#include "sim/plan/holding.h"

namespace slmsim {
namespace {

bool divides_weights(Sharding sharding) { return sharding == Sharding::kColumn || sharding == Sharding::kRow; }

bool holds_embedding(const OperatorGraph& operators, const Stage& stage) {
  return stage.first < stage.last && operators[stage.first].kind == OperatorKind::kEmbedding;
}

}  // namespace

Share share_of(const Stage& stage, std::size_t index, std::size_t rank, double sequences) {
  const Sharding sharding = stage.shardings[index];
  if (sharding == Sharding::kBatch) return {sharding, 1, sequences * stage.batch_shares[rank]};
  return {sharding, static_cast<int>(stage.mesh.size()), sequences};
}

double held_weights(const OperatorGraph& operators, const Stage& stage, std::size_t index) {
  const Operator& op = operators[stage.first + index];
  const bool tied = op.has_weights() && op.parameters == 0;
  return tied && holds_embedding(operators, stage) ? 0.0 : op.weights;
}

HeldParameters held_parameters(const OperatorGraph& operators, const Stage& stage) {
  HeldParameters held;
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const double weights = held_weights(operators, stage, i);
    held.all += divides_weights(stage.shardings[i]) ? weights / static_cast<double>(stage.mesh.size()) : weights;
    if (stage.shardings[i] == Sharding::kBatch) held.shared += weights;
  }
  return held;
}

double kept_activations(const OperatorGraph& operators, const Stage& stage, std::size_t index, std::size_t rank,
                        double sequences, Precision precision) {
  const Operator& op = operators[stage.first + index];
  const Share share = share_of(stage, index, rank, sequences);
  // A column-divided product keeps its whole input; a row-divided one, and what lies between them, only a
  // part.
  const bool part = share.sharding == Sharding::kRow || (share.sharding == Sharding::kColumn && !op.has_weights());
  const double bytes = op.saved_elements * element_bytes(precision) + op.saved_bytes;
  return bytes * share.sequences / (part ? share.ways : 1);
}

}  // namespace slmsim
