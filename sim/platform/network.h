// The path of a transfer between two GPUs: shared links, latency, and the limits of one TCP connection.
//
// Links have one direction: a PCIe slot, a NIC and a wide-area link are two links each. Independent of collectives and
// techniques.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/platform/platform.h"
#include "sim/platform/wan_route.h"

namespace slmsim {

struct Link {
  std::string name;  // "wan:gat->amst", "nic:gat:out", "pcie:gat/0:in"
  BytesPerSecond bandwidth;
  // Inside a node: the kind of link, the VM, the share of the data sheet's rate (of both directions together where half
  // duplex), and the number of ends at which the node's counters see the bytes (a link between two GPUs: both).
  std::string interconnect;
  int vm = -1;
  BytesPerSecond peak = {};
  int counted = 1;
  int back = -1;  // the opposite link, whose bytes share queues with acknowledgements of this one
};

// Bytes in flight of one TCP connection over a path, and how its window grows.
//
// Steady window W = min(receive window, send buffer). The receive window is the share of tcp_rmem's maximum that Linux
// leaves to payload (TcpSettings); the send buffer bounds the bytes in flight at tcp_wmem's maximum. Both are in whole
// segments: a segment that ends beyond the window waits (tcp_snd_wnd_test, net/ipv4/tcp_output.c).
struct TcpWindow {
  Bytes initial;  // slow start begins here: 10 segments (RFC 6928), at most the receiver's first window
  Bytes steady;
  Seconds rtt;
  // Retransmission time-out less the smoothed RTT, at least; a pause of a time-out halves the window. 0: no pause does.
  Seconds timeout_margin;
  Bytes segment;
  Bytes restart;    // a pause leaves at least this window: initial_window segments; the receiver's stays as grown
  double loss = 0;  // share of segments
  std::uint64_t loss_sequence = 0;  // the way's: each loses at distances of its own (sim/engine/loss_distance.h)
  CongestionControl congestion_control = CongestionControl::kReno;
  Bytes send_buffer;
  // The sending program sleeps on a full buffer (a blocking send(), epoll); NCCL's threads poll (ncclSocketProgressOpt,
  // NCCL 2.15, src/misc/socket.cc).
  bool sender_sleeps = false;

  bool operator==(const TcpWindow&) const = default;
};

// A sender waits until it may send this share of its window, since acknowledgements arrive in batches; this bounds the
// number of flows per round trip.
inline constexpr double kLeastShareOfWindow = 0.25;

// Mean bytes in flight of a long transfer: W, or less under loss, by Ott, Kemperman and Mathis (The stationary behavior of
// ideal TCP congestion avoidance, 1996) for Reno, and by RFC 9438, eq. 6 for CUBIC where that is more. For estimates; the
// engine simulates every loss.
Bytes mean_window(const TcpWindow& window);

TcpWindow tcp_window(const TcpSettings& sender, const TcpSettings& receiver, Seconds rtt, Bytes mtu, double loss);

// Bytes that two kernels keep for TCP connections, over all of them: the sender's until they are acknowledged, the
// receiver's until its program reads them. Both follow what a round trip carries (Linux; a path at its rate):
//   - send buffer: twice the congestion window's segments (BBR: three times), each with the memory of its packet, a power of
//     two; at most tcp_wmem (tcp_sndbuf_expand, net/ipv4/tcp_input.c; bbr_sndbuf_expand, net/ipv4/tcp_bbr.c),
//   - receive window: the bytes of two round trips and sixteen segments; at most tcp_rmem's share (tcp_rcv_space_adjust).
struct SocketBuffers {
  Bytes sender, receiver;
};

struct Route {
  std::vector<int> links;      // indices into Network::links
  Seconds latency;             // one way, first byte
  BytesPerSecond socket_rate;  // cap of one socket; 0: no socket on the way
  // Inside a VM: the bytes pass through host memory, or another GPU's; the sender's kernel writes them and the
  // receiver's reads them.
  bool staged = false;
  bool measured = false;  // the rate already includes the kernels' time
  bool windowed = false;  // false: the window never binds on this path
  TcpWindow window;
};

class Network {
 public:
  // The platform must outlive the network, unchanged; a temporary one is kept.
  explicit Network(const Platform& platform)
      : Network(std::shared_ptr<const Platform>(std::shared_ptr<void>(), &platform)) {}
  explicit Network(Platform&& platform) : Network(std::make_shared<const Platform>(std::move(platform))) {}

  const std::vector<Link>& links() const { return *links_; }
  // The same, which also outlive the network.
  std::shared_ptr<const std::vector<Link>> shared_links() const { return links_; }
  // From GPU `from` to GPU `to`, indices into Platform::devices, which must differ; between sites by
  // sim/platform/wan_route.h. Between VMs by the NICs of number `nic`, or by the nearest to `from`. Inside a VM with
  // a described inside, through the memory of the GPU `relay`, if one is named.
  Route route(int from, int to, int nic = -1, int relay = -1) const;
  // Between two parts of a VM with a described inside: from part to part of Vm::type.inside. Without a way, the route
  // has no links.
  Route route_inside(int vm, int from, int to) const;
  // Between a GPU and its host's memory: the part nearest to it, or VmType::host_memory by its PCIe slot. The last link to
  // memory is the memory's own. Needs has_host_memory().
  Route host_route(int device, bool to_memory) const;
  // For a GPU of such a VM: its part, and the nearest part of a kind (-1: none).
  int part_of(int device) const;
  int nearest(int device, PartKind kind) const;
  // Between the memory nearest to a GPU and a drive (a part), up to the drive. The drive's own time is on its medium,
  // which reads and writes share.
  Route drive_route(int device, int drive, bool write) const;
  // The link with the drive's read rate; the next link has its write rate.
  int medium_link(int vm, int drive) const;
  // The buffers of this many connections that go this way together; empty where the way has no TCP.
  SocketBuffers socket_buffers(const Route& route, int sockets) const;
  bool share_vm(int from, int to) const;
  // Round-trip time between the VMs of two GPUs; 0 inside one VM.
  Seconds round_trip(int from, int to) const;

 private:
  explicit Network(std::shared_ptr<const Platform> kept);
  // With no other traffic, of this many connections together.
  BytesPerSecond highest_rate(const Route& route, int sockets) const;
  void add_pair(Link there, Link back);
  void add_node_links(int vm);
  void add_pair_links();
  // Between GPUs of one VM with a described inside.
  Route route_between_gpus(int from, int to) const;
  Route route_by_relay(int from, int to, int relay) const;
  // A way inside VMs of a type: links and crossings, counted from the VM's first link, and the links' latencies.
  struct Way {
    std::vector<PartHop> hops;
    std::vector<int> links;
    std::vector<Seconds> latencies;
  };
  Way way_in_type(int type, int from, int to) const;
  void append(Route& route, int vm, const Way& way) const;
  // GPU to NIC, and NIC to GPU; without a number, the NIC nearest to the source GPU. Returns false where there is no
  // way.
  bool append_to_nic(Route& route, int vm, int gpu, int& nic) const;
  bool append_from_nic(Route& route, int vm, int nic, int gpu) const;
  int wan_link(const WanHop& hop) const { return first_wan_ + 2 * hop.link + (hop.forward ? 0 : 1); }

  std::shared_ptr<const Platform> platform_;
  std::shared_ptr<std::vector<Link>> links_ = std::make_shared<std::vector<Link>>();
  WanRoutes wan_routes_;
  int first_wan_ = 0, first_nic_ = 0;
  std::map<std::pair<int, int>, int> pair_links_;  // of VMs, from and to, over links that limit each pair
  // Per VM: the first links inside it, two per link (one where half duplex), then its crossings, then its NICs' ports.
  struct NodeLinks {
    int first = 0;
    std::vector<int> forward, backward, crossing;  // index of the first direction, the other follows
    // Per link: index of the rate that kernels reach in shared host memory, forward; backward is the next. -1: not
    // shared.
    std::vector<int> staged;
    std::vector<int> medium;      // per drive
    std::vector<int> port;        // per NIC: out, in follows
    std::vector<int> gpus, nics;  // parts of the VM
  };
  std::vector<NodeLinks> nodes_;
  std::vector<int> host_memory_;  // per VM: its link; -1: part of its inside, or not known
  // Inside VMs of one type, indexed by the first such VM: the way from part to part, and the nearest part of a kind.
  const Way& way(int vm, int from, int to) const;
  int nearest_in(int vm, int from, PartKind kind) const;
  std::vector<int> types_;  // per VM
  mutable std::map<std::tuple<int, int, int>, Way> ways_inside_;
  mutable std::map<std::tuple<int, int, PartKind>, int> nearest_;
};

// Sets of GPUs: their extent (within a VM, within a site, or beyond), and their equivalence, independent of names.

// Whether these devices, at least one, are in several VMs, and at several sites.
bool spans_vms(const Platform& platform, std::span<const int> devices);
bool spans_sites(const Platform& platform, std::span<const int> devices);

class MeshKinds {
 public:
  explicit MeshKinds(const Platform& platform)
      : platform_(platform), gpu_kinds_(gpu_kinds(platform)), vm_kinds_(vm_kinds(platform)) {}

  // Equal for equivalent meshes. Inside one VM: the VM's kind with that of the GPUs, or with their places where these
  // differ. Else the GPUs themselves.
  std::vector<int> of(const std::vector<int>& mesh) const;

 private:
  const Platform& platform_;
  std::vector<int> gpu_kinds_, vm_kinds_;
};

}  // namespace slmsim
