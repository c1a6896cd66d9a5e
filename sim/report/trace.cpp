#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/predict/iterations.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Names of task classes in traces ("cat"), in their order.
constexpr const char* kCategories[] = {"forward", "backward", "optimizer", "launch", "framework",  "collective",
                                       "send",    "copy",     "drive",     "buffer", "collective", "host"};
static_assert(std::size(kCategories) == static_cast<std::size_t>(TaskClass::kHost) + 1);

enum Process { kIteration = 1, kGpus, kConnections, kLinks, kHosts };

// With more changes of rates than this over all links, each link is shown by averages.
constexpr std::size_t kMostCounterEvents = 200'000;
constexpr std::size_t kFewestBins = 50, kMostBins = 2000;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whole nanoseconds, so that rounding makes no overlaps.
std::int64_t nanoseconds(double time) { return std::llround(time * 1e9); }
std::string microseconds(std::int64_t time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

// The mean rates over `count` equal times; the bytes stay the same.
std::vector<RateStep> averaged(const std::vector<RateStep>& steps, std::size_t count, double end) {
  const double width = end / static_cast<double>(count);
  std::vector<RateStep> out;
  for (std::size_t bin = 0; bin < count; ++bin) out.push_back({width * static_cast<double>(bin), 0});
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    double from = steps[i].time;
    for (auto bin = static_cast<std::size_t>(from / width); bin < count && from < steps[i + 1].time; ++bin) {
      const double until = std::min(width * static_cast<double>(bin + 1), steps[i + 1].time);
      out[bin].rate += steps[i].rate * std::max(0.0, until - from) / width;
      from = until;
    }
  }
  out.push_back({end, 0});
  return out;
}

// A label in reading order: "fwd mb2 L3" becomes "fwd L3 mb2".
std::string task_name(const std::string& label) {
  const auto at = label.find(" mb");
  const auto end = at == std::string::npos ? at : label.find(' ', at + 1);
  return end == std::string::npos ? label : label.substr(0, at) + label.substr(end) + label.substr(at, end - at);
}

class Writer {
 public:
  explicit Writer(const TracedIteration& traced) : traced_(traced), graph_(traced.graph), timeline_(traced.timeline) {
    for (const Tag& tag : graph_.tags()) names_.push_back(quoted(task_name(tag.name)));
  }

  std::string write() {
    out_ = "{\"displayTimeUnit\": \"ms\",\n";
    put("\"otherData\": {{\"title\": {}, \"iteration_s\": {:.9f}, \"assumed\": {}}},\n", quoted(traced_.title),
        timeline_.end.value, quoted(traced_.assumed));
    out_ += "\"traceEvents\": [\n";
    processes();
    tracks();
    for (TaskId id = 0; id < graph_.tasks().size(); ++id) task(id);
    counters();
    slice(kIteration, 0, "\"iteration\"", "iteration", 0, timeline_.end.value, "");
    out_.erase(out_.size() - 2, 1);  // the last comma
    return std::move(out_) + "]}\n";
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  int gpu_track(int device) const { return 1 + device; }
  int connection_track(int connection) const { return 1 + graph_.device_count() + connection; }
  static Process process_of(const Connection& connection) {
    return connection.traffic == Traffic::kMessages ? kConnections : kHosts;
  }
  const Connection& connection_of(const Task& task) const { return graph_.connections()[task.place]; }

  void name_track(const char* kind, Process process, int track, const std::string& name, int order) {
    put("{{\"ph\":\"M\",\"name\":\"{}_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n", kind,
        static_cast<int>(process), track, quoted(name));
    put("{{\"ph\":\"M\",\"name\":\"{}_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}},\n", kind,
        static_cast<int>(process), track, order);
  }

  void processes() {
    name_track("process", kIteration, 0, traced_.title, 0);
    name_track("process", kGpus, 0, "GPUs", 1);
    name_track("process", kHosts, 0, "hosts and drives", 2);
    name_track("process", kConnections, 0, "connections", 3);
    name_track("process", kLinks, 0, "links", 4);
    name_track("thread", kIteration, 0, "iteration", 0);
  }

  // Tracks of the GPUs and connections with any task.
  void tracks() {
    std::vector<bool> gpus(static_cast<std::size_t>(graph_.device_count())), connections(graph_.connections().size());
    for (const auto& task : graph_.tasks()) {
      if (task.kind == TaskKind::kCompute) gpus[task.place] = true;
      if (task.kind == TaskKind::kTransfer) connections[task.place] = true;
    }
    const auto device = [&](int index) { return traced_.platform.devices[index].name; };
    std::map<std::string, int> so_named;  // NCCL's rings and communicators join the same GPUs more than once
    for (int i = 0; i < graph_.device_count(); ++i) {
      if (gpus[i]) name_track("thread", kGpus, gpu_track(i), device(i), i);
    }
    for (int i = 0; i < static_cast<int>(connections.size()); ++i) {
      if (!connections[i]) continue;
      const Connection& connection = graph_.connections()[i];
      const std::string name = connection.traffic == Traffic::kMessages
                                   ? fmt::format("{} -> {}", device(connection.from), device(connection.to))
                                   : fmt::format("{} {}", device(connection.from), connection.name);
      const int number = ++so_named[name];
      name_track("thread", process_of(connection), connection_track(i),
                 number == 1 ? name : fmt::format("{} ({})", name, number),
                 i + static_cast<int>(connection.traffic) * static_cast<int>(connections.size()));
    }
  }

  void slice(Process process, int track, const std::string& name, std::string_view category, double start,
             double finish, const std::string& arguments) {
    const std::int64_t from = nanoseconds(start), length = std::max<std::int64_t>(0, nanoseconds(finish) - from);
    put("{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}},\n",
        name, category, static_cast<int>(process), track, microseconds(from), microseconds(length), arguments);
  }

  bool carries_messages(const Task& transfer) const { return connection_of(transfer).traffic == Traffic::kMessages; }

  double left(TaskId id) const {
    const Task& task = graph_.tasks()[id];
    return timeline_.finish[id] - connection_of(task).route.latency.value;
  }

  void task(TaskId id) {
    const Task& task = graph_.tasks()[id];
    const bool computes = task.kind == TaskKind::kCompute;
    if (!computes && task.kind != TaskKind::kTransfer) return;
    const TaskClass of = graph_.tag_of(task).of;
    const char* what = kCategories[static_cast<std::size_t>(of)];
    if (computes) {
      const bool of_model = of == TaskClass::kForward || of == TaskClass::kBackward;
      slice(kGpus, gpu_track(task.place), names_[task.tag], what, timeline_.start[id], timeline_.finish[id],
            of_model ? fmt::format("\"flops\":{:.0f}", graph_.work(id).products.value) : "");
    } else {
      slice(process_of(connection_of(task)), connection_track(task.place), names_[task.tag], what, timeline_.start[id],
            left(id), fmt::format("\"bytes\":{:.0f}", task.amount));
    }
    TaskId last = kNoTask;
    for (const TaskId waited_for : graph_.predecessors(id)) {
      const TaskId before = behind_joins(waited_for);
      if (before == kNoTask || std::exchange(last, before) == before) continue;  // as input and as the GPU's last work
      const Task& earlier = graph_.tasks()[before];
      const bool follows = earlier.kind == task.kind && (computes || earlier.place == task.place ||
                                                         (carries_messages(earlier) && carries_messages(task)));
      if (!follows) arrow(before, id);
    }
  }

  // The task that ended a delay: the last of those it joined; kNoTask where it waited for nothing.
  TaskId behind_joins(TaskId id) const {
    const auto is_join = [&](TaskKind kind) { return kind != TaskKind::kCompute && kind != TaskKind::kTransfer; };
    while (id != kNoTask && is_join(graph_.tasks()[id].kind)) {
      TaskId latest = kNoTask;
      for (const TaskId before : graph_.predecessors(id)) {
        if (latest == kNoTask || timeline_.finish[before] > timeline_.finish[latest]) latest = before;
      }
      id = latest;
    }
    return id;
  }

  void arrow_end(const char* phase, TaskId id, std::int64_t time, const char* rest) {
    const Task& task = graph_.tasks()[id];
    const bool computes = task.kind == TaskKind::kCompute;
    put("{{\"ph\":\"{}\",\"name\":\"then\",\"cat\":\"flow\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}{}}},\n", phase,
        arrows_, static_cast<int>(computes ? kGpus : process_of(connection_of(task))),
        computes ? gpu_track(task.place) : connection_track(task.place), microseconds(time), rest);
  }

  // From just before the end of the first task to the start of the second.
  void arrow(TaskId from, TaskId to) {
    const bool computed = graph_.tasks()[from].kind == TaskKind::kCompute;
    const std::int64_t start = nanoseconds(timeline_.start[from]);
    const std::int64_t finish = nanoseconds(computed ? timeline_.finish[from] : left(from));
    ++arrows_;
    arrow_end("s", from, std::max(start, finish - 1), "");
    arrow_end("f", to, nanoseconds(timeline_.start[to]), ",\"bp\":\"e\"");
  }

  void counters() {
    const auto links = link_rates(graph_, timeline_);
    const std::size_t bins =
        std::clamp(kMostCounterEvents / std::max<std::size_t>(1, links.size()), kFewestBins, kMostBins);
    for (const auto& link : links) {
      const std::string name = quoted(graph_.links()[link.link].name);
      const bool few = link.steps.size() <= bins;
      double last = -1;
      for (const auto& [time, rate] : few ? link.steps : averaged(link.steps, bins, timeline_.end.value)) {
        if (rate == last) continue;
        put("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{{\"MB/s\":{:.6g}}}}},\n", name,
            static_cast<int>(kLinks), microseconds(nanoseconds(time)), rate / 1e6);
        last = rate;
      }
    }
  }

  const TracedIteration& traced_;
  const TaskGraph& graph_;
  const Timeline& timeline_;
  std::vector<std::string> names_;
  std::string out_;
  std::uint64_t arrows_ = 0;
};

}  // namespace

std::string to_trace(const TracedIteration& traced) { return Writer(traced).write(); }

const Prediction* to_be_traced(const RunResult& result) {
  const Selection* pick = result.selections.empty() ? nullptr : &result.selections.front();
  const Prediction* first = nullptr;
  for (const auto& p : result.predictions) {
    if (p.status != Status::kOk) continue;
    if (!first) first = &p;
    if (pick && p.model == pick->model && pick->technique == p.technique && p.group == pick->group) return &p;
  }
  return first;
}

std::string trace_of(const RunResult& result, const Prediction& p) {
  const TaskGraph graph = iteration_graph(result.scenario, model_named(result.scenario, p.model), *p.plan);
  // Where the prediction simulated equal GPUs once, its connections are not these.
  const bool same = p.connections.size() == graph.connections().size();
  const Timeline timeline =
      simulate(graph, same ? p.connections : simulate_iterations(graph).before_last, {.record_flows = true});
  return to_trace({graph, timeline, result.scenario.platform,
                   fmt::format("{}: {} on {}", p.model, p.technique->name, group_text(p.group)),
                   assumed_line(assumptions_of(result.scenario, {&p}))});
}

}  // namespace slmsim
