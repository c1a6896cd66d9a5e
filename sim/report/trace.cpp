#include "sim/report/trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slmsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kGpuProcess = 1, kNetworkProcess = 2;

void name_track(std::string& out, const char* kind, int process, int track, const std::string& name) {
  Json event = {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
  out += event.dump() + ",\n";
}

void add_event(std::string& out, int process, int track, const std::string& name, double start, double finish,
               const char* amount_name, double amount) {
  Json event = {{"ph", "X"},
                {"name", name},
                {"pid", process},
                {"tid", track},
                {"ts", start * 1e6},
                {"dur", (finish - start) * 1e6},
                {"args", {{amount_name, amount}}}};
  out += event.dump() + ",\n";
}

}  // namespace

std::string to_trace(const TaskGraph& graph, const Timeline& timeline, const Platform& platform) {
  std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  name_track(out, "process_name", kGpuProcess, 0, "GPUs");
  name_track(out, "process_name", kNetworkProcess, 0, "connections");
  for (std::size_t i = 0; i < platform.devices.size(); ++i)
    name_track(out, "thread_name", kGpuProcess, static_cast<int>(i), platform.devices[i].name);
  const auto& connections = graph.connections();
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const auto device = [&](int index) { return platform.devices[static_cast<std::size_t>(index)].name; };
    name_track(out, "thread_name", kNetworkProcess, static_cast<int>(i),
               fmt::format("{} -> {}", device(connections[i].from), device(connections[i].to)));
  }
  for (std::size_t id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    const std::string& label = graph.labels()[task.label];
    if (task.kind == TaskKind::kCompute)
      add_event(out, kGpuProcess, task.place, label, timeline.start[id], timeline.finish[id], "seconds", task.amount);
    if (task.kind == TaskKind::kTransfer) {
      const double latency = connections[static_cast<std::size_t>(task.place)].route.latency.value;
      add_event(out, kNetworkProcess, task.place, label, timeline.start[id], timeline.finish[id] - latency, "bytes",
                task.amount);
    }
  }
  out.erase(out.size() - 2, 1);  // the last comma
  return out + "]}\n";
}

}  // namespace slmsim
