#include "sim/collective/peers.h"

#include <algorithm>
#include <array>

#include "sim/collective/communicator.h"
#include "sim/collective/nccl_rules.h"

namespace slmsim {

int Peers::connection(int from, int to) {
  const auto [at, is_new] = connections_.try_emplace({from, to}, 0);
  if (is_new) at->second = connect_pair(graph_, network_, nccl_, from, to);
  return at->second;
}

TaskId Peers::send(int from, int to, Bytes size, TagId tag, TaskId ready) {
  return graph_.transfer(connection(from, to), size, tag, std::array{ready});
}

Peers::SendEnd Peers::pass(int from, int to, Bytes size, TagId tag, TaskId ready, TaskId posted) {
  const int line = connection(from, to);
  const Bytes buffer = nccl_message_buffer(nccl_.settings);
  TaskId& waits = posted_.try_emplace({from, to}, kNoTask).first->second;
  // Bytes up to `early` may leave before the receive is posted; the sender continues when those up to `sent` have left.
  const Bytes early = posted == kNoTask ? size : std::min(size, buffer), sent = std::max(Bytes{0}, size - buffer);
  SendEnd out;
  TaskId last = kNoTask;
  // A send does not overtake the pair's previous one.
  const TaskId turn = waits;
  waits = early < size ? posted : kNoTask;
  for (Bytes at{0}; at < size || last == kNoTask;) {
    const bool free = at < early || posted == kNoTask;
    Bytes end = free ? early : size;
    if (at < sent) end = std::min(end, sent);
    last = graph_.transfer(line, end - at, tag, std::array{ready, turn, free ? kNoTask : posted});
    if (end == sent && sent > Bytes{0}) out.sent = last;
    at = end;
  }
  const bool waited = posted == kNoTask || early < size;
  out.received = waited ? last : graph_.delay({0}, tag, std::array{last, posted});
  return out;
}

std::vector<TaskId> Peers::all_to_all(std::span<const int> devices, Bytes size, TagId tag,
                                      std::span<const TaskId> ready) {
  const std::size_t count = devices.size();
  const Bytes piece = size / static_cast<double>(count * count);
  std::vector<std::vector<TaskId>> received(count);
  for (std::size_t to = 0; to < count; ++to) received[to].push_back(ready[to]);
  for (std::size_t distance = 1; distance < count; ++distance) {
    for (std::size_t from = 0; from < count; ++from) {
      const std::size_t to = (from + distance) % count;
      received[to].push_back(
          graph_.transfer(connection(devices[from], devices[to]), piece, tag, std::array{ready[from]}));
    }
  }
  std::vector<TaskId> done;
  done.reserve(received.size());
  for (const auto& parts : received) done.push_back(graph_.delay({0}, tag, parts));
  return done;
}

std::vector<TaskId> all_reduce_by_shares(Peers& peers, std::span<const int> devices, Bytes size, TagId tag,
                                         std::span<const TaskId> ready,
                                         const std::function<TaskId(std::size_t rank, TaskId received)>& sum) {
  // The total is one buffer per rank; in either phase each rank sends a share of its own to each other.
  const Bytes all = size * static_cast<double>(devices.size());
  std::vector<TaskId> summed = peers.all_to_all(devices, all, tag, ready);
  for (std::size_t rank = 0; rank < summed.size(); ++rank) summed[rank] = sum(rank, summed[rank]);
  return peers.all_to_all(devices, all, tag, summed);
}

}  // namespace slmsim
