#include "sim/collective/nccl_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "sim/collective/communicator.h"

namespace slmsim {
namespace {

// Names and units are NCCL's: microseconds and GB/s.
constexpr int kSteps = 8;                                // NCCL_STEPS, src/include/devcomm.h
constexpr int kRingChunkSteps = 4;                       // ALLREDUCE_, ALLGATHER_ and REDUCESCATTER_CHUNKSTEPS
constexpr Bytes kLlBuffer{8 * 512 * kSteps * 16.0};      // DEFAULT_LL_BUFFSIZE, src/init.cc
constexpr Bytes kLl128Buffer{120 * 640 * kSteps * 8.0};  // DEFAULT_LL128_BUFFSIZE

// Columns of the tables of tuning.cc: LL, LL128, Simple. Rows: tree, ring.
using PerProtocol = std::array<double, 3>;
constexpr PerProtocol kTreeBase = {4.4, 4.4, 0}, kRingBase = {3.6, 10.0, 8.4};
struct Hardware {
  PerProtocol tree, ring;
};
constexpr Hardware kNvlink = {{0.52, 1.25, 28}, {0.47, 1.9, 3.4}};
constexpr Hardware kPci = {{1.0, 1.9, 28}, {1.0, 2.5, 5.7}};
constexpr Hardware kNet = {{5.0, 8.5, 28}, {2.7, 4.0, 9.6}};
constexpr double kLlIntraPenalty = 1.8;  // on LL's hops inside a node where there are several nodes
constexpr double kRingPlateau = 1.9;     // on a Simple ring's latency over several nodes
constexpr double kPlateauBytesPerRank = 65536 / 16.0;

// Rows: capability 7.x or mixed, 8.0, 9.0. Columns: 1, 2, more nodes.
constexpr std::array<std::array<double, 3>, 3> kTreeMost = {
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {24.0, 23.6, 17.8}}};
constexpr std::array kLlMostOneNode = {39.0, 87.7, 87.7};
constexpr std::array kLlMostIntel = {39.0, 39.0, 20.4};
constexpr double kLl128Most = 20.0;  // per channel
constexpr double kAmpereMost = 235;
constexpr double kTreeShare = 0.92;  // of a ring's bus bandwidth

// From 64 B to 256 MiB in powers of two.
constexpr std::array<std::array<double, 23>, 3> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}};

// speedArrayIntra and speedArrayInter of src/graph/search.cc.
constexpr std::array kSpeedsIntra = {44.0, 30.0, 22.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0};
constexpr std::array kSpeedsInter = {48.0, 30.0, 28.0, 24.0, 22.0, 18.0, 15.0, 12.0, 10.0, 9.0,
                                     7.0,  6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr int kMostSearchChannels = kNcclMostChannels / 2;
constexpr double kDuplicatedFrom = 25.0;  // channels of this speed or more are split in two
// Links in NCCL's model, which uses their kind and number and measures nothing (src/graph/topo.h): a GPU's stated rate
// counts as the nearest number of links. A link's rate, and NCCL's value for it: SM60_, SM70_ and SM80_NVLINK_BW.
struct LinkKind {
  double rate, taken;  // GB/s
};
constexpr int kVolta = 70;
constexpr LinkKind kNvlink1 = {20.0, 18.0}, kNvlink2 = {25.0, 22.0};
constexpr double kPci3 = 15.75, kPci3Taken = 12.0;  // generation 3 x16; others differ by powers of two
// Hopper in v2.18.5, the first to know its NVSwitches: SM90_NVLINK_BW, sm90SpeedArrayIntra, and the channels that
// ncclTopoDupChannels splits.
constexpr int kHopper = 90;
constexpr LinkKind kHopperNvlink = {25.0, 20.0};
constexpr std::array kHopperSpeedsIntra = {60.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 6.0, 3.0};
constexpr double kHopperDuplicatedFrom = 50.0;
constexpr int kHopperDuplicatedUpTo = 4;   // or at most this number of channels, from kDuplicatedFrom on
constexpr double kHopperLeastStep = 0.49;  // of the best speed: slower ones are not tried

constexpr NcclChoice kEvery[] = {  // in the order of NCCL's comparison: the first of equals wins
    {NcclAlgorithm::kTree, NcclProtocol::kLl},     {NcclAlgorithm::kTree, NcclProtocol::kLl128},
    {NcclAlgorithm::kTree, NcclProtocol::kSimple}, {NcclAlgorithm::kRing, NcclProtocol::kLl},
    {NcclAlgorithm::kRing, NcclProtocol::kLl128},  {NcclAlgorithm::kRing, NcclProtocol::kSimple}};

std::size_t column(NcclProtocol protocol) { return static_cast<std::size_t>(protocol) - 1; }

int log2_of(int n) { return n < 2 ? 0 : std::bit_width(static_cast<unsigned>(n)) - 1; }

template <std::size_t N>
std::size_t step_below(const std::array<double, N>& speeds, double most) {
  std::size_t at = 0;
  while (at + 1 < N && speeds[at] > most) ++at;
  return at;
}

int channels_at(double speed, double inside) {
  return std::clamp(static_cast<int>(inside / speed), 1, kMostSearchChannels);
}

// The speed at which Hopper's channels have the highest total, the greatest of equals.
double hopper_speed(double inside) {
  double best = kHopperSpeedsIntra[step_below(kHopperSpeedsIntra, inside)];
  for (const double speed : kHopperSpeedsIntra) {
    const bool more = channels_at(speed, inside) * speed > channels_at(best, inside) * best;
    if (speed < best && speed > kHopperLeastStep * best && more) best = speed;
  }
  return best;
}

std::size_t capability_row(const NcclView& view) {
  if (view.least_capability != view.most_capability) return 0;
  return view.least_capability == 80 ? 1 : view.least_capability == 90 ? 2 : 0;
}

bool enabled(const Nccl& nccl, const NcclView& view, Collective collective, const NcclChoice& choice) {
  const bool all_reduce = collective == Collective::kAllReduce;
  if (choice.algorithm == NcclAlgorithm::kTree && !all_reduce) return false;
  // NCCL_ALGO applies to collectives with several algorithms.
  if (all_reduce && nccl.algorithm != NcclAlgorithm::kAuto && nccl.algorithm != choice.algorithm) return false;
  if (nccl.protocol != NcclProtocol::kAuto) return nccl.protocol == choice.protocol;
  if (choice.protocol != NcclProtocol::kLl128) return true;
  const int capability = view.least_capability;
  return view.nodes == 1 && view.nvlink && capability == view.most_capability &&
         (capability == 70 || capability == 80 || capability == 90);
}

// GB/s of the buffer, not of the bus. `channels`: as the search counts them.
double bandwidth(const NcclView& view, double channels, Collective collective, const NcclChoice& choice) {
  const bool ring = choice.algorithm == NcclAlgorithm::kRing;
  const std::size_t row = capability_row(view), nodes = static_cast<std::size_t>(std::min(view.nodes, 3)) - 1;
  const double ll_most = view.nodes == 1 ? kLlMostOneNode[row] : kLlMostIntel[nodes];
  double bus = channels * (ring ? view.ring_speed : view.tree_speed);
  if (row == 1) bus = std::min(bus, kAmpereMost);
  if (!ring) bus = std::min(bus * kTreeShare, channels * kTreeMost[row][nodes]);
  if (choice.protocol == NcclProtocol::kLl) {
    const double ring_part = view.nodes > 1 || collective == Collective::kAllReduce ? 1.0 / 4 : 1.0 / 3;
    bus = std::min(ll_most, bus * (ring ? ring_part : 1.0 / 3.8));
  } else if (choice.protocol == NcclProtocol::kLl128) {
    const double per_node = static_cast<double>(view.ranks) / view.nodes;
    const double ring_part = per_node < 2 ? 0.7 : kTreeShare;
    const double tree_part = view.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    bus = std::min(bus * (ring ? ring_part : tree_part), kLl128Most * channels);
  }
  return bus * (ring ? static_cast<double>(view.ranks) / step_count(collective, view.ranks) : 0.5);
}

double latency(const NcclView& view, Collective collective, const NcclChoice& choice) {
  const bool ring = choice.algorithm == NcclAlgorithm::kRing;
  const std::size_t p = column(choice.protocol);
  const Hardware& inside = view.nvlink ? kNvlink : kPci;
  double intra = (ring ? inside.ring : inside.tree)[p];
  const double inter = (ring ? kNet.ring : kNet.tree)[p];
  if (view.nodes > 1 && choice.protocol == NcclProtocol::kLl) intra *= kLlIntraPenalty;
  const int in_a_node = view.ranks / view.nodes;
  if (!ring) return kTreeBase[p] + 2 * ((in_a_node - 1) * intra + log2_of(view.nodes) * inter);
  const int between = collective == Collective::kAllReduce ? (view.nodes > 1 ? 2 * view.nodes : 0) : view.nodes - 1;
  return kRingBase[p] + (step_count(collective, view.ranks) - between) * intra + between * inter;
}

// GPUs of one VM whose inside has a link between every two of them, such as a bridge.
bool joined_in_pairs(const Platform& platform, std::span<const int> devices) {
  const Device& first = platform.devices[devices.front()];
  const Vm& vm = platform.vms[first.vm];
  const auto parts = vm.type.inside.of_kind(PartKind::kGpu);
  if (parts.empty()) return false;
  const auto joined = [&](int a, int b) {
    const int from = parts[a - vm.first_device];
    const int to = parts[b - vm.first_device];
    return std::any_of(vm.type.inside.links.begin(), vm.type.inside.links.end(),
                       [&](const PartLink& link) { return std::minmax(link.from, link.to) == std::minmax(from, to); });
  };
  const auto inside = [&](int device) { return platform.devices[device].vm == first.vm; };
  if (!std::all_of(devices.begin(), devices.end(), inside)) return false;
  for (const int a : devices) {
    for (const int b : devices) {
      if (a != b && !joined(a, b)) return false;
    }
  }
  return true;
}

double nvlink_taken(double rate, int capability) {
  const LinkKind& kind = capability >= kHopper ? kHopperNvlink : capability >= kVolta ? kNvlink2 : kNvlink1;
  return kind.taken * std::max(1.0, std::round(rate / kind.rate));
}

double pcie_taken(double rate) { return kPci3Taken * std::exp2(std::round(std::log2(rate / kPci3))); }

// GPUs of one VM without NVLinks between all: the rates that PCIe links leave for a ring and for a chain, which is a
// tree's shape there. Where several GPUs share a link, a ring uses it once for each edge that leaves it, a chain once
// less. (Without peer-to-peer access NCCL counts the same links, by way of the CPU: addInterStep, src/graph/paths.cc.
// Links between sockets are not counted.)
struct PcieSpeeds {
  double ring = INFINITY, chain = INFINITY;
};

PcieSpeeds shared_pcie(const Platform& platform, std::span<const int> devices) {
  constexpr double kGb = 1e9;
  const Device& first = platform.devices[devices.front()];
  const Vm& vm = platform.vms[first.vm];
  const NodeInside& inside = vm.type.inside;
  const auto parts = inside.of_kind(PartKind::kGpu);
  PcieSpeeds speeds;
  if (parts.empty() || devices.size() < 3) return speeds;
  const auto order = ring_orders(platform, {devices.begin(), devices.end()}).front();
  const auto part = [&](std::size_t at) { return parts[devices[order[at % order.size()]] - vm.first_device]; };
  std::map<std::pair<int, bool>, int> uses;
  for (std::size_t edge = 0; edge < order.size(); ++edge) {
    auto way = way_inside(inside, part(edge), part(edge + 1));
    const int memory = nearest_part(inside, part(edge), PartKind::kMemory);
    if (!vm.type.peer_to_peer && way.size() > 1 && memory >= 0) {
      way = way_inside(inside, part(edge), memory);
      const auto second = way_inside(inside, memory, part(edge + 1));
      way.insert(way.end(), second.begin(), second.end());
    }
    for (const PartHop& hop : way) ++uses[{hop.link, hop.forward}];
    const bool closes = edge + 1 == order.size();
    for (const auto& [use, times] : uses) {
      const PartLink& link = inside.links[use.first];
      if (!is_uplink(inside, link)) continue;
      const double speed = pcie_taken(link.peak.value / kGb) / times;
      speeds.ring = std::min(speeds.ring, speed);
      if (!closes) speeds.chain = std::min(speeds.chain, speed);
    }
  }
  return speeds;
}

// NCCL's estimate with this number of channels, as the search counts them.
Seconds expected_time(const NcclView& view, double channels, Collective collective, Bytes size,
                      const NcclChoice& choice) {
  double rate = bandwidth(view, channels, collective, choice);
  double wait = latency(view, collective, choice);
  if (choice.algorithm == NcclAlgorithm::kTree) {
    const double doublings = std::max(0.0, std::floor(std::log2(std::max(1.0, size.value / 64))));
    const auto& correction = kTreeCorrection[column(choice.protocol)];
    if (doublings < static_cast<double>(correction.size())) rate *= correction[static_cast<std::size_t>(doublings)];
  } else if (choice.protocol == NcclProtocol::kSimple && view.nodes > 1 && collective == Collective::kAllReduce &&
             size.value >= view.ranks * kPlateauBytesPerRank) {
    wait *= kRingPlateau;
  }
  return Seconds{1e-6 * (wait + size.value / (1000 * rate))};
}

}  // namespace

int NcclView::tree_depth() const { return ranks / nodes - 1 + log2_of(nodes); }

NcclView nccl_view(const Platform& platform, std::span<const int> devices) {
  constexpr double kGb = 1e9;
  NcclView view;
  view.ranks = static_cast<int>(devices.size());
  view.nvlink = true;
  const bool in_pairs = joined_in_pairs(platform, devices);
  std::map<int, int> gpus_of;
  int rails = kMostSearchChannels;
  double net = INFINITY, pcie = INFINITY, nvlink = INFINITY;
  for (const int index : devices) {
    const Device& device = platform.devices[index];
    const VmType& type = platform.vms[device.vm].type;
    const int capability = device.gpu.compute_capability;
    const bool first = gpus_of.empty();
    view.least_capability = first ? capability : std::min(view.least_capability, capability);
    view.most_capability = first ? capability : std::max(view.most_capability, capability);
    view.nvlink = view.nvlink && (type.nvlink || in_pairs) && device.gpu.nvlink.value > 0;
    pcie = std::min(pcie, pcie_taken(device.gpu.pcie.value / kGb));
    nvlink = std::min(nvlink, nvlink_taken(device.gpu.nvlink.value / kGb, capability));
    net = std::min(net, type.nic.value / kGb);
    ++gpus_of[device.vm];
    rails = std::min(rails, type.inside.rails);
  }
  view.nodes = static_cast<int>(gpus_of.size());
  if (view.nodes > 1) {
    view.search_channels = rails;
    std::size_t at = step_below(kSpeedsInter, std::min(net, pcie));
    view.ring_speed = view.tree_speed = kSpeedsInter[at];
    // On two nodes a tree loads a NIC half as much as the links inside; the search raises the latter.
    if (view.nodes == 2 && view.nvlink && view.ranks > 2) {
      while (at > 0 && view.tree_speed < 2 * view.ring_speed && kSpeedsInter[at - 1] <= nvlink)
        view.tree_speed = kSpeedsInter[--at];
    }
    return view;
  }
  const bool hopper = view.nvlink && view.least_capability >= kHopper;
  const double inside = view.nvlink ? nvlink : pcie;
  const PcieSpeeds shared = view.nvlink ? PcieSpeeds{} : shared_pcie(platform, devices);
  const auto speed_of = [&](double rate) {
    return hopper ? hopper_speed(rate) : kSpeedsIntra[step_below(kSpeedsIntra, rate)];
  };
  view.ring_speed = speed_of(std::min(inside, shared.ring));
  view.tree_speed = speed_of(std::min(inside, shared.chain));
  const int channels = view.nvlink ? channels_at(view.ring_speed, inside) : 1;
  // The smaller of the numbers of channels of rings and trees applies to both.
  const auto split = [&](double& speed) {
    const bool few = !hopper || speed >= kHopperDuplicatedFrom || channels <= kHopperDuplicatedUpTo;
    if (speed < kDuplicatedFrom || !few) return channels;
    const int twice = std::min(2 * channels, kMostSearchChannels);
    speed /= std::ceil(static_cast<double>(twice) / channels);
    return twice;
  };
  const int of_rings = split(view.ring_speed), of_trees = split(view.tree_speed);
  view.search_channels = std::min(of_rings, of_trees);
  return view;
}

std::optional<Seconds> nccl_expected_time(const Nccl& nccl, const NcclView& view, Collective collective, Bytes size,
                                          const NcclChoice& choice) {
  if (view.ranks < 2 || !enabled(nccl, view, collective, choice)) return std::nullopt;
  return expected_time(view, view.search_channels, collective, size, choice);
}

Seconds nccl_tree_time(const Nccl& nccl, const NcclView& view, const NcclChoice& choice, Bytes size) {
  NcclView unlimited = view;
  unlimited.tree_speed = INFINITY;
  return expected_time(unlimited, nccl_channels(nccl, view) / 2.0, Collective::kAllReduce, size, choice);
}

NcclChoice nccl_choice(const Nccl& nccl, const NcclView& view, Collective collective, Bytes size) {
  NcclChoice best;
  std::optional<Seconds> least;
  for (const NcclChoice& choice : kEvery) {
    const auto time = nccl_expected_time(nccl, view, collective, size, choice);
    if (!time || (least && *time >= *least)) continue;
    best = choice;
    least = time;
  }
  return best;
}

int nccl_channels(const Nccl& nccl, const NcclView& view) {
  const int doubled = std::min(2 * view.search_channels, kNcclMostChannels);
  return std::max(std::min(nccl.max_channels, doubled), nccl.min_channels);
}

Bytes nccl_buffers(const Nccl& nccl, const NcclView& view) {
  if (view.ranks < 2) return {};
  const int peers = view.ranks / view.nodes - 1;  // of a GPU, inside its node
  if (!view.nvlink || peers < 1) return nccl.buffer * (2.0 * nccl_channels(nccl, view));
  const double connections = 1 + std::min(peers, 2);
  return (kLlBuffer + kLl128Buffer + nccl.buffer) * (connections * nccl_channels(nccl, view));
}

Bytes nccl_message_buffer(const Nccl& nccl) {
  constexpr double kChannels = 2;  // per pair: p2pnChannelsPerPeer, src/graph/paths.cc
  return nccl.message_chunk * (kChannels * kSteps);
}

Bytes nccl_broadcast_chunk(const Nccl& nccl) {
  constexpr double kChannels = 2;  // between machines
  return nccl.buffer / kSteps * kChannels;
}

int nccl_sockets(const Nccl& nccl, Cloud receiver) {
  const int threads = nccl.socket_threads.value_or(receiver == Cloud::kAws ? 2 : receiver == Cloud::kGcp ? 4 : 1);
  const int each = nccl.sockets_per_thread.value_or(receiver == Cloud::kAws ? 8 : 1);
  return threads * each > kNcclMostSockets ? kNcclMostSockets / threads * threads : threads * each;
}

double nccl_wire_factor(NcclProtocol protocol) {
  return protocol == NcclProtocol::kLl ? 2.0 : protocol == NcclProtocol::kLl128 ? 128.0 / 120.0 : 1.0;
}

Bytes nccl_chunk(const Nccl& nccl, const NcclView& view, const NcclChoice& choice, Bytes size) {
  const bool tree = choice.algorithm == NcclAlgorithm::kTree;
  const double channels = nccl_channels(nccl, view);
  if (choice.protocol == NcclProtocol::kLl) return kLlBuffer / kSteps;
  // Halved while it exceeds `least` and there are fewer than `chunks` chunks, by the tree's depth.
  const auto halved = [&](double chunk, double chunks, double least) {
    while (std::floor(size.value / (channels * chunk)) < chunks && chunk > least) chunk /= 2;
    return chunk;
  };
  if (choice.protocol == NcclProtocol::kLl128) {
    double chunk = kLl128Buffer.value / kSteps;
    if (tree) {
      const double per_node = static_cast<double>(view.ranks) / view.nodes;
      const double steps = 1 + log2_of(view.nodes) + 0.1 * per_node;
      chunk = halved(halved(chunk, steps * 64 / per_node, 131072), steps * 16 / per_node, 32768);
    }
    return Bytes{chunk};
  }
  if (!tree) return nccl.buffer / kSteps * kRingChunkSteps;
  const double depth = view.tree_depth();
  const double chunk = nccl.buffer.value / kSteps;
  return Bytes{halved(halved(halved(chunk, depth * 8, 131072), depth * 4, 65536), depth, 32768)};
}

int nccl_slices(const NcclView& view, NcclProtocol protocol) {
  return view.nodes > 1 && protocol == NcclProtocol::kSimple ? kNcclMostSlices : 1;
}

}  // namespace slmsim
