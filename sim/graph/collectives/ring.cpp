#include "sim/graph/collectives/ring.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace slmsim {

int step_count(Collective collective, int ranks) {
  return collective == Collective::kAllReduce ? 2 * (ranks - 1) : ranks - 1;
}

double loop_count(int ranks, Bytes size, const RingRules& rules) {
  return std::max(1.0, std::ceil(size / (rules.chunk * (static_cast<double>(rules.channels) * ranks))));
}

double transfer_count(Collective collective, int ranks, Bytes size, const RingRules& rules) {
  return static_cast<double>(ranks) * step_count(collective, ranks) * loop_count(ranks, size, rules);
}

Bytes sent_per_rank(Collective collective, int ranks, Bytes size) {
  return size * (static_cast<double>(step_count(collective, ranks)) / ranks);
}

Ring::Ring(TaskGraph& graph, const Network& network, std::vector<int> devices, RingRules rules)
    : graph_(graph), devices_(std::move(devices)), rules_(std::move(rules)) {
  if (devices_.size() < 2) return;
  for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
    const int from = devices_[rank], to = devices_[(rank + 1) % devices_.size()];
    const int sockets = rules_.sockets.empty() ? rules_.sockets_per_channel : rules_.sockets[rank];
    next_.push_back(graph_.add_connection({from, to, rules_.channels * sockets, network.route(from, to)}));
  }
}

std::vector<TaskId> Ring::run(Collective collective, Bytes size, std::uint32_t label, std::span<const TaskId> ready) {
  assert(ready.size() == devices_.size());
  if (devices_.size() < 2) return {ready.begin(), ready.end()};
  const int steps = step_count(collective, static_cast<int>(devices_.size()));
  return rules_.detail == Detail::kSteps ? run_steps(steps, size, label, ready)
                                         : run_aggregated(steps, size, label, ready);
}

std::vector<TaskId> Ring::run(Collective collective, Bytes size, Bytes chunk, std::uint32_t label,
                              std::span<const TaskId> ready) {
  const Bytes usual = std::exchange(rules_.chunk, chunk);
  auto done = run(collective, size, label, ready);
  rules_.chunk = usual;
  return done;
}

std::vector<TaskId> Ring::run_steps(int steps, Bytes size, std::uint32_t label, std::span<const TaskId> ready) {
  const std::size_t n = devices_.size();
  const Bytes loop_size = rules_.chunk * (static_cast<double>(rules_.channels) * static_cast<double>(n));
  std::vector<TaskId> received(ready.begin(), ready.end());
  std::vector<TaskId> sent(n);
  const auto count = static_cast<std::int64_t>(loop_count(static_cast<int>(n), size, rules_));
  for (std::int64_t loop = 0; loop < count; ++loop) {
    const Bytes left = size - loop_size * static_cast<double>(loop);
    const Bytes piece = std::min(left, loop_size) / static_cast<double>(n);
    for (int step = 0; step < steps; ++step) {
      for (std::size_t rank = 0; rank < n; ++rank) {
        // What arrives before it went through this rank does not say that the rank itself is ready.
        const bool early = step < static_cast<int>(n) && (loop == 0 || steps < static_cast<int>(n));
        const std::array after = {received[rank], early ? ready[rank] : kNoTask};
        sent[rank] = graph_.transfer(next_[rank], piece, label, after);
      }
      for (std::size_t rank = 0; rank < n; ++rank) received[rank] = sent[previous(rank)];
    }
  }
  // In n-1 steps a rank receives what started at its other neighbour: that alone does not say it was ready
  // itself.
  if (steps < static_cast<int>(n)) {
    for (std::size_t rank = 0; rank < n; ++rank)
      received[rank] = graph_.delay({0}, label, std::array{received[rank], ready[rank]});
  }
  return received;
}

std::vector<TaskId> Ring::run_aggregated(int steps, Bytes size, std::uint32_t label, std::span<const TaskId> ready) {
  const std::size_t n = devices_.size();
  const Bytes volume = size * (static_cast<double>(steps) / static_cast<double>(n));
  std::vector<TaskId> sent(n);
  Seconds around{0}, longest{0};
  for (std::size_t rank = 0; rank < n; ++rank) {
    const Seconds latency = graph_.connections()[static_cast<std::size_t>(next_[rank])].route.latency;
    around += latency;
    longest = std::max(longest, latency);
    sent[rank] = graph_.transfer(next_[rank], volume, label, std::array{ready[rank]});
  }
  // Each of `loops` chains has `steps` hops of the ring's mean latency; the transfers above paid one hop.
  const Seconds chains = around * (loop_count(static_cast<int>(n), size, rules_) * steps / static_cast<double>(n));
  const TaskId done = graph_.delay(std::max(Seconds{0}, chains - longest), label, sent);
  return std::vector<TaskId>(n, done);
}

}  // namespace slmsim
