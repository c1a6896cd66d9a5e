#include "sim/plan/intra_operator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace slmsim {
namespace {

enum Strategy : std::size_t { kBatchStrategy, kTensorStrategy, kStrategies };

struct Block {
  std::size_t first = 0, last = 0;
  std::array<double, kStrategies> cost{};
  double boundary_bytes = 0;  // activations that the next block reads, one micro-batch
};

// Megatron's division: the first product of a pair by columns, what lies between by heads or columns, the
// second by rows; the embedding by rows of its table, the head by columns.
Sharding tensor_sharding(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      return Sharding::kRow;
    case OperatorKind::kSoftmax:
    case OperatorKind::kActivation:
    case OperatorKind::kLoss:
      return Sharding::kColumn;
    case OperatorKind::kMatrix:
      return op.name == "projection" || op.name == "mlp down" ? Sharding::kRow : Sharding::kColumn;
    case OperatorKind::kNorm:
    case OperatorKind::kResidual:
      return Sharding::kReplicated;
  }
  return Sharding::kReplicated;
}

std::vector<Block> blocks_of(const IntraOperatorRequest& r) {
  std::vector<Block> blocks;
  for (std::size_t v = r.first; v < r.last; ++v) {
    const Operator& op = r.operators[v];
    if (blocks.empty() || op.layer != r.operators[v - 1].layer) blocks.push_back({.first = v, .last = v, .cost = {}});
    Block& block = blocks.back();
    block.last = v + 1;
    block.boundary_bytes = op.outputs * r.sequences * r.activation_bytes;
    // A head tied to an embedding of the same stage shares its gradient.
    const bool tied = op.parameters == 0 && r.operators[r.first].kind == OperatorKind::kEmbedding;
    block.cost[kBatchStrategy] += (tied ? 0.0 : op.weights) * r.gradient_bytes;
    const Sharding sharding = tensor_sharding(op);
    double reduced = 0;
    if (sharding == Sharding::kRow) reduced = op.outputs;
    if (sharding == Sharding::kColumn && op.has_weights()) reduced = op.inputs;
    if (reduced > 0) {
      block.cost[kTensorStrategy] +=
          r.micro_batches * alpa_all_reduce_cost(reduced * r.sequences * r.activation_bytes, r.gpus);
    }
  }
  for (auto& block : blocks) block.cost[kBatchStrategy] = alpa_all_reduce_cost(block.cost[kBatchStrategy], r.gpus);
  return blocks;
}

// From batch to tensor the activations are gathered forward; from tensor to batch their gradients backward.
double resharding_cost(const IntraOperatorRequest& r, const Block& block, std::size_t from, std::size_t to) {
  return from == to ? 0.0 : r.micro_batches * alpa_all_gather_cost(block.boundary_bytes, r.gpus);
}

}  // namespace

double alpa_all_gather_cost(double bytes, int gpus) { return 1.0 + (gpus - 1.0) / gpus * bytes + 0.1; }

double alpa_all_reduce_cost(double bytes, int gpus) { return 1.0 + 2.0 * (gpus - 1.0) / gpus * bytes + 0.01; }

std::vector<Sharding> divide_operators(const IntraOperatorRequest& r) {
  std::vector<Sharding> shardings(r.last - r.first, Sharding::kReplicated);
  if (r.gpus < 2 || r.first == r.last) return shardings;
  auto blocks = blocks_of(r);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const bool whole_sequences = std::fmod(r.sequences, r.gpus) == 0.0;
  for (auto& block : blocks) {
    if (!whole_sequences) block.cost[kBatchStrategy] = kNever;
  }

  // best[i][s]: cheapest cost of blocks 0..i with block i using s; came_from tells the neighbour's strategy.
  std::vector<std::array<double, kStrategies>> best(blocks.size());
  std::vector<std::array<std::size_t, kStrategies>> came_from(blocks.size());
  best[0] = blocks[0].cost;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    for (std::size_t s = 0; s < kStrategies; ++s) {
      best[i][s] = kNever;
      for (std::size_t before = 0; before < kStrategies; ++before) {
        const double cost = best[i - 1][before] + resharding_cost(r, blocks[i - 1], before, s) + blocks[i].cost[s];
        if (cost < best[i][s]) {
          best[i][s] = cost;
          came_from[i][s] = before;
        }
      }
    }
  }
  std::size_t strategy = best.back()[kBatchStrategy] <= best.back()[kTensorStrategy] ? kBatchStrategy : kTensorStrategy;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    for (std::size_t v = blocks[i].first; v < blocks[i].last; ++v) {
      shardings[v - r.first] = strategy == kBatchStrategy ? Sharding::kBatch : tensor_sharding(r.operators[v]);
    }
    strategy = i > 0 ? came_from[i][strategy] : strategy;
  }
  return shardings;
}

}  // namespace slmsim
