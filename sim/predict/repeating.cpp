#include "sim/predict/repeating.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/engine/capacity.h"
#include "sim/predict/alike.h"
#include "sim/predict/passages.h"

namespace slmsim {

std::optional<std::size_t> FewBatches::line_of(TaskId id) const {
  const Task& task = graph().tasks()[id];
  // Tasks that hold multiprocessors take no time, and begin with tasks of other lines.
  if (task.place < 0 || task.kind == TaskKind::kHold || task.kind == TaskKind::kRelease) return std::nullopt;
  const std::size_t kind = task.kind == TaskKind::kCompute ? 0 : task.kind == TaskKind::kDelay ? 1 : 2;
  return kind * devices() + static_cast<std::size_t>(task.place);
}

FewBatches sample(const LowerRequest& request, int micro_batches, Colouring& alike) {
  LowerRequest few = request;
  few.only_micro_batches = micro_batches;
  FewBatches out{lower_alike(few, alike), {}};
  const TaskGraph& graph = out.graph();
  out.lines.resize(2 * out.devices() + graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    if (const auto line = out.line_of(id)) out.lines[*line].push_back(id);
  }
  return out;
}

namespace {

constexpr double kWorthIt = 1.5;     // ratio of all micro-batches to the simulated ones, and of their tasks
constexpr double kLinear = 1e-9;     // relative; the engine's clock is a double
constexpr double kSameBytes = 1e-9;  // relative
// Where connections lose segments: the losses that end slow start and lead to the mean, those from which the mean is taken, and
// the least number of rounds of each.
constexpr double kFirstLosses = 17, kCountedLosses = 32;
constexpr int kLeastRounds = 4;

struct IterationSample : FewBatches {
  Iteration iteration;  // without its `parts`
};

// The tasks of that many times as many micro-batches: those of passes are of one micro-batch each, others of the iteration.
double tasks_of(const TaskGraph& graph, double times) {
  const auto repeated = static_cast<double>(
      std::ranges::count_if(graph.tasks(), [&](const Task& task) { return graph.tag_of(task).pass != Pass::kNone; }));
  return static_cast<double>(graph.tasks().size()) + repeated * (times - 1);
}

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

// Whether the second sample, once it runs full (from `since` on), repeats the first one a round and `later` seconds later. Up to
// their ends
// both are the same, so within each of them rounds follow one another at that distance; everything that the next round waits
// for is inside them, so it follows at that distance too. A host waits for nobody and may get ahead of its GPU further and
// further: `host_leads`.
bool is_later_by(const IterationSample& few, const IterationSample& more, Seconds later, double& since,
                 bool& host_leads) {
  const Passes passes = passes_of(few);
  since = passes.full + kFirstOnes * later.value;
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

// Bytes of each connection.
std::vector<double> bytes_of(const TaskGraph& graph) {
  std::vector<double> bytes(graph.connections().size());
  for (const Task& task : graph.tasks()) {
    if (task.kind == TaskKind::kTransfer) bytes[task.place] += task.amount * task.times;
  }
  each_inner_transfer(
      graph, [&](const Passage&, const Inside::Transfer& one, int connection) { bytes[connection] += one.bytes; });
  return bytes;
}

// Whether the flows of what takes place again carry what a round adds.
bool carries_a_round(const IterationSample& few, const IterationSample& more, const Repetition& again) {
  const std::vector<double> before = bytes_of(few.graph()), after = bytes_of(more.graph());
  std::vector<double> carried(after.size());
  const Repetition once{again.from, again.length, 1};
  for (const Flow& flow : more.iteration.times.last.flows)
    carried[flow.connection] += bytes_of(flow, once) - flow.bytes;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (std::abs(carried[i] - (after[i] - before[i])) > kSameBytes * after[i]) return false;
  }
  return true;
}

// The connections' bytes as flows: what a window repeats of them is right but for its ends, so all are scaled to `bytes`.
void carry(Timeline& timeline, const std::vector<double>& bytes, const Repetition& again) {
  std::vector<double> carried(bytes.size());
  for (const Flow& flow : timeline.flows) carried[flow.connection] += bytes_of(flow, again);
  for (Flow& flow : timeline.flows) flow.bytes *= bytes[flow.connection] / carried[flow.connection];
}

// Whether the plan's connections may lose segments, as those over wide-area links do.
bool may_lose_segments(const LowerRequest& request) {
  const Platform& platform = request.scenario.platform;
  return spans_sites(platform, devices_of(request.plan)) &&
         std::ranges::any_of(platform.links,
                             [](const WanLink& link) { return link.forward.loss > 0 || link.backward.loss > 0; });
}

// Losses of a round on the connection that meets the fewest, of those that lose segments in it; infinite where none do. Others,
// as that of tied embeddings' gradients, carry the same whatever the number of rounds.
double least_losses_of_a_round(const TaskGraph& few, const TaskGraph& one_more) {
  const std::vector<double> before = losses_of_connections(few), after = losses_of_connections(one_more);
  double least = INFINITY;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] > before[i]) least = std::min(least, after[i] - before[i]);
  }
  return least;
}

// Where a device's further rounds begin, from the middle of what `few` has on.
std::vector<double> begins_of_rounds(const FewBatches& few, const IterationSample& more, int device, int rounds) {
  const auto line = static_cast<std::size_t>(device);
  const std::vector<TaskId>& stream = more.lines[line];
  const std::size_t first = few.lines[line].size() / 2,
                    tasks = (stream.size() - few.lines[line].size()) / static_cast<std::size_t>(rounds);
  std::vector<double> out;
  for (int i = 0; i <= rounds; ++i)
    out.push_back(more.iteration.times.last.start[stream[first + tasks * static_cast<std::size_t>(i)]]);
  return out;
}

// An iteration whose connections meet losses in every round. The first rounds end slow start and meet the losses that lead to
// the mean; further ones show what a round takes from then on, and in later iterations.
std::optional<Iteration> at_mean_rate(const LowerRequest& request, Colouring& alike, bool links, std::set<int>* apart) {
  const int all = request.plan.micro_batches, round = micro_batch_round(request.plan);
  const int count = in_whole_rounds(static_cast<int>(request.plan.stages.size()) + 1, request.plan);
  if (count + 2 * kLeastRounds * round > all) return std::nullopt;
  const FewBatches few = sample(request, count, alike);
  const double losses = least_losses_of_a_round(few.graph(), sample(request, count + round, alike).graph());
  const auto rounds_of = [&](double wanted) { return std::max<double>(kLeastRounds, std::floor(wanted / losses) + 1); };
  const double first = rounds_of(kFirstLosses), counted = rounds_of(kCountedLosses), added = first + counted;
  if (std::isinf(losses) || count + added * round > all) return std::nullopt;
  const int simulated = count + static_cast<int>(added) * round;
  IterationSample more{sample(request, simulated, alike), {}};
  Iteration& out = more.iteration;
  out.times.before_last.resize(more.graph().connections().size());
  Timeline& last = out.times.last = simulate(more.graph(), out.times.before_last, {.record_flows = links});
  if (std::set<int> gpus = out_of_step(more.graph(), last); !gpus.empty()) {
    if (apart != nullptr) apart->merge(gpus);
    return std::nullopt;
  }
  const int device = slowest_device(computing_times(more.graph()));
  const std::vector<double> begins = begins_of_rounds(few, more, device, static_cast<int>(added));
  const std::span later = std::span(begins).last(static_cast<std::size_t>(counted) + 1);
  const double left = static_cast<double>(all - simulated) / round;
  const Repetition again{later.front(), later.back() - later.front(), left / counted};
  std::vector<Seconds> lengths;  // one per counted round
  for (std::size_t i = 1; i < later.size(); ++i) lengths.push_back(Seconds{later[i] - later[i - 1]});
  out.times.spread = std::max(error_of_mean(lengths), 1 / std::sqrt(losses * static_cast<double>(all) / round));
  out.parts = break_down(more.graph(), last, request.plan.stages.size() > 1, device, again);
  if (links) {
    add_inner_flows(more.graph(), last);
    const std::vector<double> before = bytes_of(few.graph());
    std::vector<double> bytes = bytes_of(more.graph());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += (bytes[i] - before[i]) * left / added;
    carry(last, bytes, again);
    out.traffic = traffic_use(more.graph(), last, false, again);
  }
  last.end += Seconds{again.more()};
  const double as_later = again.length / counted * first;  // time of as many rounds in later iterations
  out.times.times = {last.end, last.end - Seconds{later.front() - begins.front() - as_later}};
  out.times.cycle_start = 1;
  if (out.basis = more.lowered.basis; out.basis) {
    TimeBasis each = *out.basis;
    each += *few.lowered.basis * -1;
    *out.basis += each * (left / added);
  }
  return std::move(out);
}

// Adds `rounds` times the difference of the last two samples; nullopt where further rounds would add something else. For
// iterations before the last one, whose windows still grow, a third sample shows whether they differ by the same amount.
std::optional<Iteration> counted_on(std::vector<IterationSample>& samples, double rounds, const LowerRequest& request,
                                    bool links) {
  IterationSample &few = samples[samples.size() - 2], &more = samples.back();
  for (const IterationSample& one : samples) {
    const IterationTimes &times = one.iteration.times, &others = more.iteration.times;
    if (!times.repeats || times.times.size() != others.times.size() || times.cycle_start != others.cycle_start)
      return std::nullopt;
  }
  const Timeline &a = few.iteration.times.last, &b = more.iteration.times.last;
  const Seconds later = b.end - a.end;
  const double rounding = kLinear * b.end.value;
  bool host_leads = false;
  Repetition again{0, later.value, rounds};
  if (!is_later_by(few, more, later, again.from, host_leads)) return std::nullopt;
  if (links && !carries_a_round(few, more, again)) return std::nullopt;
  // Iterations before the steady one repeat too, and their windows have grown to those of the steady one once a round takes as
  // long as there.
  for (std::size_t i = 0; i < more.iteration.times.times.size(); ++i) {
    const auto time = [&](std::size_t sample) { return samples[sample].iteration.times.times[i]; };
    for (std::size_t sample = 1; sample < samples.size(); ++sample) {
      if (std::abs((time(sample) - time(sample - 1) - later).value) > rounding) return std::nullopt;
    }
  }
  // The parts are those of the device that computes longest with all micro-batches.
  const std::vector<double> before_last = computing_times(few.graph());
  std::vector<double> computing = computing_times(more.graph());
  for (std::size_t i = 0; i < computing.size(); ++i) computing[i] += (computing[i] - before_last[i]) * rounds;
  const int device = slowest_device(computing);
  std::optional<double> launched;
  if (const auto then = launching_time(few.graph(), a, device), now = launching_time(more.graph(), b, device);
      host_leads && then && now) {
    const double took = now->second - now->first;
    launched = took + (took - (then->second - then->first)) * rounds;
  } else if (host_leads && (then || now)) {
    return std::nullopt;
  }
  Iteration& out = more.iteration;
  out.parts = break_down(more.graph(), b, request.plan.stages.size() > 1, device, again, launched);
  if (links) {
    out.traffic = traffic_use(more.graph(), b, false, again);
  }
  for (Seconds& time : out.times.times) time += later * rounds;
  out.times.last.end += later * rounds;
  if (out.basis) {
    TimeBasis each = *out.basis;
    each += *few.iteration.basis * -1;
    *out.basis += each * rounds;
  }
  return std::move(out);
}

}  // namespace

std::optional<Iteration> simulate_repeating(const LowerRequest& request, Colouring& alike, bool links,
                                            std::set<int>* apart) {
  if (request.plan.workload.steps > 1) return std::nullopt;  // a micro-batch more is one more in each step
  const int all = request.plan.micro_batches, round = micro_batch_round(request.plan);
  if (may_lose_segments(request)) {
    if (auto mean = at_mean_rate(request, alike, links, apart)) return mean;
  }
  // The micro-batches in a pipeline at a time, the first ones once it runs full, and the same number to compare.
  const int least = in_whole_rounds(static_cast<int>(request.plan.stages.size()) + 1 + 2 * kFirstOnes, request.plan);
  for (int few = least; kWorthIt * 2 * (few + round) <= all; few *= 3) {
    std::vector<IterationSample> samples;
    samples.push_back({sample(request, few, alike), {}});
    if (loses_segments(samples.front().graph())) return std::nullopt;
    if (tasks_of(samples.front().graph(), static_cast<double>(all) / few) <
        kWorthIt * 2 * static_cast<double>(samples.front().graph().tasks().size()))
      return std::nullopt;
    samples.push_back({sample(request, few + round, alike), {}});
    const TaskGraph& graph = samples.front().graph();
    // A further round adds no task, only time: the whole iteration is no larger.
    if (graph.tasks().size() == samples.back().graph().tasks().size()) return std::nullopt;
    const auto limits = capacities(graph);
    if (!uses_all_windows(samples[0], samples[1], limits)) return std::nullopt;
    if (has_windows(limits)) samples.push_back({sample(request, few + 2 * round, alike), {}});
    for (IterationSample& one : samples) {
      Timeline& last =
          (one.iteration.times = simulate_iterations(one.graph(), {.record_flows = links && &one == &samples.back()}))
              .last;
      if (std::set<int> gpus = out_of_step(one.graph(), last); !gpus.empty()) {
        if (apart != nullptr) apart->merge(gpus);
        return std::nullopt;
      }
      if (links && &one == &samples.back()) add_inner_flows(one.graph(), last);
      one.iteration.basis = one.lowered.basis;
    }
    const double rounds = static_cast<double>(all - few) / round - static_cast<double>(samples.size() - 1);
    if (auto known = counted_on(samples, rounds, request, links)) return known;
  }
  return std::nullopt;
}

}  // namespace slmsim
