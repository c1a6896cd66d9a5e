#include "sim/platform/network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace slmsim {
namespace {

constexpr Bytes kTcpIpHeaders{52};           // IPv4, TCP with timestamps
constexpr Bytes kFirstReceiveWindow{65535};  // a receiver's window before it knows the sender's rate (RFC 7323)
constexpr Seconds kLeastRtoMargin{0.2};      // Linux TCP_RTO_MIN, added to the smoothed RTT
constexpr BytesPerSecond kAnyRate{1e18};

BytesPerSecond shared_rate(const WanLink& link, const WanDirection& direction) {
  return link.bandwidth_of == BandwidthOf::kPath ? direction.bandwidth : kAnyRate;
}

bool joined_by_nvlink(const VmType& type, const Gpu& gpu) { return type.nvlink && gpu.nvlink.value > 0; }

int vm_of(const Platform& platform, int device) { return platform.devices[device].vm; }

int site_of(const Platform& platform, int device) { return platform.vms[vm_of(platform, device)].site; }

}  // namespace

Bytes mean_window(const TcpWindow& window) {
  if (window.loss <= 0 || window.congestion_control == CongestionControl::kBbr) return window.steady;
  double segments = 1.31 / std::sqrt(window.loss);
  if (window.congestion_control == CongestionControl::kCubic)
    segments = std::max(segments, 1.054 * std::pow(window.rtt.value / window.loss, 0.75));
  return std::min(window.steady, window.segment * std::max(1.0, segments));
}

TcpWindow tcp_window(const TcpSettings& sender, const TcpSettings& receiver, Seconds rtt, Bytes mtu, double loss) {
  const Bytes segment = mtu - kTcpIpHeaders, receive_window = receiver.receive_buffer * receiver.receive_window_share;
  const auto whole = [&](Bytes room) { return segment * std::max(1.0, std::floor(room / segment)); };
  TcpWindow window;
  window.steady = whole(std::min(receive_window, sender.send_buffer));
  window.initial = whole(std::min({window.steady, segment * sender.initial_window, kFirstReceiveWindow}));
  window.restart = whole(std::min(window.steady, segment * sender.initial_window));
  window.rtt = rtt;
  window.segment = segment;
  window.loss = loss;
  window.congestion_control = sender.congestion_control;
  window.send_buffer = sender.send_buffer;
  // BBR keeps its window through pauses (tcp_slow_start_after_idle_check, include/net/tcp.h).
  if (sender.slow_start_after_idle && sender.congestion_control != CongestionControl::kBbr)
    window.timeout_margin = kLeastRtoMargin;
  return window;
}

BytesPerSecond Network::highest_rate(const Route& route, int sockets) const {
  BytesPerSecond rate = route.socket_rate * sockets;
  for (const int link : route.links) rate = std::min(rate, (*links_)[link].bandwidth);
  return rate;
}

SocketBuffers Network::socket_buffers(const Route& route, int sockets) const {
  const TcpWindow& tcp = route.window;
  if (tcp.segment <= Bytes{0}) return {};
  const Bytes round_trip = highest_rate(route, sockets) * tcp.rtt / sockets;  // bytes of each connection
  constexpr double kLeastSegments = 10;                                       // TCP_INIT_CWND
  // MAX_TCP_HEADER, skb_shared_info and sk_buff of 64-bit machines.
  constexpr Bytes kPacket{320 + 320}, kHead{256};
  const double packet = std::exp2(std::ceil(std::log2((tcp.segment + kPacket).value))) + kHead.value;
  const double windows = tcp.congestion_control == CongestionControl::kBbr ? 3 : 2;
  const Bytes sender = std::max(tcp.segment * kLeastSegments, round_trip) * (windows * packet / tcp.segment.value),
              receiver = std::max(kFirstReceiveWindow, round_trip * 2.0 + tcp.segment * 16.0);
  return {std::min(tcp.send_buffer, sender) * sockets, std::min(tcp.steady, receiver) * sockets};
}

Network::Network(std::shared_ptr<const Platform> kept) : platform_(std::move(kept)), wan_routes_(*platform_) {
  const Platform& platform = *platform_;
  for (const auto& device : platform.devices) {
    const Vm& vm = platform.vms[device.vm];
    const auto known = [](BytesPerSecond measured, BytesPerSecond stated) {
      return measured.value > 0 ? measured : stated;
    };
    const Gpu& gpu = device.gpu;
    const BytesPerSecond pcie = gpu.pcie * vm.type.pcie_share;
    const bool nvlink = joined_by_nvlink(vm.type, gpu) && vm.type.inside.empty();
    const BytesPerSecond bus = known(gpu.buses.peer, nvlink ? gpu.nvlink : pcie);
    add_pair({fmt::format("pcie:{}:out", device.name), known(gpu.buses.from_device, gpu.pcie)},
             {fmt::format("pcie:{}:in", device.name), known(gpu.buses.to_device, gpu.pcie)});
    add_pair({fmt::format("peer:{}:out", device.name), bus}, {fmt::format("peer:{}:in", device.name), bus});
  }
  // Acknowledgements are the hosts' own and cross no link of a GPU.
  for (Link& link : *links_) link.back = -1;
  first_nic_ = static_cast<int>(links_->size());
  for (const auto& vm : platform.vms) {
    add_pair({fmt::format("nic:{}:out", vm.name), vm.type.nic}, {fmt::format("nic:{}:in", vm.name), vm.type.nic});
    // A host's own packets do not wait for each other: TCP holds back data that its NIC cannot take
    // (tcp_small_queue_check, net/ipv4/tcp_output.c), and flows take turns in the remaining queue (fq_codel, RFC 8290,
    // the default of distributions with systemd). Incoming data waits in the switch before the NIC.
    links_->back().back = -1;
  }
  first_wan_ = static_cast<int>(links_->size());
  const auto site = [&](int index) { return platform.sites[index].name; };
  for (const auto& link : platform.links) {
    add_pair({fmt::format("{}:{}->{}", link.name, site(link.from), site(link.to)), shared_rate(link, link.forward)},
             {fmt::format("{}:{}->{}", link.name, site(link.to), site(link.from)), shared_rate(link, link.backward)});
  }
  add_pair_links();
  nodes_.resize(platform.vms.size());
  std::vector<int> firsts;
  for (std::size_t vm = 0; vm < platform.vms.size(); ++vm) {
    add_node_links(static_cast<int>(vm));
    const auto same = std::ranges::find_if(
        firsts, [&](int first) { return platform.vms[first].type.inside == platform.vms[vm].type.inside; });
    types_.push_back(same == firsts.end() ? firsts.emplace_back(static_cast<int>(vm)) : *same);
  }
  for (const Vm& vm : platform.vms) {
    const bool known = vm.type.inside.empty() && vm.type.host_memory.value > 0;
    host_memory_.push_back(known ? static_cast<int>(links_->size()) : -1);
    if (known) links_->push_back({fmt::format("memory:{}", vm.name), vm.type.host_memory_rate});
  }
}

void Network::add_pair(Link there, Link back) {
  there.back = static_cast<int>(links_->size()) + 1;
  back.back = static_cast<int>(links_->size());
  links_->push_back(std::move(there));
  links_->push_back(std::move(back));
}

void Network::add_pair_links() {
  const auto limited = [](const WanLink& link) { return link.bandwidth_of == BandwidthOf::kPair; };
  if (std::ranges::none_of(platform_->links, limited)) return;
  const auto rate = [&](int from, int to) {
    std::optional<BytesPerSecond> least;
    for (const WanHop& hop : wan_routes_.between(platform_->vms[from].site, platform_->vms[to].site)) {
      if (!limited(platform_->links[hop.link])) continue;
      least = std::min(least.value_or(kAnyRate), direction_of(*platform_, hop).bandwidth);
    }
    return least;
  };
  const auto name = [&](int from, int to) {
    return fmt::format("{}->{}", platform_->vms[from].name, platform_->vms[to].name);
  };
  const int vms = static_cast<int>(platform_->vms.size());
  for (int a = 0; a < vms; ++a) {
    for (int b = a + 1; b < vms; ++b) {
      const auto there = rate(a, b), back = rate(b, a);
      if (!there && !back) continue;  // an unlimited rate is one: other links keep their places (sim/explain)
      const int first = static_cast<int>(links_->size());
      pair_links_[{a, b}] = first;
      pair_links_[{b, a}] = first + 1;
      add_pair({name(a, b), there.value_or(kAnyRate)}, {name(b, a), back.value_or(kAnyRate)});
    }
  }
}

Route Network::route(int from, int to, int nic, int relay) const {
  assert(from != to);
  const Device& source = platform_->devices[from];
  const Device& target = platform_->devices[to];
  const Vm& vm_out = platform_->vms[source.vm];
  const Vm& vm_in = platform_->vms[target.vm];
  Route route;
  route.links.reserve(8);
  if (source.vm == target.vm && !vm_out.type.inside.empty())
    return relay < 0 ? route_between_gpus(from, to) : route_by_relay(from, to, relay);
  if (source.vm == target.vm) {
    // Traffic that a GPU forwards for others goes by NVLink, or in addition to its slot's traffic to the NIC.
    const bool nvlink = joined_by_nvlink(vm_out.type, source.gpu) && joined_by_nvlink(vm_in.type, target.gpu);
    route.links = {4 * from + 2, 4 * to + 3};
    if (!nvlink) route.links = {4 * from, 4 * from + 2, 4 * to + 3, 4 * to + 1};
    const MeasuredBuses &out = source.gpu.buses, &in = target.gpu.buses;
    const bool measured = out.peer.value > 0 && in.peer.value > 0;
    route.staged = !nvlink && !vm_out.type.peer_to_peer && !measured;
    route.latency = measured ? std::max(out.peer_latency, in.peer_latency)
                             : vm_out.type.device_latency * (route.staged ? 2.0 : 1.0);
    route.measured = measured || (!nvlink && vm_out.type.pcie_share >= 1);
    return route;
  }
  if (!append_to_nic(route, source.vm, from, nic)) route.links = {4 * from, first_nic_ + 2 * source.vm};
  const Site& site_out = platform_->sites[vm_out.site];
  const Site& site_in = platform_->sites[vm_in.site];
  Seconds rtt = site_out.rtt;
  Bytes mtu = std::min(site_out.mtu, site_in.mtu);
  double survival = 1.0;
  BytesPerSecond each = kAnyRate;  // of a connection over links that limit each
  const Seconds to_nic = route.latency;
  route.latency = to_nic + rtt / 2;
  if (vm_out.site != vm_in.site) {
    const auto& path = wan_routes_.between(vm_out.site, vm_in.site);
    assert(!path.empty() && "missing_routes was asked");
    for (const WanHop& hop : path) {
      const WanLink& link = platform_->links[hop.link];
      route.links.push_back(wan_link(hop));
      mtu = std::min(mtu, link.mtu);
      survival *= 1.0 - direction_of(*platform_, hop).loss;
      if (link.bandwidth_of == BandwidthOf::kConnection) each = std::min(each, direction_of(*platform_, hop).bandwidth);
    }
    const auto pair = pair_links_.find({source.vm, target.vm});
    if (pair != pair_links_.end()) route.links.push_back(pair->second);
    // Acknowledgements take the fastest way back, which may differ.
    rtt = delay_of(*platform_, path);
    route.latency = to_nic + rtt;
    rtt += delay_of(*platform_, wan_routes_.between(vm_in.site, vm_out.site));
  }
  if (!append_from_nic(route, target.vm, nic, to)) {
    route.links.push_back(first_nic_ + 2 * target.vm + 1);
    route.links.push_back(4 * to + 1);
  }
  route.latency += vm_out.type.device_latency + vm_in.type.device_latency;
  if (vm_out.type.rdma && vm_in.type.rdma) {
    if (each < kAnyRate) route.socket_rate = each;
    return route;
  }
  route.socket_rate = std::min({vm_out.type.tcp.copy_rate, vm_in.type.tcp.copy_rate, each});
  route.window = tcp_window(vm_out.type.tcp, vm_in.type.tcp, rtt, mtu, 1.0 - survival);
  if (route.window.loss > 0)
    route.window.loss_sequence =
        static_cast<std::uint64_t>(vm_out.site) << 32U | static_cast<std::uint64_t>(vm_in.site);
  // Where the window covers the path's own rate it never binds; the only cost is one slow start of some 100 us.
  constexpr Seconds kNegligibleRtt{1e-3};
  route.windowed = route.window.steady / rtt < highest_rate(route, 1) || rtt >= kNegligibleRtt || route.window.loss > 0;
  return route;
}

bool Network::share_vm(int from, int to) const {
  const auto vm = [&](int device) { return platform_->devices[device].vm; };
  return vm(from) == vm(to);
}

Seconds Network::round_trip(int from, int to) const {
  if (share_vm(from, to)) return Seconds{0};
  const Route there = route(from, to);
  return there.window.rtt > Seconds{0} ? there.window.rtt : there.latency * 2;
}

bool spans_vms(const Platform& platform, std::span<const int> devices) {
  const int first = vm_of(platform, devices.front());
  return std::ranges::any_of(devices, [&](int device) { return vm_of(platform, device) != first; });
}

bool spans_sites(const Platform& platform, std::span<const int> devices) {
  const int first = site_of(platform, devices.front());
  return std::ranges::any_of(devices, [&](int device) { return site_of(platform, device) != first; });
}

std::vector<int> MeshKinds::of(const std::vector<int>& mesh) const {
  if (spans_vms(platform_, mesh)) return mesh;
  const int vm = platform_.devices[mesh.front()].vm;
  const Vm& its = platform_.vms[vm];
  std::vector<int> kind = {-1 - vm_kinds_[vm]};  // negative: differs from any device
  for (const int device : mesh) {
    kind.push_back(its.type.inside.empty() ? gpu_kinds_[device] : device - its.first_device);
  }
  return kind;
}

}  // namespace slmsim
