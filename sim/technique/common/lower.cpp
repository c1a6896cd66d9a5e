#include "sim/technique/common/lower.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace slmsim {

int micro_batch_round(const Plan& plan) {
  const auto* megatron = std::get_if<MegatronPlan>(&plan.by);
  return megatron != nullptr && megatron->chunks > 1 ? megatron->pipeline : 1;
}

int in_whole_rounds(int micro_batches, const Plan& plan) {
  const int round = micro_batch_round(plan);
  return (micro_batches + round - 1) / round * round;
}

TaskGraph begin_graph(const LowerRequest& request, std::shared_ptr<const std::vector<Link>> links) {
  TaskGraph graph(std::move(links), static_cast<int>(request.scenario.platform.devices.size()), request.alike);
  graph.limit(request.most_tasks);
  if (request.only_connections) graph.fold()->differ();
  return graph;
}

bool has_measured_kernels(const LowerRequest& request) {
  const auto devices = devices_of(request.plan);
  return std::any_of(devices.begin(), devices.end(),
                     [&](int device) { return request.scenario.platform.devices[device].gpu.kernels != nullptr; });
}

Seconds driver_launch(const LowerRequest& request) {
  const int driver = request.plan.stages.front().mesh.front();
  Seconds farthest{0};
  for (const auto& stage : request.plan.stages) {
    for (const int device : stage.mesh) farthest = std::max(farthest, request.network.round_trip(driver, device));
  }
  const Training& training = request.scenario.training;
  return training.iteration_overhead + farthest * training.control_round_trips;
}

std::string layers_text(int first, int last, int layers) {
  if (last < 0) return "embedding";
  if (first >= layers) return "head";
  first = std::max(first, 0);
  last = std::min(last, layers - 1);
  return first == last ? fmt::format("L{}", first) : fmt::format("L{}-{}", first, last);
}

int connect_host(TaskGraph& graph, const LowerRequest& request, int device, HostPath path) {
  Route route = request.network.host_route(device, path != HostPath::kFromMemory);
  if (path == HostPath::kCpu) {
    // The last link of the path to memory is the memory's own.
    const int memory = route.links.back();
    route = {};
    route.links = {memory};
    route.socket_rate = request.scenario.framework.cpu_adam_rate;
  }
  constexpr std::array kNames = {"to host memory", "from host memory", "CPU"};
  return graph.add_connection({device, device, 1, std::move(route),
                               path == HostPath::kCpu ? Traffic::kHostOptimizer : Traffic::kCopies,
                               kNames[static_cast<std::size_t>(path)]});
}

}  // namespace slmsim
