#include "sim/technique/replicas/host_path.h"

#include <array>
#include <utility>

namespace slmsim {

int connect_host(TaskGraph& graph, const LowerRequest& request, int device, HostPath path) {
  const int vm = request.scenario.platform.devices[device].vm;
  const int gpu = request.network.part_of(device), memory = request.network.nearest(device, PartKind::kMemory);
  Route route;
  if (path == HostPath::kCpu) {
    // The last link of the path to memory is the memory's own.
    route.links = {request.network.route_inside(vm, gpu, memory).links.back()};
    route.socket_rate = request.scenario.framework.cpu_adam_rate;
  } else {
    const bool out = path == HostPath::kToMemory;
    route = out ? request.network.route_inside(vm, gpu, memory) : request.network.route_inside(vm, memory, gpu);
  }
  constexpr std::array kNames = {"to host memory", "from host memory", "CPU"};
  return graph.add_connection({device, device, 1, std::move(route),
                               path == HostPath::kCpu ? Traffic::kHostOptimizer : Traffic::kCopies,
                               kNames[static_cast<std::size_t>(path)]});
}

}  // namespace slmsim
