#include "sim/technique/alpa/planner/speed.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace slmsim {

std::vector<Seconds> operator_times(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario) {
  std::vector<Seconds> out;
  out.reserve(boost::num_vertices(operators));
  std::map<Role, std::size_t> last;
  for (std::size_t v = 0; v < boost::num_vertices(operators); ++v) {
    const auto [known, is_new] = last.try_emplace(operators[v].role, v);
    const std::size_t before = std::exchange(known->second, v);
    if (!is_new && operators[v].is_like(operators[before])) {
      out.push_back(out[before]);
      continue;
    }
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
