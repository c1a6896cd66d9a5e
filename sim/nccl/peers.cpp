#include "sim/nccl/peers.h"

#include <array>

#include "sim/nccl/communicator.h"

namespace slmsim {

int Peers::connection(int from, int to) {
  const auto [at, is_new] = connections_.try_emplace({from, to}, 0);
  if (is_new) at->second = connect_pair(graph_, network_, scenario_, from, to);
  return at->second;
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

}  // namespace slmsim
