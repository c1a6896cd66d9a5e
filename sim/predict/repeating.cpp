#include "sim/predict/repeating.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/engine/capacity.h"
#include "sim/predict/alike.h"

namespace slmsim {

std::optional<std::size_t> FewBatches::line_of(TaskId id) const {
  const Task& task = graph().tasks()[id];
  // Tasks that hold multiprocessors take no time, and begin with tasks of other lines.
  if (task.place < 0 || task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) return std::nullopt;
  const std::size_t kind = task.kind == TaskKind::kCompute ? 0 : task.kind == TaskKind::kDelay ? 1 : 2;
  return kind * devices() + static_cast<std::size_t>(task.place);
}

FewBatches sample(const LowerRequest& request, int micro_batches) {
  LowerRequest few = request;
  few.only_micro_batches = micro_batches;
  FewBatches out{lower_alike(few), {}};
  const TaskGraph& graph = out.graph();
  out.lines.resize(2 * out.devices() + graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (const auto line = out.line_of(id)) out.lines[*line].push_back(id);
  }
  return out;
}

int in_whole_rounds(int micro_batches, const Plan& plan) {
  const int round = micro_batch_round(plan);
  return (micro_batches + round - 1) / round * round;
}

namespace {

constexpr double kWorthIt = 1.5;  // ratio of all micro-batches to the simulated ones
constexpr double kLinear = 1e-9;  // relative; the engine's clock is a double

struct IterationSample : FewBatches {
  Iteration iteration;  // without its `parts`
};

// Whether both use the same connections, and each connection with a window is used by a further round. `limits`: capacities of
// the connections.
bool uses_all_windows(const FewBatches& few, const FewBatches& more, const std::vector<Capacity>& limits) {
  const auto a = few.connections(), b = more.connections();
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (limits[i].windowed && a[i].size() == b[i].size()) return false;
  }
  return true;
}

// Start of the last device's first backward pass, when the pipeline is full, and start of the first device's last forward pass.
struct Passes {
  double full = 0, last_forward = INFINITY;
};
Passes passes_of(const IterationSample& one) {
  const std::vector<double>& start = one.iteration.times.last.start;
  const auto is_of = [&](Pass pass) {
    return [&, pass](TaskId id) { return one.graph().tag_of(one.graph().tasks()[id]).pass == pass; };
  };
  Passes out;
  for (const auto& stream : one.streams()) {
    const auto backward = std::find_if(stream.begin(), stream.end(), is_of(Pass::kBackward));
    if (backward != stream.end()) out.full = std::max(out.full, start[*backward]);
    const auto forward = std::find_if(stream.rbegin(), stream.rend(), is_of(Pass::kForward));
    if (forward != stream.rend()) out.last_forward = std::min(out.last_forward, start[*forward]);
  }
  return out;
}

// Whether the second sample, once it runs full, repeats the first one a round later and `later` seconds later. Up to their ends
// both are the same, so within each of them rounds follow one another at that distance; everything that the next round waits
// for is inside them, so it follows at that distance too. A host waits for nobody and may get ahead of its GPU further and
// further: `host_leads`.
bool is_later_by(const IterationSample& few, const IterationSample& more, Seconds later, bool& host_leads) {
  const Passes passes = passes_of(few);
  const double since = passes.full + kFirstOnes * later.value;
  // Where all forward passes come before the first backward pass (GPipe), later tasks say nothing about them.
  if (passes.last_forward < since) return false;
  const auto &a = few.lines, &b = more.lines;
  const Timeline &x = few.iteration.times.last, &y = more.iteration.times.last;
  const double rounding = kLinear * y.end.value;
  for (std::size_t line = 0; line < a.size(); ++line) {
    if (b[line].size() < a[line].size()) return false;
    const std::size_t round = b[line].size() - a[line].size();
    const bool is_host = line >= few.devices() && line < 2 * few.devices();
    const auto later_by = [&](double then, double now) {
      const double beyond = now - then - later.value;
      host_leads = host_leads || (is_host && beyond < -rounding);
      return beyond <= rounding && (is_host || beyond >= -rounding);
    };
    host_leads = host_leads || (is_host && !a[line].empty() && x.start[a[line].back()] < since);
    for (std::size_t i = 0; i < a[line].size(); ++i) {
      const TaskId then = a[line][i], now = b[line][i + round];
      if (x.start[then] < since) continue;
      if (!later_by(x.start[then], y.start[now]) || !later_by(x.finish[then], y.finish[now])) return false;
    }
  }
  return true;
}

// All times of an iteration that are extrapolated.
std::vector<Seconds*> times_of(Iteration& iteration) {
  Breakdown& p = iteration.parts;
  std::vector<Seconds*> out = {&p.compute,  &p.exposed_communication, &p.pipeline_bubble, &p.optimizer,
                               &p.overhead, &iteration.times.last.end};
  for (Seconds& time : iteration.times.times) out.push_back(&time);
  return out;
}

// Adds `rounds` times the difference of the last two samples; nullopt where further rounds would add something else. For
// iterations before the last one, whose windows still grow, a third sample shows whether they differ by the same amount.
std::optional<Iteration> counted_on(std::vector<IterationSample>& samples, double rounds, const LowerRequest& request) {
  IterationSample &few = samples[samples.size() - 2], &more = samples.back();
  for (const IterationSample& one : samples) {
    const IterationTimes &times = one.iteration.times, &others = more.iteration.times;
    if (!times.repeats || times.times.size() != others.times.size() || times.cycle_start != others.cycle_start)
      return std::nullopt;
  }
  const Seconds later = more.iteration.times.last.end - few.iteration.times.last.end;
  bool host_leads = false;
  if (!is_later_by(few, more, later, host_leads)) return std::nullopt;
  // The parts are those of the device that computes longest with all micro-batches.
  const std::vector<double> before_last = computing_times(few.graph());
  std::vector<double> computing = computing_times(more.graph());
  for (std::size_t i = 0; i < computing.size(); ++i) computing[i] += (computing[i] - before_last[i]) * rounds;
  const int device = slowest_device(computing);
  for (IterationSample& one : samples)
    one.iteration.parts = break_down(one.graph(), one.iteration.times.last, request.plan.stages.size() > 1, device);
  const auto b = times_of(few.iteration), c = times_of(more.iteration);
  const double rounding = kLinear * more.iteration.times.last.end.value;
  for (std::size_t i = 0; i < c.size() && samples.size() > 2; ++i) {
    const double before = times_of(samples.front().iteration)[i]->value;
    if (std::abs((c[i]->value - b[i]->value) - (b[i]->value - before)) > rounding) return std::nullopt;
  }
  // In earlier iterations windows have grown to those of the steady one once a round takes as long as there.
  const auto &first = few.iteration.times.times, &second = more.iteration.times.times;
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (std::abs((second[i] - first[i] - later).value) > rounding) return std::nullopt;
  }
  // What a GPU waits for changes as a host gets ahead of it.
  if (host_leads && (more.iteration.parts.overhead - few.iteration.parts.overhead).value > rounding) return std::nullopt;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const Seconds counted = *c[i] + (*c[i] - *b[i]) * rounds;
    // As a host gets ahead of its GPU, the GPU's waiting shrinks to nothing; that does not continue.
    if (counted.value < -rounding) return std::nullopt;
    *c[i] = std::max(Seconds{0}, counted);  // rounding may extrapolate a part of zero to less
  }
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
  // The micro-batches in a pipeline at a time, the first ones once it runs full, and the same number to compare.
  const int least = in_whole_rounds(static_cast<int>(request.plan.stages.size()) + 1 + 2 * kFirstOnes, request.plan);
  for (int few = least; kWorthIt * 2 * (few + round) <= all; few *= 3) {
    std::vector<IterationSample> samples;
    for (const int more : {0, round}) samples.push_back({sample(request, few + more), {}});
    const TaskGraph& graph = samples.front().graph();
    const auto limits = capacities(graph);
    if (loses_segments(graph) || !uses_all_windows(samples[0], samples[1], limits)) return std::nullopt;
    if (has_windows(limits)) samples.push_back({sample(request, few + 2 * round), {}});
    for (IterationSample& one : samples) {
      one.iteration.times = simulate_iterations(one.graph());
      one.iteration.basis = one.lowered.basis;
    }
    const double rounds = static_cast<double>(all - few) / round - static_cast<double>(samples.size() - 1);
    if (auto known = counted_on(samples, rounds, request)) return known;
  }
  return std::nullopt;
}

}  // namespace slmsim
