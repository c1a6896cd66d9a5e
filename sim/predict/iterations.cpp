#include "sim/predict/iterations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "sim/engine/capacity.h"
#include "sim/engine/contraction.h"
#include "sim/engine/loss_distance.h"
#include "sim/engine/loss_rate.h"
#include "sim/engine/pending.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostIterations = 12;    // windows are mostly steady by then; the last ones stand for the rest
constexpr std::size_t kMostWhileGrowing = 36;  // without losses, where windows still grow
constexpr std::size_t kLastOnes = 6;
constexpr int kEnoughLosses = 24;                               // per connection; the mean then has an error of 2 %
constexpr int kLossesOfFall = 8;                                // leave 0.7^8 of CUBIC's window, a seventeenth
constexpr std::size_t kMostWithLosses = 240, kMostUnlike = 40;  // iterations; those unlike the one before
constexpr std::size_t kFewTasks = 1000;      // so small an iteration may be simulated as often as a contraction
constexpr double kLeastShareOfLosses = 0.1;  // relative to the connection that loses most; others are not waited for
constexpr double kSettled =
    0.005;                      // relative: least reported error, and change of the mean below which times are steady
constexpr double kSame = 1e-9;  // relative; the engine's clock is a double
// Relative. A difference in the last digit may move the end by this much where transfers share links, because it decides which
// of two comes first; about 1 of 3000 random clusters moves by more (docs/reliability.md).
constexpr double kMeeting = 0.005;

using State = std::vector<ConnectionState>;

bool near(double a, double b) { return std::abs(a - b) <= kSame * std::max({1.0, std::abs(a), std::abs(b)}); }

// Before the first loss, age alone makes no difference to windows that came back in spite of it.
bool same(const TcpState& a, const TcpState& b) {
  const auto numbers = [](const TcpState& s) {
    const double age = s.before_loss > 0 ? s.age : 0;
    return std::array{s.window, s.threshold, s.since_loss,    s.recovers, s.before_loss, s.reno,     s.origin,
                      age,      s.used,      s.left_of_round, s.wait,     s.deviation,   s.variation};
  };
  const auto x = numbers(a), y = numbers(b);
  return a.limited == b.limited && a.losses == b.losses &&
         std::equal(x.begin(), x.end(), y.begin(), [](double p, double q) {
           return p == q || near(p, q);  // the threshold may be infinite
         });
}

bool same(const PendingAck& a, const PendingAck& b) { return near(a.due.value, b.due.value) && near(a.bytes, b.bytes); }

bool same(const ConnectionState& a, const ConnectionState& b) {
  const auto& x = a.on_the_way;
  const auto& y = b.on_the_way;
  return same(a.tcp, b.tcp) && near(a.idle.value, b.idle.value) &&
         std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) { return same(p, q); });
}

bool same(const State& a, const State& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return same(x, y); });
}

// Connections whose losses end the simulation: those that lose a segment within the largest number of iterations, and not much
// less than another connection.
std::vector<std::size_t> losing_connections(const std::vector<double>& losses) {
  const double most = losses.empty() ? 0 : *std::ranges::max_element(losses);
  const double least = std::max(1.0 / static_cast<double>(kMostWithLosses), kLeastShareOfLosses * most);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses[i] >= least) out.push_back(i);
  }
  return out;
}

// Whether an iteration is so long that its cold start hardly counts: slow start takes some ten round trips, and first losses
// shrink windows to their mean.
bool outlasts_its_start(Seconds iteration, const TaskGraph& graph, const std::vector<double>& losses,
                        const std::vector<std::size_t>& losing) {
  constexpr double kRoundTrips = 1000, kLosses = 30;
  double longest = 0;
  for (const auto& connection : graph.connections()) longest = std::max(longest, connection.route.window.rtt.value);
  return iteration.value > kRoundTrips * longest &&
         std::all_of(losing.begin(), losing.end(), [&](std::size_t i) { return losses[i] >= kLosses; });
}

bool met_enough(const State& begin, const State& end, const std::vector<std::size_t>& losing) {
  return std::ranges::all_of(losing,
                             [&](std::size_t i) { return end[i].tcp.losses - begin[i].tcp.losses >= kEnoughLosses; });
}

// Whether each of these connections loses at a usual window before that iteration. Slow start leads far above the window that
// losses sustain: while windows fall, iterations take longer and longer, even where two or three agree by chance. A loss at a
// larger window than one before ends the fall, as do many losses.
bool lose_as_usual(const std::vector<State>& states, std::size_t at, const std::vector<std::size_t>& losing) {
  const auto before = states.begin() + static_cast<std::ptrdiff_t>(at);
  return std::ranges::all_of(losing, [&](std::size_t i) {
    const TcpState& now = states[at][i].tcp;
    return now.losses >= kLossesOfFall || std::any_of(states.begin(), before, [&](const State& s) {
             return s[i].tcp.before_loss > 0 && s[i].tcp.before_loss < now.before_loss;
           });
  });
}

// Per connection the share of an iteration during which it is busy.
std::vector<double> busy_shares(const TaskGraph& graph, const Timeline& iteration) {
  std::vector<double> out(graph.connections().size());
  for (TaskId id = 0; id < graph.tasks().size(); ++id) {
    const Task& task = graph.tasks()[id];
    if (task.kind == TaskKind::kTransfer) out[task.place] += (iteration.finish[id] - iteration.start[id]) * task.times;
  }
  for (double& share : out) share = std::min(1.0, share / iteration.end.value);
  return out;
}

// Relative: how much longer iterations may become while windows fall to the mean that losses sustain.
double still_to_fall(const TaskGraph& graph, const State& state, const std::vector<std::size_t>& losing,
                     const std::vector<double>& busy) {
  double most = 0;
  for (const std::size_t i : losing) {
    const double longer = state[i].tcp.before_loss / mean_window(graph.connections()[i].route.window).value - 1;
    most = std::max(most, busy[i] * longer);
  }
  return most;
}

// Whether each connection that loses has met enough. Also moves the start of the stand-in iterations to where losses are usual.
bool has_settled(IterationTimes& result, const std::vector<State>& states, const std::vector<std::size_t>& losing,
                 bool meets) {
  const std::size_t done = result.times.size();
  std::size_t& start = result.cycle_start;
  while (start < done - 1 && (start == 0 || !lose_as_usual(states, start, losing))) ++start;
  return done - start >= (meets ? 3 : 2) && met_enough(states[start], states.back(), losing);
}

Seconds mean_of(std::span<const Seconds> times) {
  Seconds sum{0};
  for (const Seconds time : times) sum += time;
  return sum / static_cast<double>(times.size());
}

// Whether the last iterations differ from those before them, as while windows grow.
bool still_changes(const std::vector<Seconds>& times) {
  const auto last = std::span(times).last(2 * kLastOnes);
  return std::abs(mean_of(last.last(kLastOnes)) / mean_of(last.first(kLastOnes)) - 1) > kSettled;
}

// State after an iteration that begins with `after` and does the same as the one from `before` to `after`: the two states
// differ only in how much each connection has carried since its last loss, and the bytes of one more such iteration meet no
// loss.
std::optional<State> after_the_same(const TaskGraph& graph, const State& before, const State& after) {
  State next = after;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const double carried = after[i].tcp.since_loss - before[i].tcp.since_loss;
    ConnectionState as_before = after[i];
    as_before.tcp.since_loss = before[i].tcp.since_loss;
    if (!same(as_before, before[i]) || carried < 0) return std::nullopt;
    next[i].tcp.since_loss += carried;
    const TcpWindow& window = graph.connections()[i].route.window;
    if (carried > 0 && next[i].tcp.since_loss * (1 + kSame) >= distance_to_loss(window, next[i].tcp.losses))
      return std::nullopt;
  }
  return next;
}

// Largest relative distance of the iterations from this one on from the steady time.
double spread_from(const IterationTimes& result, std::size_t first) {
  const double mean = result.steady().value;
  double most = kSettled;
  for (std::size_t i = first; i < result.times.size(); ++i)
    most = std::max(most, std::abs(result.times[i].value - mean) / mean);
  return most;
}

double error_of_steady(const IterationTimes& result) {
  return std::max(kSettled, error_of_mean(std::span(result.times).subspan(result.cycle_start)));
}

// The iteration, of those that stand for the rest, whose time is nearest to their mean; the last of equal ones.
std::size_t most_usual(const IterationTimes& result) {
  const Seconds mean = result.steady();
  const auto off = [&](std::size_t i) { return std::abs((result.times[i] - mean).value); };
  std::size_t best = result.times.size() - 1;
  for (std::size_t i = best; i-- > result.cycle_start;) {
    if (off(i) < off(best)) best = i;
  }
  return best;
}

// Relative standard deviation of an iteration's time, from losses that are simulated by their mean rate: 1 / sqrt(n) of n losses
// at random distances on the connection with the most, times the largest share of the iteration that such a connection is busy.
double chance_of_losses(const TaskGraph& graph, const std::vector<double>& busy) {
  std::vector<double> losses(graph.connections().size());
  for (const Task& task : graph.tasks()) {
    if (task.kind != TaskKind::kTransfer) continue;
    const Connection& connection = graph.connections()[task.place];
    if (connection.route.windowed)
      losses[task.place] += losses_of(connection.route.window, task.amount / connection.sockets) * task.times;
  }
  double most = 0, longest = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    most = std::max(most, losses[i]);
    if (losses[i] > 0) longest = std::max(longest, busy[i]);
  }
  return most > 0 ? longest / std::sqrt(most) : 0;
}

// Index of the first iteration after which times stop rising (or falling) monotonically, as they do while windows settle.
std::size_t first_turn(const std::vector<Seconds>& times) {
  for (std::size_t i = 1; i + 1 < times.size(); ++i) {
    const double before = (times[i] - times[i - 1]).value, after = (times[i + 1] - times[i]).value;
    if (before * after < 0 && !near(times[i].value, times[i - 1].value)) return i;
  }
  return times.size();
}

bool transfers_meet(const TaskGraph& graph) {
  const auto limits = capacities(graph);
  return std::any_of(limits.begin(), limits.end(),
                     [](const Capacity& limit) { return !limit.contended.empty() || !limit.back.empty(); });
}

// No state came back within the largest number of iterations. Where windows still grow, the last iteration represents the rest
// best; else the mean of several, which depends less on chance.
void take_last_ones(IterationTimes& result, bool lossy) {
  const std::size_t done = result.times.size(), first = lossy ? done / 2 : done - kLastOnes;
  const bool grow = !lossy && std::is_sorted(result.times.end() - kLastOnes, result.times.end(), std::greater<>());
  result.cycle_start = grow ? done - 1 : lossy ? std::clamp(result.cycle_start, std::size_t{1}, first) : first;
  result.spread = lossy ? error_of_steady(result) : spread_from(result, first);
}

// Whether so few segments are lost that many more iterations follow the first.
bool needs_many(const std::vector<double>& losses, const std::vector<std::size_t>& losing) {
  constexpr double kMany = 8;
  return std::ranges::any_of(losing, [&](std::size_t i) { return losses[i] * kMany < kEnoughLosses; });
}

// Runs one iteration after the other.
class IterationLoop {
 public:
  IterationLoop(const TaskGraph& graph, const SimulationOptions& options) : graph_(graph), options_(options) {
    successors_.emplace(graph);
  }
  void run(const State& before) {
    SimulationOptions options = options_;
    options.record_flows = options_.record_flows && !contraction_;
    last_ = simulate(contraction_ ? *contraction_ : graph_, before, options, &*successors_, std::move(last_));
  }
  Seconds end() const { return last_.end; }
  const State& connections() const { return last_.connections; }
  // From the next iteration on, runs a contraction of the graph, if it is much smaller.
  void contract() {
    // Multiprocessors that a longer transfer holds would slow other computations than were observed.
    if (graph_.is_held()) return;
    contraction_ = contracted(graph_, last_);
    if (contraction_) successors_.emplace(*contraction_);
  }
  bool is_small() const { return contraction_ || graph_.tasks().size() <= kFewTasks; }
  // The graph's timeline of an iteration that begins with `before`; `last`: whether it is the last one that ran.
  Timeline timeline(const State& before, bool last) {
    if (contraction_) successors_.emplace(graph_);
    if (contraction_ || !last) {
      contraction_.reset();
      run(before);
    }
    return std::move(last_);
  }

 private:
  const TaskGraph& graph_;
  SimulationOptions options_;
  std::optional<TaskGraph> contraction_;  // runs in place of the graph
  std::optional<Successors> successors_;  // in the graph that runs
  Timeline last_;
};

}  // namespace

std::vector<double> losses_of_connections(const TaskGraph& graph) {
  const auto& connections = graph.connections();
  std::vector<double> bytes(connections.size());
  for (const Task& task : graph.tasks()) {
    if (task.kind == TaskKind::kTransfer) bytes[task.place] += task.amount * task.times;
  }
  std::vector<double> out(connections.size());
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const TcpWindow& window = connections[i].route.window;
    if (!connections[i].route.windowed || window.loss <= 0 || window.congestion_control == CongestionControl::kBbr)
      continue;
    out[i] = bytes[i] / connections[i].sockets / window.segment.value * window.loss;
  }
  return out;
}

bool loses_segments(const TaskGraph& graph) {
  return std::any_of(graph.connections().begin(), graph.connections().end(),
                     [](const Connection& c) { return c.route.windowed && c.route.window.loss > 0; });
}

double error_of_mean(std::span<const Seconds> times) {
  const std::size_t count = std::min(times.size(), kPartsOfMean);
  std::vector<double> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = times.size() * i / count, to = times.size() * (i + 1) / count;
    parts.push_back(mean_of(times.subspan(from, to - from)).value);
  }
  const auto n = static_cast<double>(count);
  double mean = 0, squares = 0;
  for (const double part : parts) mean += part / n;
  for (const double part : parts) squares += std::pow(part - mean, 2);
  return 2 * std::sqrt(squares / std::max(1.0, n - 1) / n) / mean;
}

Seconds IterationTimes::steady() const { return mean_of(std::span(times).subspan(cycle_start)); }

Seconds IterationTimes::total(double count) const {
  Seconds sum{0};
  for (std::size_t i = 0; i < times.size() && static_cast<double>(i) < count; ++i) sum += times[i];
  double left = count - static_cast<double>(times.size());
  if (left <= 0) return sum;
  const auto length = static_cast<double>(times.size() - cycle_start);
  sum += steady() * (length * std::floor(left / length));
  left = std::fmod(left, length);
  for (std::size_t i = 0; static_cast<double>(i) < left; ++i) sum += times[cycle_start + i];
  return sum;
}

IterationTimes simulate_iterations(const TaskGraph& graph, const SimulationOptions& options) {
  IterationTimes result;
  std::vector<State> states = {State(graph.connections().size())};  // states[i]: before iteration i
  const std::vector<double> losses = losses_of_connections(graph);
  const std::vector<std::size_t> losing = losing_connections(losses);
  const bool lossy = loses_segments(graph), meets = transfers_meet(graph);
  IterationLoop iterating(graph, options);
  std::optional<State> after;  // set where the next iteration is known
  std::size_t simulated = 0;
  bool falls = false;  // windows, still, when the simulation ends
  for (bool done = false; !done;) {
    const bool repeated = after.has_value();  // no state came back: more was carried since the last loss
    if (!repeated) {
      iterating.run(states.back());
      after = iterating.connections();
      ++simulated;
    }
    result.times.push_back(repeated ? result.times.back() : iterating.end());
    const auto seen =
        repeated ? states.end() : std::ranges::find_if(states, [&](const State& s) { return same(s, *after); });
    result.repeats = seen != states.end();
    if (result.repeats) result.cycle_start = static_cast<std::size_t>(seen - states.begin());
    states.push_back(std::move(*after));
    done = result.repeats;
    if (!done && !losing.empty() && has_settled(result, states, losing, meets)) {
      result.spread = error_of_steady(result);
      done = true;
    }
    const std::size_t count = result.times.size();
    const auto is_last = [&] {
      if (options.coarse) return true;
      if (losing.empty()) return count >= kMostWhileGrowing || !still_changes(result.times);
      return count == kMostWithLosses || (simulated == kMostUnlike && !iterating.is_small());
    };
    if (!done && count >= kMostIterations && is_last()) {
      falls = !lose_as_usual(states, result.cycle_start, losing);
      take_last_ones(result, !losing.empty());
      done = true;
    }
    done = done || (options.coarse && outlasts_its_start(result.first(), graph, losses, losing));
    if (!done && count == 1 && needs_many(losses, losing)) iterating.contract();
    if (!done) after = after_the_same(graph, states[states.size() - 2], states.back());
  }
  // A state that came back says little where iterations went up and down before: another one might have come back as well.
  if (result.repeats && meets) result.spread = std::max(kMeeting, spread_from(result, first_turn(result.times)));
  const std::size_t shown = lossy && !options.coarse ? most_usual(result) : result.times.size() - 1;
  result.before_last = std::move(states[shown]);
  result.last = iterating.timeline(result.before_last, shown + 1 == result.times.size());
  if (lossy) {
    const std::vector<double> busy = busy_shares(graph, result.last);
    const double chance = chance_of_losses(graph, busy);
    if (chance > 0) result.repeats = false;  // iterations were equal only in their mean
    result.spread =
        std::max({result.spread, chance, std::abs(result.last.end / result.times[shown] - 1), chance > 0 ? kSettled : 0,
                  falls ? still_to_fall(graph, states.back(), losing, busy) : 0});
  }
  result.last.connections = states.back();
  return result;
}

}  // namespace slmsim
