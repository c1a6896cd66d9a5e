#include "sim/technique/common/holding.h"

#include <algorithm>

#include "sim/collective/nccl_rules.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

bool holds_embedding(const OperatorGraph& operators, const Stage& stage) {
  return stage.first < stage.last && operators[stage.first].kind == OperatorKind::kEmbedding;
}

// Share of a micro-batch that is divided by sequences along these axes.
double batch_share(const Stage& stage, std::size_t rank, Axes axes) {
  double share = 0;
  if (axes == 0) return 1.0;
  if (span(axes, stage.shape()) == static_cast<int>(stage.mesh.size())) return stage.batch_shares[rank];
  // GPUs with the same sequences differ only in their position along the other axis. Equivalent to Stage::groups,
  // without building the groups: this runs for each operator on each GPU.
  const auto wide = static_cast<std::size_t>(stage.columns);
  const bool in_row = !contains(axes, 1);
  const std::size_t first = in_row ? rank / wide * wide : rank % wide, step = in_row ? 1 : wide;
  const std::size_t end = in_row ? first + wide : stage.mesh.size();
  for (std::size_t other = first; other < end; other += step) share += stage.batch_shares[other];
  return share;
}

}  // namespace

Share share_of(const Stage& stage, std::size_t index, std::size_t rank, double sequences) {
  const Division& division = stage.shardings[index];
  const MeshShape shape = stage.shape();
  return {span(axes_of(division, Sharding::kColumn), shape), span(axes_of(division, Sharding::kRow), shape),
          sequences * batch_share(stage, rank, within(axes_of(division, Sharding::kBatch), shape))};
}

double held_weights(const OperatorGraph& operators, const Stage& stage, std::size_t index) {
  const Operator& op = operators[stage.first + index];
  return op.is_tied() && holds_embedding(operators, stage) ? 0.0 : op.weights;
}

HeldParameters held_parameters(const OperatorGraph& operators, const Stage& stage) {
  HeldParameters held;
  const MeshShape shape = stage.shape();
  Axes tied_axes = 0;  // gradients of a tied head are added to its embedding's
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const Operator& op = operators[stage.first + i];
    if (op.has_weights() && held_weights(operators, stage, i) == 0)
      tied_axes = axes_of(stage.shardings[i], Sharding::kBatch);
  }
  for (std::size_t i = 0; i < stage.shardings.size(); ++i) {
    const double weights = held_weights(operators, stage, i) / weight_parts(stage.shardings[i], shape);
    const bool table = operators[stage.first + i].kind == OperatorKind::kEmbedding;
    held.all += weights;
    const Axes axes = within(axes_of(stage.shardings[i], Sharding::kBatch) | (table ? tied_axes : 0u), shape);
    if (axes != 0) held.shared_along[axes] += weights;
  }
  return held;
}

double updated_parameters(const Plan& plan, const Stage& stage, const HeldParameters& held) {
  return plan.operators().optimizer == Optimizer::kDivided ? held.all / static_cast<double>(stage.mesh.size())
                                                           : held.all;
}

Bytes nccl_of_groups(const std::vector<std::vector<int>>& groups, int stage, int stages, const Scenario& scenario) {
  Bytes out{0};
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group->size() > 1 && std::find(groups.begin(), group, *group) == group)
      out += nccl_buffers(scenario.nccl, nccl_view(scenario.platform, *group));
  }
  const int neighbours = (stage > 0 ? 1 : 0) + (stage + 1 < stages ? 1 : 0);
  return out + scenario.nccl.buffer * (2.0 * 2.0 * neighbours);
}

AttentionKernel attention_on_all(const std::vector<int>& devices, const Scenario& scenario) {
  AttentionKernel most = AttentionKernel::kFlash;
  for (const int device : devices) {
    const Gpu& gpu = scenario.platform.devices[device].gpu;
    most = std::min(most, scenario.software.attention_on(gpu, scenario.training.precision));
  }
  return most;
}

double kept_activations(const Operator& op, const Share& share, Precision precision, AttentionKernel attention,
                        const Software& software, int token_parts) {
  // A column-divided product keeps its whole input; a row-divided one, and the operators between them, only a part.
  const int parts = share.rows * (op.has_weights() ? 1 : share.columns) * token_parts;
  return kept_bytes(op, precision, attention, software) * share.sequences / parts;
}

double kept_activations(const OperatorGraph& operators, const Stage& stage, std::size_t index, std::size_t rank,
                        double sequences, const Scenario& scenario, Recompute recompute) {
  const Operator& op = operators[stage.first + index];
  const Gpu& gpu = scenario.platform.devices[stage.mesh[rank]].gpu;
  const Precision precision = scenario.training.precision;
  const Share share = share_of(stage, index, rank, sequences);
  const bool is_whole = share.columns == 1 && share.rows == 1 && op.role != Role::kLoss;
  const int token_parts = is_whole ? stage.token_parts : 1;
  const auto kept = [&](const Operator& of) {
    return kept_activations(of, share, precision, scenario.software.attention_on(gpu, precision), scenario.software,
                            token_parts);
  };
  if (!is_inside_layers(op, layer_count(operators))) return kept(op);
  const double outputs = op.outputs / share.columns * share.sequences * element_bytes(precision);
  switch (recompute) {
    case Recompute::kNone:
      break;
    case Recompute::kSelective:
      // The core of attention is recomputed from queries, keys and values (Korthikanti et al., section 5).
      return op.is_attention_core() ? 0 : kept(op) + (op.role == Role::kQkv ? outputs : 0);
    case Recompute::kOperators: {
      // Outputs of products and of attention; queries, keys and values are outputs of products. Sums of row-divided
      // products are kept in parts by tokens.
      if (op.has_weights() && op.kind == OperatorKind::kMatrix)
        return share.rows > 1 ? outputs / stage.token_parts : outputs * (1 - op.second);
      if (!op.is_attention_core()) return 0;
      Operator core = op;
      core.saved_elements = 0;
      return kept(core) + (op.role == Role::kValues ? outputs : 0);
    }
    case Recompute::kFull:
      return 0;
  }
  return kept(op);
}

}  // namespace slmsim
