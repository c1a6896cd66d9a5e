#include "sim/technique/alpa/planner/speed.h"

#include <algorithm>
#include <numeric>

#include "sim/compute/operator_graph.h"

namespace slmsim {

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
