#include "sim/collective/share_sum.h"

namespace slmsim {

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
