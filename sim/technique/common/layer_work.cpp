#include "sim/technique/common/layer_work.h"

#include <algorithm>
#include <map>

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

Share share_of_tensor(const Operator& op, const TensorDivision& division, int layers, double sequences) {
  if (op.role == Role::kLoss && division.ends != TensorEnds::kDivided) return {1, 1, sequences};
  switch (tensor_sharding(op, division, layers)) {
    case Sharding::kRow:
      return {1, division.tensor, sequences};
    case Sharding::kColumn:
      return {division.tensor, 1, sequences};
    default:
      return {1, 1, division.sequence_parallel ? sequences / division.tensor : sequences};
  }
}

// With early stop of recomputation: a layer's last operators that keep nothing, and the product before them, whose
// operands are kept before it starts (torch.utils.checkpoint, _recomputation_hook: the last saved tensor ends it).
std::vector<bool> left_out_when_anew(const OperatorGraph& operators) {
  const int layers = layer_count(operators);
  std::vector<bool> out(boost::num_vertices(operators), false);
  int done = layers;  // the last layer that was completed
  for (std::size_t v = out.size(); v-- > 0;) {
    const Operator& op = operators[v];
    if (!is_inside_layers(op, layers) || op.layer == done) continue;
    const bool product = op.kind == OperatorKind::kMatrix;
    const bool keeps = product || op.saved_elements > 0 || op.saved_bytes > 0;
    if (keeps) done = op.layer;
    out[v] = !keeps || product;
  }
  return out;
}

}  // namespace

Sharding tensor_sharding(const Operator& op, const TensorDivision& division, int layers) {
  const bool is_whole = (op.role == Role::kLoss && division.ends == TensorEnds::kGathered) ||
                        (!is_inside_layers(op, layers) && division.ends == TensorEnds::kWhole);
  return division.tensor == 1 || is_whole ? Sharding::kReplicated : tensor_sharding(op);
}

double summed_bytes(const Plan& plan, const Scenario& scenario) {
  if (!scenario.software.caching_allocator) return 0;
  double parts = 1;
  if (const auto* zero = std::get_if<ReplicaPlan>(&plan.by); zero && zero->stage > 1)
    parts = static_cast<double>(plan.stages.front().mesh.size());
  if (const auto* fsdp = std::get_if<FsdpPlan>(&plan.by); fsdp && !fsdp->no_sync) parts = fsdp->shards;
  const double others = 1 - 1.0 / plan.micro_batches;
  return 3 * scenario.software.stream_bytes(scenario.training.precision) * others / parts;
}

std::string unit_text(std::size_t unit, std::size_t units) {
  return unit == 0 ? "embedding" : unit + 1 == units ? "head" : std::string("L") + std::to_string(unit - 1);
}

std::vector<LayerWork> layer_work(const OperatorGraph& operators, const TensorDivision& division, double sequences,
                                  const Gpu& gpu, const Scenario& scenario) {
  const int layers = layer_count(operators);
  std::vector<LayerWork> out(static_cast<std::size_t>(layers) + 2);
  // Checkpoints by operator are newer than early stopping (PyTorch 2.4).
  const bool stops_early = division.recompute == Recompute::kOperators ||
                           (scenario.software.recompute_stops_early && division.recompute == Recompute::kFull);
  const std::vector<bool> left_out = stops_early ? left_out_when_anew(operators) : std::vector<bool>{};
  const AttentionKernel attention = scenario.software.attention_on(gpu, scenario.training.precision);
  // By place in a layer: an operator, and its time, which is also that of its like in the next layer. (Operators before and after
  // the layers, which are divided otherwise, have roles of their own.)
  std::vector<std::pair<const Operator*, OperatorTime>> known;
  std::size_t place = 0;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    const Operator& op = operators[v];
    LayerWork& layer = out[op.layer + 1];
    layer.parameters += op.parameters;
    if (op.frozen && !op.is_tied()) layer.frozen += op.weights;
    Share share = share_of_tensor(op, division, layers, sequences);
    share.summed = division.summed;
    place = v > 0 && operators[v - 1].layer == op.layer ? place + 1 : 0;
    known.resize(std::max(known.size(), place + 1));
    auto& [like, time] = known[place];
    if (!like || !like->is_like(op))
      time = operator_time(op, share, gpu, scenario.training.precision, scenario.software);
    like = &op;
    const Flops work{op.matrix.flops() * share.sequences / (share.columns * share.rows)};
    const double again = stops_early && left_out[v] ? 0 : share_computed_anew(op, division.recompute, layers);
    layer.forward += time.forward;
    layer.backward += time.backward + time.forward * again;
    layer.bound.forward += time.bound.forward;
    layer.bound.backward += time.bound.backward + time.bound.forward * again;
    if (tensor_sharding(op) == Sharding::kColumn) {
      layer.column_weights += time.weights_gradient;
      layer.bound.weights_gradient += time.bound.weights_gradient;
    }
    layer.forward_work += work;
    // Gradients of inputs and of weights.
    const double products = op.unreached ? 0.0 : op.frozen ? 1.0 : 2.0;
    layer.backward_work += work * (products + again);
    layer.basis += time.basis;
    const HostTime host = host_time(op, attention, scenario.software) * gpu.host;
    layer.host_forward += host.forward;
    layer.host_backward += host.backward + (again > 0 ? host.forward : Seconds{0});
  }
  if (division.recompute != Recompute::kNone) {
    for (int layer = 1; layer <= layers; ++layer)
      out[layer].host_backward += scenario.software.host_checkpoint * gpu.host;
  }
  return out;
}

std::vector<std::vector<LayerWork>> layer_work_of_ranks(const OperatorGraph& operators, const Stage& stage,
                                                        const TensorDivision& division, double sequences,
                                                        const Scenario& scenario) {
  const std::vector<int> kinds = gpu_kinds(scenario.platform, stage.mesh);
  std::map<std::pair<int, double>, std::size_t> known;  // the first rank of a kind and share
  std::vector<std::vector<LayerWork>> out;
  out.reserve(stage.mesh.size());
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    const double share = stage.batch_shares[rank] * division.tensor;
    const auto [first, is_new] = known.try_emplace({kinds[rank], share}, rank);
    const Gpu& gpu = scenario.platform.devices[stage.mesh[rank]].gpu;
    out.push_back(is_new ? layer_work(operators, division, sequences * share, gpu, scenario) : out[first->second]);
  }
  return out;
}

HostQueue::Stretch forward_of(const LayerWork& work) {
  return {work.forward, work.host_forward, work.forward_work, work.bound.forward};
}

HostQueue::Stretch backward_of(const LayerWork& work) {
  return {work.backward, work.host_backward, work.backward_work, work.bound.backward};
}

HostQueue::Stretch passes_of(const std::vector<LayerWork>& units) {
  HostQueue::Stretch out;
  for (const LayerWork& unit : units) out.append(forward_of(unit));
  for (std::size_t i = units.size(); i-- > 0;) out.append(backward_of(units[i]));
  return out;
}

bool host_binds(const std::vector<LayerWork>& units) {
  return std::any_of(units.begin(), units.end(), [](const LayerWork& unit) {
    return unit.host_forward > unit.forward || unit.host_backward > unit.backward;
  });
}

}  // namespace slmsim
