#include "sim/plan/intra_operator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

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

// A head that shares its weights, and their gradient, with an embedding of the same stage.
bool is_tied_head(const IntraOperatorRequest& r, const Operator& op) {
  return op.has_weights() && op.parameters == 0 && r.operators[r.first].kind == OperatorKind::kEmbedding;
}

std::vector<Block> blocks_of(const IntraOperatorRequest& r) {
  std::vector<Block> blocks;
  for (std::size_t v = r.first; v < r.last; ++v) {
    const Operator& op = r.operators[v];
    if (blocks.empty() || op.layer != r.operators[v - 1].layer) blocks.push_back({.first = v, .last = v, .cost = {}});
    Block& block = blocks.back();
    block.last = v + 1;
    block.boundary_bytes = op.outputs * r.sequences * r.activation_bytes;
    block.cost[kBatchStrategy] += (is_tied_head(r, op) ? 0.0 : op.weights) * r.gradient_bytes;
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

bool holds_tied_head(const IntraOperatorRequest& r) {
  for (std::size_t v = r.first; v < r.last; ++v) {
    if (is_tied_head(r, r.operators[v])) return true;
  }
  return false;
}

double cost_of(const IntraOperatorRequest& r, const std::vector<Block>& blocks,
               const std::vector<std::size_t>& strategies) {
  double cost = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    cost += blocks[i].cost[strategies[i]];
    if (i > 0) cost += resharding_cost(r, blocks[i - 1], strategies[i - 1], strategies[i]);
  }
  return cost;
}

// The cheapest strategies of a chain of blocks, whose first and last use `ends` if it is given.
std::vector<std::size_t> cheapest(const IntraOperatorRequest& r, const std::vector<Block>& blocks,
                                  std::optional<std::size_t> ends) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto allowed = [&](std::size_t block, std::size_t strategy) {
    const bool is_end = block == 0 || block + 1 == blocks.size();
    return !ends || !is_end || strategy == *ends;
  };
  // best[i][s]: cost of blocks 0..i with block i using s; came_from tells the neighbour's strategy.
  std::vector<std::array<double, kStrategies>> best(blocks.size());
  std::vector<std::array<std::size_t, kStrategies>> came_from(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t s = 0; s < kStrategies; ++s) {
      best[i][s] = i == 0 && allowed(i, s) ? blocks[i].cost[s] : kNever;
      for (std::size_t before = 0; i > 0 && allowed(i, s) && before < kStrategies; ++before) {
        const double cost = best[i - 1][before] + resharding_cost(r, blocks[i - 1], before, s) + blocks[i].cost[s];
        if (cost >= best[i][s]) continue;
        best[i][s] = cost;
        came_from[i][s] = before;
      }
    }
  }
  std::vector<std::size_t> strategies(blocks.size());
  strategies.back() = best.back()[kBatchStrategy] <= best.back()[kTensorStrategy] ? kBatchStrategy : kTensorStrategy;
  for (std::size_t i = blocks.size() - 1; i > 0; --i) strategies[i - 1] = came_from[i][strategies[i]];
  return strategies;
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

  std::vector<std::size_t> best;
  if (holds_tied_head(r)) {
    // One table of weights serves embedding and head, so both are divided alike.
    best = cheapest(r, blocks, kBatchStrategy);
    const auto other = cheapest(r, blocks, kTensorStrategy);
    if (cost_of(r, blocks, other) < cost_of(r, blocks, best)) best = other;
  } else {
    best = cheapest(r, blocks, std::nullopt);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t v = blocks[i].first; v < blocks[i].last; ++v) {
      shardings[v - r.first] = best[i] == kBatchStrategy ? Sharding::kBatch : tensor_sharding(r.operators[v]);
    }
  }
  return shardings;
}

}  // namespace slmsim
