#include "sim/technique/alpa/planner/speed.h"

#include <algorithm>
#include <numeric>

namespace slmsim {

std::vector<Seconds> operator_times(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario) {
  std::vector<Seconds> out;
  out.reserve(boost::num_vertices(operators));
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
    const OperatorTime time = operator_time(operators[v], {}, gpu, scenario.training.precision, scenario.software);
    out.push_back(time.forward + time.backward);
  }
  return out;
}

Seconds time_of_sequence(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario) {
  const auto each = operator_times(operators, gpu, scenario);
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
