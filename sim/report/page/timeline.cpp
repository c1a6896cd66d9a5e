#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/page/markup.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

constexpr double kHair = 1.0 / 500;  // share of the width: shorter parts are drawn this long
constexpr std::size_t kMostRows = 16;
constexpr double kDense = 0.5;  // share of a part's time: less busy parts are drawn paler

// Legend texts of the classes of tasks, in their order; delays are not shown.
constexpr std::array kTexts = {"forward",
                               "backward",
                               "optimizer",
                               "launching",
                               "waiting for the framework",
                               "collective",
                               "activations",
                               "copy to or from host",
                               "drive",
                               "copy to or from buffers"};
static_assert(kTexts.size() == static_cast<std::size_t>(TaskClass::kKernels));

// A linear axis over an iteration; of many micro-batches it shows the first and the last, at one scale.
struct TimeScale {
  double end = 0;                // s
  double leave = 0, resume = 0;  // s, of the part that is left out; none where equal

  static constexpr double kGap = 0.05;  // share of the width
  bool is_cut() const { return resume > leave; }
  double length() const { return end - (resume - leave); }
  double gap() const { return is_cut() ? kGap : 0; }
  // Share of the width; all of what is left out lies at its beginning.
  double at(double time) const {
    const double before = std::min(time, leave), after = std::max(0.0, time - resume);
    const double shown = is_cut() ? before + after : time;
    return shown / length() * (1 - gap()) + (is_cut() && time >= resume ? gap() : 0);
  }
};

struct TimelineRow {
  struct Part {
    double from = 0, length = 0;  // shares of the width
    double busy = 0;              // of it
    TaskClass what{};
  };
  std::vector<Part> parts;
  double busy = 0;

  void add(TaskClass what, double start, double finish, const TimeScale& scale) {
    if (what != TaskClass::kLaunch && what != TaskClass::kFramework) busy += (finish - start) / scale.end;
    if (start >= scale.leave && start < scale.resume) start = scale.resume;
    if (finish > scale.leave && finish <= scale.resume) finish = scale.leave;
    if (finish < start) return;
    if (scale.is_cut() && start < scale.leave && finish > scale.resume) {
      draw(what, start, scale.leave, scale);
      draw(what, scale.resume, finish, scale);
    } else {
      draw(what, start, finish, scale);
    }
  }

  void draw(TaskClass what, double start, double finish, const TimeScale& scale) {
    const double from = scale.at(start), share = scale.at(finish) - from, length = std::max(share, kHair);
    // Neighbours of one class are merged, unless another class lies between them.
    if (!parts.empty() && parts.back().what == what) {
      Part& before = parts.back();
      if (from - (before.from + before.length) < kHair) {
        before.length = std::max(before.length, std::min(1.0, from + length) - before.from);
        before.busy += share;
        return;
      }
    }
    parts.push_back({from, std::min(length, 1.0 - from), share, what});
  }
};

std::string rows_text(const std::map<int, TimelineRow>& rows, const auto& label, const BarAxis& axis, double gap,
                      const std::string& title) {
  std::vector<Bar> bars;
  for (const auto& [index, row] : rows) {
    if (bars.size() == kMostRows) break;
    Bar bar{.label = label(index), .text = fmt::format("{:.0f} % busy", 100 * row.busy), .parts = {}, .gap = gap};
    for (const auto& part : row.parts) {
      const auto number = static_cast<std::size_t>(part.what);
      const bool sparse = part.busy < kDense * part.length;
      bar.parts.push_back(
          {part.from, part.length, fmt::format("k{}{}", number, sparse ? " sparse" : ""),
           fmt::format("{}, {:.0f} % of this time", kTexts[number], std::min(100.0, 100 * part.busy / part.length))});
    }
    bars.push_back(std::move(bar));
  }
  std::string out = html_bars(bars, axis, title);
  if (rows.size() > kMostRows) out += fmt::format("<p class=\"note\">and {} more</p>\n", rows.size() - kMostRows);
  return out;
}

// Starts of the forward passes that follow a backward pass on one GPU, by time: about one for each micro-batch.
std::vector<double> rounds_on(const TaskGraph& graph, const Timeline& timeline, const std::vector<TaskId>& order,
                              int gpu) {
  std::vector<double> out;
  bool is_back = true;
  for (const TaskId id : order) {
    const Task& task = graph.tasks()[id];
    if (task.kind != TaskKind::kCompute || task.place != gpu) continue;
    const TaskClass what = graph.tag_of(task).of;
    if (what == TaskClass::kForward && is_back) out.push_back(timeline.start[id]);
    if (what == TaskClass::kForward || what == TaskClass::kBackward) is_back = what == TaskClass::kBackward;
  }
  return out;
}

// Leaves out the middle of an iteration of many micro-batches, where that is most of it.
TimeScale scale_of(const TaskGraph& graph, const Timeline& timeline, const std::vector<TaskId>& order, int gpus) {
  constexpr std::size_t kShownRounds = 3, kMostRounds = 10;
  constexpr double kMostShown = 0.7;
  TimeScale whole{timeline.end.value};
  std::vector<double> most;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    std::vector<double> rounds = rounds_on(graph, timeline, order, gpu);
    if (rounds.size() > most.size()) most = std::move(rounds);
  }
  if (most.size() <= kMostRounds) return whole;
  const TimeScale cut{whole.end, most[kShownRounds], most[most.size() - kShownRounds]};
  return cut.length() < kMostShown * whole.end ? cut : whole;
}

BarAxis axis_under(const TimeScale& scale) {
  BarAxis axis{"since its start", duration_ticks(scale.length())};
  if (!scale.is_cut()) return axis;
  // The same step on both sides of the gap.
  const double step = axis.ticks.size() > 1 ? axis.ticks[1].at * scale.length() : scale.length();
  std::erase_if(axis.ticks, [&](const Tick& tick) { return tick.at * scale.length() > scale.leave; });
  for (Tick& tick : axis.ticks) tick.at = scale.at(tick.at * scale.length());
  axis.ticks.push_back({scale.at(scale.resume) - scale.gap() / 2, "\u2026"});
  const double last = std::floor(scale.end / step) * step;
  if (last > scale.resume) axis.ticks.push_back({scale.at(last), to_text(Seconds{last})});
  return axis;
}

}  // namespace

std::string timeline_bars(const TaskGraph& graph, const Timeline& timeline, const Platform& platform) {
  const double end = timeline.end.value;
  if (end <= 0) return "";
  // In the order of their starts, so that neighbours can be merged.
  std::vector<TaskId> order;
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const TaskKind kind = graph.tasks()[id].kind;
    if (kind == TaskKind::kCompute || kind == TaskKind::kTransfer) order.push_back(id);
  }
  std::ranges::stable_sort(order, [&](TaskId a, TaskId b) { return timeline.start[a] < timeline.start[b]; });
  const TimeScale scale = scale_of(graph, timeline, order, static_cast<int>(platform.devices.size()));
  std::map<int, TimelineRow> gpus, hosts, connections;
  std::array<bool, kTexts.size()> occurs{};
  const auto vm = [&](int device) { return platform.devices[device].vm; };
  for (const TaskId id : order) {
    const Task& task = graph.tasks()[id];
    const TaskClass what = graph.tag_of(task).of;
    double finish = timeline.finish[id];
    TimelineRow* row = nullptr;
    if (task.kind == TaskKind::kCompute) {
      row = &gpus[task.place];
    } else {
      const Connection& connection = graph.connections()[task.place];
      finish -= connection.route.latency.value;
      if (connection.traffic != Traffic::kMessages) {
        row = &hosts[task.place];
      } else if (vm(connection.from) != vm(connection.to)) {
        row = &connections[task.place];
      }
    }
    if (!row) continue;
    row->add(what, timeline.start[id], finish, scale);
    occurs[static_cast<std::size_t>(what)] = true;
  }
  const auto name = [&](int device) { return platform.devices[device].name; };
  const auto connection = [&](int index) { return graph.connections()[index]; };
  const BarAxis axis = axis_under(scale);
  const double gap = scale.is_cut() ? scale.at(scale.resume) - 0.7 * scale.gap() : -1;
  std::string out = rows_text(gpus, name, axis, gap, "what each GPU does");
  if (!hosts.empty()) {
    out += "<p class=\"note\">Hosts and drives, by the GPU whose process they serve:</p>\n" +
           rows_text(
               hosts, [&](int index) { return name(connection(index).from) + " " + connection(index).name; }, axis, gap,
               "what hosts and drives do");
  }
  if (!connections.empty()) {
    out += "<p class=\"note\">Connections between VMs:</p>\n" +
           rows_text(
               connections,
               [&](int index) {
                 return fmt::format("{} to {}", name(connection(index).from), name(connection(index).to));
               },
               axis, gap, "what each connection between VMs does");
  }
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    if (occurs[i]) entries.push_back({fmt::format("k{}", i), kTexts[i]});
  }
  const std::string shown = scale.is_cut() ? fmt::format("; {} to {} is left out", to_text(Seconds{scale.leave}),
                                                         to_text(Seconds{scale.resume}))
                                           : "";
  return fmt::format("<p>From 0 to {}{}.</p>\n", to_text(timeline.end), shown) + out + html_legend(entries);
}

std::string timelines_of(const ModelReport& report) {
  std::vector<const Prediction*> shown;
  if (const Prediction* pick = report.pick()) shown.push_back(pick);
  const Prediction* largest = nullptr;
  for (const Prediction* p : report.predictions) {
    if (p->status != Status::kOk) continue;
    if (!largest || p->gpus > largest->gpus || (p->gpus == largest->gpus && p->job < largest->job)) largest = p;
  }
  if (largest && !shown.empty() && largest->gpus > shown.front()->gpus) shown.push_back(largest);
  std::string out;
  for (const Prediction* p : shown) {
    const TaskGraph graph = iteration_graph(report.result.scenario, report.model(), *p->plan);
    out += fmt::format("<h3>{}</h3>\n", escaped(place_of(report.platform(), *p))) +
           timeline_bars(graph, simulate(graph, p->connections), report.result.scenario.platform);
  }
  return out;
}

}  // namespace slmsim
