#include "sim/predict/repeating.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/predict/lower_alike.h"

namespace slmsim {
namespace {

constexpr int kFirstOnes = 3;     // micro-batches that may still differ from those behind them
constexpr double kWorthIt = 1.5;  // all of them against those that are simulated
constexpr double kLinear = 1e-9;  // relative; the engine's clock is a double

struct Sample {
  Lowered lowered;
  Iteration iteration;  // without its parts
  std::vector<double> computing;

  const TaskGraph& graph() const { return lowered.graph; }
};

// nullopt where some connection loses segments.
std::optional<Sample> sample(const LowerRequest& request, int micro_batches) {
  LowerRequest few = request;
  few.only_micro_batches = micro_batches;
  Sample out{lower_alike(few), {}, {}};
  for (const Connection& connection : out.graph().connections()) {
    if (connection.route.windowed && connection.route.window.loss > 0) return std::nullopt;
  }
  out.iteration.times = simulate_iterations(out.graph());
  out.iteration.basis = out.lowered.basis;
  out.computing = computing_times(out.graph());
  return out;
}

std::vector<std::size_t> transfers(const TaskGraph& graph) {
  std::vector<std::size_t> out(graph.connections().size());
  for (const Task& task : graph.tasks()) {
    if (task.kind == TaskKind::kTransfer) out[static_cast<std::size_t>(task.place)] += task.times;
  }
  return out;
}

bool uses_all_windows(const TaskGraph& few, const TaskGraph& more) {
  const auto a = transfers(few), b = transfers(more);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (few.connections()[i].route.windowed && a[i] == b[i]) return false;
  }
  return true;
}

// Tasks of each device's stream, of each host and of each connection, in their order.
std::vector<std::vector<TaskId>> lines(const TaskGraph& graph) {
  const auto devices = static_cast<std::size_t>(graph.device_count());
  std::vector<std::vector<TaskId>> out(2 * devices + graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.place < 0) continue;
    const std::size_t first = task.kind == TaskKind::kCompute ? 0
                              : task.kind == TaskKind::kDelay ? devices
                                                              : 2 * devices;
    out[first + static_cast<std::size_t>(task.place)].push_back(id);
  }
  return out;
}

// When the last device begins its first backward pass: the pipeline is full.
double full_at(const Sample& one) {
  std::map<int, double> first;
  for (TaskId id = 0; id < one.graph().tasks().size(); ++id) {
    const Task& task = one.graph().tasks()[id];
    if (task.kind == TaskKind::kCompute && one.graph().tag_of(task).pass == Pass::kBackward)
      first.try_emplace(task.place, one.iteration.times.last.start[id]);
  }
  double full = 0;
  for (const auto& [device, start] : first) full = std::max(full, start);
  return full;
}

// Whether every device still begins forward passes then. Where all of them come before the first backward pass (GPipe), what
// comes after it says nothing of them.
bool goes_forward_after(const Sample& one, double date) {
  std::map<int, double> last;
  for (TaskId id = 0; id < one.graph().tasks().size(); ++id) {
    const Task& task = one.graph().tasks()[id];
    if (task.kind == TaskKind::kCompute && one.graph().tag_of(task).pass == Pass::kForward)
      last[task.place] = one.iteration.times.last.start[id];
  }
  return std::all_of(last.begin(), last.end(), [&](const auto& own) { return own.second >= date; });
}

// Whether all that the second one does once it runs full it does as the first one does, a round before and so much earlier.
// Before they end both are the same: so within each of them rounds follow one another at that distance, and as all that the
// next one waits for is in them, it does so too. A host, which waits for nobody, may get ahead of its GPU further and further.
bool is_later_by(const Sample& few, const Sample& more, Seconds later) {
  const double since = full_at(few) + kFirstOnes * later.value;
  if (!goes_forward_after(few, since)) return false;
  const auto a = lines(few.graph()), b = lines(more.graph());
  const Timeline &x = few.iteration.times.last, &y = more.iteration.times.last;
  const double rounding = kLinear * y.end.value;
  const auto devices = static_cast<std::size_t>(few.graph().device_count());
  for (std::size_t line = 0; line < a.size(); ++line) {
    if (b[line].size() < a[line].size()) return false;
    const std::size_t round = b[line].size() - a[line].size();
    const bool is_host = line >= devices && line < 2 * devices;
    const auto later_by = [&](double then, double now) {
      const double beyond = now - then - later.value;
      return beyond <= rounding && (is_host || beyond >= -rounding);
    };
    for (std::size_t i = 0; i < a[line].size(); ++i) {
      const TaskId then = a[line][i], now = b[line][i + round];
      if (x.start[then] < since) continue;
      if (!later_by(x.start[then], y.start[now]) || !later_by(x.finish[then], y.finish[now])) return false;
    }
  }
  return true;
}

// All times of an iteration, to be counted on.
std::vector<Seconds*> times_of(Iteration& iteration) {
  Breakdown& p = iteration.parts;
  std::vector<Seconds*> out = {&p.compute,  &p.exposed_communication, &p.pipeline_bubble, &p.optimizer,
                               &p.overhead, &iteration.times.last.end};
  for (Seconds& time : iteration.times.times) out.push_back(&time);
  return out;
}

bool has_windows(const TaskGraph& graph) {
  return std::any_of(graph.connections().begin(), graph.connections().end(),
                     [](const Connection& connection) { return connection.route.windowed; });
}

// `rounds` more of what the last two samples differ by; nullopt where that is not what further ones would. Of iterations before
// the last one, whose windows still grow, a third sample says whether they differ by the same.
std::optional<Iteration> counted_on(std::vector<Sample>& samples, double rounds, const LowerRequest& request) {
  Sample &few = samples[samples.size() - 2], &more = samples.back();
  for (const Sample& one : samples) {
    const IterationTimes &times = one.iteration.times, &others = more.iteration.times;
    if (one.graph().connections().size() != more.graph().connections().size() || !times.repeats ||
        times.times.size() != others.times.size() || times.cycle_start != others.cycle_start)
      return std::nullopt;
  }
  if (!uses_all_windows(few.graph(), more.graph())) return std::nullopt;
  const Seconds later = more.iteration.times.last.end - few.iteration.times.last.end;
  if (!is_later_by(few, more, later)) return std::nullopt;
  // The parts are of the device that computes longest when all are counted.
  std::vector<double> computing = more.computing;
  for (std::size_t i = 0; i < computing.size(); ++i) computing[i] += (computing[i] - few.computing[i]) * rounds;
  const int device = slowest_device(computing);
  for (Sample& one : samples)
    one.iteration.parts = break_down(one.graph(), one.iteration.times.last, request.plan.stages.size() > 1, device);
  const auto b = times_of(few.iteration), c = times_of(more.iteration);
  const double rounding = kLinear * more.iteration.times.last.end.value;
  for (std::size_t i = 0; i < c.size() && samples.size() > 2; ++i) {
    const double before = times_of(samples.front().iteration)[i]->value;
    if (std::abs((c[i]->value - b[i]->value) - (b[i]->value - before)) > rounding) return std::nullopt;
  }
  for (std::size_t i = 0; i < c.size(); ++i) *c[i] += (*c[i] - *b[i]) * rounds;
  Iteration& out = more.iteration;
  if (out.basis) {
    TimeBasis each = *out.basis;
    each += *few.iteration.basis * -1;
    *out.basis += each * rounds;
  }
  return std::move(out);
}

}  // namespace

std::optional<Iteration> simulate_repeating(const LowerRequest& request) {
  const int all = request.plan.micro_batches, round = micro_batch_round(request.plan);
  // As many as are in a pipeline at a time, while it runs full and again while it empties.
  const int depth = static_cast<int>(request.plan.stages.size()) + 1;
  const int least = 2 * depth + kFirstOnes;
  for (int few = (least + round - 1) / round * round; kWorthIt * 2 * (few + round) <= all; few *= 3) {
    std::vector<Sample> samples;
    do {
      auto one = sample(request, few + static_cast<int>(samples.size()) * round);
      if (!one) return std::nullopt;
      samples.push_back(std::move(*one));
    } while (samples.size() < (has_windows(samples.front().graph()) ? 3 : 2));
    const double rounds = static_cast<double>(all - few) / round - static_cast<double>(samples.size() - 1);
    if (auto known = counted_on(samples, rounds, request)) return known;
  }
  return std::nullopt;
}

}  // namespace slmsim
