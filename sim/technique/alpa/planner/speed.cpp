#include "sim/technique/alpa/planner/speed.h"

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

std::vector<Seconds> operator_times(const FewLayers& layers, const Gpu& gpu, const Scenario& scenario) {
  std::vector<Seconds> few;
  for (std::size_t v = 0; v < boost::num_vertices(layers.operators); ++v) {
    const OperatorTime time =
        operator_time(layers.operators[v], {}, gpu, scenario.training.precision, scenario.software);
    few.push_back(time.forward + time.backward);
  }
  std::vector<Seconds> out;
  out.reserve(layers.like.size());
  for (const std::size_t like : layers.like) out.push_back(few[like]);
  return out;
}

Seconds time_of_sequence(const FewLayers& layers, const Gpu& gpu, const Scenario& scenario) {
  const auto each = operator_times(layers, gpu, scenario);
  return std::accumulate(each.begin(), each.end(), Seconds{0});
}

std::vector<Gpu> different_gpus(const Platform& platform, const std::vector<int>& devices) {
  std::vector<Gpu> out;
  for (const int device : devices) {
    const Gpu& gpu = platform.devices[device].gpu;
    if (std::find(out.begin(), out.end(), gpu) == out.end()) out.push_back(gpu);
  }
  return out;
}

}  // namespace slmsim
