#include "sim/technique/alpa/planner/few_layers.h"

#include <algorithm>
#include <numeric>

#include "sim/compute/operator_graph.h"

namespace slmsim {

FewLayers few_layers(const Transformer& model, const OperatorGraph& operators) {
  FewLayers out{model, operators, std::vector<std::size_t>(boost::num_vertices(operators))};
  std::iota(out.like.begin(), out.like.end(), 0);
  const int layers = layer_count(operators), kept = kLayersApart;
  if (layers <= kept) return out;
  out.model.layers = kept;
  out.operators = build_operator_graph(out.model);
  const std::size_t each =
      (out.like.size() - boost::num_vertices(out.operators)) / static_cast<std::size_t>(layers - kept);
  for (std::size_t v = 0; v < out.like.size(); ++v)
    out.like[v] -= static_cast<std::size_t>(std::clamp(operators[v].layer - kept / 2, 0, layers - kept)) * each;
  return out;
}

}  // namespace slmsim
