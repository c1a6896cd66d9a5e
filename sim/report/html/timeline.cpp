#include "sim/report/html/timeline.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/report/html/markup.h"

namespace slmsim {
namespace {

constexpr double kHair = 1.0 / 500;  // of the width: what is shorter is drawn so long
constexpr std::size_t kMostRows = 16;

enum Kind { kForward, kBackward, kOptimizer, kLaunch, kTransfer };
constexpr std::array<const char*, 5> kKindNames = {"forward", "backward", "optimizer", "launching", "transfer"};

Kind kind_of(const Task& task, const std::string& label) {
  if (task.kind == TaskKind::kTransfer) return kTransfer;
  if (task.activity == Activity::kOptimizer) return kOptimizer;
  if (task.activity == Activity::kOverhead) return kLaunch;
  return label.starts_with("bwd") ? kBackward : kForward;
}

struct Row {
  std::vector<BarPart> parts;
  std::array<int, kKindNames.size()> last{-1, -1, -1, -1, -1};  // index of each kind's last part
  double busy = 0;

  void add(Kind kind, double start, double finish, double end) {
    busy += finish - start;
    const double from = start / end, length = std::max((finish - start) / end, kHair);
    if (last[kind] >= 0) {
      BarPart& before = parts[static_cast<std::size_t>(last[kind])];
      if (from - (before.from + before.length) < kHair) {
        before.length = std::max(before.length, std::min(1.0, from + length) - before.from);
        return;
      }
    }
    last[kind] = static_cast<int>(parts.size());
    parts.push_back({from, std::min(length, 1.0 - from), fmt::format("k{}", static_cast<int>(kind)), kKindNames[kind]});
  }
};

std::string rows_text(const std::map<int, Row>& rows, const auto& label, double end, const std::string& title) {
  std::vector<Bar> bars;
  for (const auto& [index, row] : rows) {
    if (bars.size() == kMostRows) break;
    bars.push_back(
        {.label = label(index), .text = fmt::format("{:.0f} % busy", 100 * row.busy / end), .parts = row.parts});
  }
  std::string out = html_bars(bars, title);
  if (rows.size() > kMostRows) out += fmt::format("<p class=\"note\">and {} more</p>\n", rows.size() - kMostRows);
  return out;
}

}  // namespace

std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform) {
  const double end = timeline.end.value;
  if (end <= 0) return "";
  // In the order of their starts, so that neighbours can be joined.
  std::vector<TaskId> order;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (graph.tasks()[id].kind != TaskKind::kDelay) order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](TaskId a, TaskId b) { return timeline.start[a] < timeline.start[b]; });
  std::map<int, Row> gpus, connections;
  const auto vm = [&](int device) { return platform.devices[static_cast<std::size_t>(device)].vm; };
  for (const TaskId id : order) {
    const Task& task = graph.tasks()[id];
    const Kind kind = kind_of(task, graph.labels()[task.label]);
    if (task.kind == TaskKind::kCompute) {
      gpus[task.place].add(kind, timeline.start[id], timeline.finish[id], end);
      continue;
    }
    const Connection& connection = graph.connections()[static_cast<std::size_t>(task.place)];
    if (vm(connection.from) == vm(connection.to)) continue;
    connections[task.place].add(kind, timeline.start[id], timeline.finish[id] - connection.route.latency.value, end);
  }
  const auto name = [&](int device) { return platform.devices[static_cast<std::size_t>(device)].name; };
  std::string out = rows_text(gpus, name, end, "what each GPU does");
  if (!connections.empty()) {
    const auto pair = [&](int index) {
      const Connection& connection = graph.connections()[static_cast<std::size_t>(index)];
      return fmt::format("{} to {}", name(connection.from), name(connection.to));
    };
    out += "<p class=\"note\">Connections between VMs:</p>\n" +
           rows_text(connections, pair, end, "what each connection between VMs does");
  }
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) entries.push_back({fmt::format("k{}", i), kKindNames[i]});
  return fmt::format("<p>From 0 to {}.</p>\n", to_text(timeline.end)) + out + html_legend(entries);
}

}  // namespace slmsim
