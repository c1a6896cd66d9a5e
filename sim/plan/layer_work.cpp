#include "sim/plan/layer_work.h"

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

namespace slmsim {
namespace {

bool is_attention_core(const Operator& op) {
  return op.kind == OperatorKind::kSoftmax || (op.kind == OperatorKind::kMatrix && !op.has_weights());
}

bool is_replicated(const Operator& op) { return op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kResidual; }

Share share_of_tensor(const Operator& op, const TensorDivision& division, double sequences) {
  const bool rows = op.kind == OperatorKind::kEmbedding || op.name == "projection" || op.name == "mlp down";
  if (is_replicated(op)) return {1, 1, division.sequence_parallel ? sequences / division.tensor : sequences};
  return rows ? Share{1, division.tensor, sequences} : Share{division.tensor, 1, sequences};
}

}  // namespace

double tied_parameters(const OperatorGraph& operators) {
  const Operator& head = operators[boost::num_vertices(operators) - 2];
  return head.parameters > 0 ? 0.0 : operators[0].parameters;
}

std::string unit_text(std::size_t unit, std::size_t units) {
  return unit == 0 ? "embedding" : unit + 1 == units ? "head" : fmt::format("L{}", unit - 1);
}

std::vector<LayerWork> layer_work(const OperatorGraph& operators, const TensorDivision& division, double sequences,
                                  const Gpu& gpu, const Scenario& scenario) {
  const Stack& stack = scenario.stack;
  const BytesPerSecond memory = gpu.memory_bandwidth * scenario.efficiency.memory;
  const bool eager = stack.replicated_traffic > 0 || stack.divided_traffic > 0;
  const int layers = operators[boost::num_vertices(operators) - 1].layer;
  std::vector<LayerWork> out(static_cast<std::size_t>(layers) + 2);
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    const Operator& op = operators[v];
    LayerWork& layer = out[static_cast<std::size_t>(op.layer + 1)];
    layer.parameters += op.parameters;
    const bool inside = op.layer >= 0 && op.layer < layers;
    if (eager && inside && op.kind != OperatorKind::kMatrix) continue;
    const bool again = inside && (division.recompute == Recompute::kFull ||
                                  (division.recompute == Recompute::kSelective && is_attention_core(op)));
    OperatorTime time = operator_time(op, share_of_tensor(op, division, sequences), gpu, scenario.training.precision,
                                      scenario.efficiency);
    if (op.kind == OperatorKind::kLoss && stack.loss_traffic > 0)
      time.forward = time.backward = Bytes{stack.loss_traffic / 2 * op.outputs * sequences / division.tensor} / memory;
    layer.forward += time.forward;
    layer.backward += time.backward + (again ? time.forward : Seconds{0});
  }
  if (!eager) return out;
  // Tokens times the hidden size.
  const double units = operators[0].outputs * sequences;
  const double replicated = stack.replicated_traffic * units / (division.sequence_parallel ? division.tensor : 1);
  const double divided = stack.divided_traffic * units / division.tensor;
  const Seconds forward = Bytes{replicated + divided} / memory;
  const double again = division.recompute == Recompute::kFull        ? 1.0
                       : division.recompute == Recompute::kSelective ? divided / (replicated + divided)
                                                                     : 0.0;
  for (std::size_t i = 1; i + 1 < out.size(); ++i) {
    out[i].forward += forward;
    out[i].backward += forward * (2.0 + again);
  }
  return out;
}

Seconds gpu_adam_time(double parameters, const Gpu& gpu, const Scenario& scenario) {
  if (scenario.stack.gpu_adam > 0)
    return Bytes{parameters * scenario.stack.gpu_adam} / (gpu.memory_bandwidth * scenario.efficiency.memory);
  return adam_time(parameters, gpu, scenario.training.precision, scenario.training.gradient_precision,
                   scenario.efficiency);
}

}  // namespace slmsim
