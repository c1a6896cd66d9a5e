#include "sim/lower/layer_work.h"

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

namespace slmsim {
namespace {

Share share_of_tensor(const Operator& op, const TensorDivision& division, double sequences) {
  switch (tensor_sharding(op)) {
    case Sharding::kRow:
      return {1, division.tensor, sequences};
    case Sharding::kColumn:
      return {division.tensor, 1, sequences};
    default:
      return {1, 1, division.sequence_parallel ? sequences / division.tensor : sequences};
  }
}

}  // namespace

std::string unit_text(std::size_t unit, std::size_t units) {
  return unit == 0 ? "embedding" : unit + 1 == units ? "head" : fmt::format("L{}", unit - 1);
}

std::vector<LayerWork> layer_work(const OperatorGraph& operators, const TensorDivision& division, double sequences,
                                  const Gpu& gpu, const Scenario& scenario) {
  const Stack& stack = scenario.stack;
  const BytesPerSecond memory = gpu.memory_bandwidth * scenario.efficiency.memory;
  const bool eager = stack.replicated_traffic > 0 || stack.divided_traffic > 0;
  const int layers = layer_count(operators);
  std::vector<LayerWork> out(static_cast<std::size_t>(layers) + 2);
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    const Operator& op = operators[v];
    LayerWork& layer = out[static_cast<std::size_t>(op.layer + 1)];
    layer.parameters += op.parameters;
    if (eager && is_inside_layers(op, layers) && op.kind != OperatorKind::kMatrix) continue;
    const Share share = share_of_tensor(op, division, sequences);
    OperatorTime time = operator_time(op, share, gpu, scenario.training.precision, scenario.efficiency);
    if (op.kind == OperatorKind::kLoss && stack.loss_traffic > 0) {
      time.forward = time.backward = Bytes{stack.loss_traffic / 2 * op.outputs * sequences / division.tensor} / memory;
      time.basis = {.roofline = time.forward + time.backward};
    }
    const Flops work{op.matrix.flops() * share.sequences / (share.columns * share.rows)};
    const bool again = is_computed_anew(op, division.recompute, layers);
    layer.forward += time.forward;
    layer.backward += time.backward + (again ? time.forward : Seconds{0});
    layer.forward_work += work;
    layer.backward_work += work * (again ? 3.0 : 2.0);
    layer.basis += time.basis;
  }
  if (!eager) return out;
  // Tokens times the hidden size.
  const double units = stream_elements(operators) * sequences;
  const double replicated = stack.replicated_traffic * units / (division.sequence_parallel ? division.tensor : 1);
  const double divided = stack.divided_traffic * units / division.tensor;
  const Seconds forward = Bytes{replicated + divided} / memory;
  const double again = division.recompute == Recompute::kFull        ? 1.0
                       : division.recompute == Recompute::kSelective ? divided / (replicated + divided)
                                                                     : 0.0;
  for (std::size_t i = 1; i + 1 < out.size(); ++i) {
    out[i].forward += forward;
    out[i].backward += forward * (2.0 + again);
    out[i].basis += {.roofline = forward * 3.0};
  }
  return out;
}

Seconds gpu_adam_time(double parameters, const Gpu& gpu, const Scenario& scenario, TimeBasis* basis) {
  if (scenario.stack.gpu_adam > 0) {
    const Seconds time =
        Bytes{parameters * scenario.stack.gpu_adam} / (gpu.memory_bandwidth * scenario.efficiency.memory);
    if (basis) *basis += {.roofline = time};
    return time;
  }
  return adam_time(parameters, gpu, scenario.training.precision, scenario.training.gradient_precision,
                   scenario.efficiency, basis);
}

}  // namespace slmsim
