#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/collective/communicator.h"
#include "sim/collective/mesh_rings.h"
#include "sim/platform/network.h"

namespace slmsim {
namespace {

using RankOrder = std::vector<std::size_t>;

constexpr std::size_t kAllCycles = 4;  // number of equally joined GPUs up to which every cycle is a ring
constexpr std::size_t kMostGpus = 8;   // or VMs: exhaustive search of cycles up to this number

// The cycle through `n` with the least sum of `length`, the first of equals.
RankOrder shortest_cycle(std::size_t n, const auto& length) {
  RankOrder order(n), best;
  std::iota(order.begin(), order.end(), std::size_t{0});
  double least = INFINITY;
  do {
    double around = 0;
    for (std::size_t i = 0; i < n; ++i) around += length(order[i], order[(i + 1) % n]);
    if (around < least * (1 - 1e-9)) {
      least = around;
      best = order;
    }
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

// Where no cycle uses such links only, as with bridges between pairs: the cycle with the shortest ways.
RankOrder shortest_cycle(const NodeInside& inside, const std::vector<int>& gpus) {
  const std::size_t n = gpus.size();
  std::vector<double> length(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) length[i * n + j] = way_length(inside, gpus[i], gpus[j]).value;
    }
  }
  return shortest_cycle(n, [&](std::size_t i, std::size_t j) { return length[i * n + j]; });
}

std::vector<RankOrder> orders_in_node(const NodeInside& inside, const std::vector<int>& slots) {
  RankOrder order(slots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto parts = inside.of_kind(PartKind::kGpu);
  if (parts.empty()) return {order};
  std::vector<int> gpus;
  gpus.reserve(slots.size());
  for (const int slot : slots) gpus.push_back(parts[slot]);
  const PairRates rates(inside, gpus);
  if (slots.size() < 3 || slots.size() > kMostGpus || !rates.any()) return {order};
  if (slots.size() > kAllCycles || !rates.equal()) {
    auto found = mesh_rings(rates);
    if (!found.empty()) return found;
    return {shortest_cycle(inside, gpus)};
  }
  std::vector<RankOrder> orders;
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return orders;
}

// A switch that joins all GPUs and nothing else.
bool has_nvswitch(const NodeInside& inside) {
  const auto gpus = inside.of_kind(PartKind::kGpu);
  const auto is_gpu = [&](int part) { return std::find(gpus.begin(), gpus.end(), part) != gpus.end(); };
  std::map<int, std::size_t> joined;  // GPUs of each switch that joins only GPUs; none for others
  for (const PartLink& link : inside.links) {
    for (const auto& [end, other] : {std::pair(link.from, link.to), std::pair(link.to, link.from)}) {
      if (inside.parts[end].kind != PartKind::kSwitch) continue;
      const auto at = joined.try_emplace(end, 0).first;
      at->second = is_gpu(other) && at->second <= gpus.size() ? at->second + 1 : gpus.size() + 1;
    }
  }
  return std::any_of(joined.begin(), joined.end(), [&](const auto& one) { return one.second == gpus.size(); });
}

// Orders of a node's GPUs, one per rail: the GPU nearest to its NIC first, the next nearest last. The others are in
// between, nearer ones first; behind an NVSwitch, which joins all equally, they follow in cyclic order, each after its
// upper neighbour (NCCL 2.19, src/graph/search.cc: ncclTopoSearchNextGpuSort prefers neighbours, the lower one first),
// so that rails do not collide.
std::vector<std::vector<int>> rail_orders(const NodeInside& inside, int rails) {
  const std::vector<int> nics = inside.of_kind(PartKind::kNic);
  const bool cyclic = has_nvswitch(inside);
  std::vector<std::vector<int>> orders;
  for (int rail = 0; rail < rails; ++rail) {
    std::vector<int>& order = orders.emplace_back(gpus_by_distance(inside, nics[rail]));
    if (order.size() < 3) continue;
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    if (!cyclic) continue;
    const int count = static_cast<int>(order.size()), first = order.front();
    const auto below = [&](int gpu) { return (first - gpu + count) % count; };
    std::sort(order.begin() + 1, order.end() - 1, [&](int a, int b) { return below(a) < below(b); });
  }
  return orders;
}

}  // namespace

Relays relays_of(const Platform& platform, std::span<const int> devices) {
  const int first = platform.devices[devices.front()].vm;
  const Vm& vm = platform.vms[first];
  const auto parts = vm.type.inside.of_kind(PartKind::kGpu);
  if (parts.empty() || spans_vms(platform, devices)) return {};
  std::vector<int> gpus;
  gpus.reserve(devices.size());
  for (const int device : devices) gpus.push_back(parts[device - vm.first_device]);
  const PairRates rates(vm.type.inside, gpus);
  Relays out;
  for (std::size_t from = 0; from < devices.size(); ++from) {
    for (std::size_t to = 0; to < devices.size(); ++to) {
      const int by = from == to ? -1 : rates.relay(from, to);
      if (by >= 0) out.push_back({devices[from], devices[to], devices[by]});
    }
  }
  return out;
}

std::vector<std::vector<std::size_t>> ring_orders(const Platform& platform, const std::vector<int>& devices) {
  std::vector<int> vms;                           // in the order of appearance
  std::map<int, std::vector<std::size_t>> ranks;  // per VM
  int rails = NodeInside().rails;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const int vm = platform.devices[devices[rank]].vm;
    if (!ranks.contains(vm)) vms.push_back(vm);
    ranks[vm].push_back(rank);
  }
  const auto inside = [&](int vm) -> const NodeInside& { return platform.vms[vm].type.inside; };
  const auto slot = [&](int vm, std::size_t rank) { return devices[rank] - platform.vms[vm].first_device; };
  if (vms.size() == 1) {
    std::vector<int> slots;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) slots.push_back(slot(vms.front(), rank));
    return orders_in_node(inside(vms.front()), slots);
  }
  RankOrder as_given(devices.size());
  std::iota(as_given.begin(), as_given.end(), std::size_t{0});
  for (const int vm : vms) rails = vm == vms.front() ? inside(vm).rails : std::min(rails, inside(vm).rails);
  if (rails == 1) return {as_given};
  std::vector<RankOrder> orders(rails);
  std::vector<std::vector<int>> gpus;  // the last node's orders, which hold for the next one of its kind
  const NodeInside* before = nullptr;
  for (const int vm : vms) {
    const RankOrder& own = ranks[vm];
    if (own.size() > 1 && (!before || !before->ways.found || before->ways.found != inside(vm).ways.found)) {
      gpus = rail_orders(inside(vm), rails);
      before = &inside(vm);
    }
    for (std::size_t rail = 0; rail < orders.size(); ++rail) {
      if (own.size() == 1) {
        orders[rail].push_back(own.front());
        continue;
      }
      for (const int gpu : gpus[rail]) {
        std::copy_if(own.begin(), own.end(), std::back_inserter(orders[rail]),
                     [&](std::size_t rank) { return slot(vm, rank) == gpu; });
      }
    }
  }
  return orders;
}

std::vector<int> cycle_of_vms(const Platform& platform, const Network& network, const std::vector<int>& devices) {
  std::vector<int> vms, first;  // first: one GPU per VM
  for (const int device : devices) {
    const int vm = platform.devices[device].vm;
    if (std::find(vms.begin(), vms.end(), vm) != vms.end()) continue;
    vms.push_back(vm);
    first.push_back(device);
  }
  const auto apart = [&](std::size_t a, std::size_t b) { return network.round_trip(first[a], first[b]).value; };
  RankOrder best(vms.size());
  std::iota(best.begin(), best.end(), std::size_t{0});
  if (vms.size() <= kMostGpus) {
    best = shortest_cycle(vms.size(), apart);
  } else {
    for (auto next = best.begin() + 1; next != best.end(); ++next) {
      const auto nearest = std::min_element(next, best.end(), [&](std::size_t a, std::size_t b) {
        return apart(*(next - 1), a) < apart(*(next - 1), b);
      });
      std::rotate(next, nearest, nearest + 1);
    }
  }
  std::vector<int> out;
  out.reserve(best.size());
  for (const std::size_t at : best) out.push_back(vms[at]);
  return out;
}

}  // namespace slmsim
