#include "sim/collective/peers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/collective/communicator.h"
#include "sim/collective/nccl_rules.h"

namespace slmsim {

Peers::Pair& Peers::pair_of(int from, int to) {
  const auto [at, is_new] = pairs_.try_emplace({from, to});
  Pair& pair = at->second;
  if (!is_new) return pair;
  const int sockets = sockets_between(nccl_, from, to);
  const Route route = network_.route(from, to);
  graph_.begin_group();
  pair.connection = graph_.add_connection({from, to, sockets, route});
  pair.early = pair.kept = nccl_message_buffer(nccl_.settings);
  const SocketBuffers buffers = network_.socket_buffers(route, sockets);
  if (pair.kept <= Bytes{0} || buffers.receiver <= Bytes{0}) return pair;
  pair.early = buffers.receiver;
  pair.kept += buffers.sender;
  pair.acknowledgement = route.latency;
  return pair;
}

int Peers::connection(int from, int to) { return pair_of(from, to).connection; }

TaskId Peers::send(int from, int to, Bytes size, TagId tag, TaskId ready) {
  return graph_.transfer(connection(from, to), size, tag, std::array{ready});
}

Peers::SendEnd Peers::pass(int from, int to, Bytes size, TagId tag, TaskId ready, TaskId posted) {
  Pair& pair = pair_of(from, to);
  // Bytes up to `early` may leave before the receive is posted; the sender continues when those up to `sent` have left.
  const Bytes early = posted == kNoTask ? size : std::min(size, pair.early),
              sent = std::max(Bytes{0}, size - pair.kept);
  SendEnd out;
  TaskId last = kNoTask;
  // A send does not overtake the pair's previous one.
  const TaskId turn = std::exchange(pair.posted, early < size ? posted : kNoTask);
  for (Bytes at{0}; at < size || last == kNoTask;) {
    const bool free = at < early || posted == kNoTask;
    Bytes end = free ? early : size;
    if (at < sent) end = std::min(end, sent);
    last = graph_.transfer(pair.connection, end - at, tag, std::array{ready, turn, free ? kNoTask : posted});
    if (end == sent && sent > Bytes{0})
      out.sent = pair.acknowledgement > Seconds{0} ? graph_.delay(pair.acknowledgement, tag, std::array{last}) : last;
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
