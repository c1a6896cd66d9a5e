#include "sim/collective/alone.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/engine/simulate.h"

namespace slmsim {
namespace {

constexpr double kSameTime = 1e-12;  // relative

}  // namespace

std::optional<Alone> run_alone(const Network& network, const NcclSetup& nccl, const std::vector<int>& devices,
                               const CollectiveCall& call, const std::optional<Beside>& beside) {
  TaskGraph graph(network, static_cast<int>(nccl.platform.devices.size()));
  Communicator communicator(graph, network, nccl, devices);
  const std::vector<TaskId> ready(devices.size(), kNoTask);
  const TagId tag = graph.tag({.name = "alone", .of = TaskClass::kCollective});
  const std::vector<TaskId> done =
      beside ? communicator.run_beside(call, tag, ready) : communicator.run(call, tag, ready);
  std::vector<TaskId> computed;
  for (const int device : devices) {
    if (beside) computed.push_back(graph.compute(device, beside->time, tag, {}, beside->work));
  }
  const Timeline timeline = simulate(graph, {}, {.record_flows = true});
  const auto same_end = [&](const std::vector<TaskId>& tasks) {
    return std::all_of(tasks.begin(), tasks.end(), [&](TaskId task) {
      return std::abs(timeline.finish[task] - timeline.finish[tasks.front()]) <= kSameTime * timeline.end.value;
    });
  };
  if (!same_end(done) || !same_end(computed)) return std::nullopt;
  Alone out;
  out.length = Seconds{timeline.finish[done.front()]};
  out.inside.exchanges.push_back({0, 0, out.length.value});
  if (beside) {
    const double computing = timeline.finish[computed.front()];
    out.length = std::max(out.length, Seconds{computing});
    out.inside.computing.push_back({0, 0, computing});
  }
  std::vector<std::pair<double, double>> transferring;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind == TaskKind::kTransfer && graph.connections()[task.place].joins(devices.front()))
      transferring.emplace_back(timeline.start[id], timeline.finish[id]);
  }
  std::ranges::sort(transferring);
  double until = -1;
  for (const auto& [start, finish] : transferring) {
    if (start > until) out.inside.transferring.push_back({start, start, 0});
    until = std::max(until, finish);
    Inside::Span& span = out.inside.transferring.back();
    span.length = until - span.from_gpu;
  }
  for (const Flow& flow : timeline.flows)
    out.inside.transfers.push_back(
        {{flow.start, flow.start, flow.finish - flow.start}, static_cast<std::size_t>(flow.connection), flow.bytes});
  std::map<int, int> crossed;
  for (const Connection& connection : graph.connections()) {
    for (const int link : connection.route.links) ++crossed[link];
  }
  for (const Connection& connection : graph.connections()) {
    out.crossed.emplace_back();
    for (const int link : connection.route.links) out.crossed.back().push_back(crossed.at(link));
  }
  return out;
}

}  // namespace slmsim
