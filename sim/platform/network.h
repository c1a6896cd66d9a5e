// What a transfer between two GPUs crosses: shared links, latency, and the limits of one TCP connection.
//
// Links are directions: a PCIe slot, a NIC and a wide-area link are two links each. Nothing here knows of
// collectives or of techniques.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/platform/platform.h"
#include "sim/platform/wan_way.h"

namespace slmsim {

struct Link {
  std::string name;  // "wan:gat->amst", "nic:gat:out", "pcie:gat/0:in"
  BytesPerSecond bandwidth;
  // Inside a node: the kind of link, the VM, the part of the data sheet's rate that it is (of both directions together
  // where half duplex), and at how many of its ends such a node's counters see the bytes (a link between two GPUs: at
  // both).
  std::string interconnect;
  int vm = -1;
  BytesPerSecond peak = {};
  int counted = 1;
  int back = -1;  // the link the other way, whose bytes wait in the same queues as answers to this one's
};

// What one TCP connection may have on its way over a path, and how its window gets there.
//
// Steady window W = min(receive window, send buffer). The receive window is the share of tcp_rmem's maximum that Linux
// leaves to payload (TcpSettings); the send buffer bounds the bytes in flight at tcp_wmem's maximum. Both in whole
// segments: one that ends beyond the window waits (tcp_snd_wnd_test, net/ipv4/tcp_output.c).
struct TcpWindow {
  Bytes initial;  // slow start begins here: 10 segments (RFC 6928), but no more than a receiver first offers
  Bytes steady;
  Seconds rtt;
  Seconds idle_limit;  // the window is halved for each such pause: RTO = RTT + 200 ms; 0 = never
  Bytes segment;
  double loss = 0;  // share of segments
  CongestionControl congestion_control = CongestionControl::kReno;
  Bytes send_buffer;
  // The sending program sleeps on a full buffer (a blocking send(), epoll); NCCL's threads poll (ncclSocketProgressOpt,
  // NCCL 2.15, src/misc/socket.cc).
  bool sender_sleeps = false;

  bool operator==(const TcpWindow&) const = default;
};

// A sender waits until it may send this share of its window, as acknowledgements do not come byte by byte; it bounds the
// number of flows per round trip.
inline constexpr double kLeastShareOfWindow = 0.25;

// What a long transfer has on its way on the mean: W, or less under loss, by Mathis et al. (CCR 27(3), 1997, eq. 3) for
// Reno, and by RFC 9438, eq. 6 for CUBIC where that is more. For estimates; the engine follows every loss.
Bytes mean_window(const TcpWindow& window);

TcpWindow tcp_window(const TcpSettings& sender, const TcpSettings& receiver, Seconds rtt, Bytes mtu, double loss);

struct Route {
  std::vector<int> links;      // indices into Network::links
  Seconds latency;             // one way, first byte
  BytesPerSecond socket_rate;  // cap of one socket; 0: no socket on the way
  // Inside a VM: the bytes pass through host memory, or another GPU's, which the sender's kernel writes and the receiver's reads.
  bool staged = false;
  bool measured = false;  // its rate has in it all that kernels take
  bool windowed = false;  // false: the window never binds on this path
  TcpWindow window;
};

class Network {
 public:
  explicit Network(const Platform& platform);

  const std::vector<Link>& links() const { return links_; }
  // From GPU `from` to GPU `to`, indices into Platform::devices; between sites by sim/platform/wan_way.h. Different GPUs
  // only. Between VMs by the NICs of this number, or by the one nearest to `from`. Inside a VM that says what is inside it by the
  // memory of the GPU `relay`, if one is named.
  Route route(int from, int to, int nic = -1, int relay = -1) const;
  // Between two parts of a VM that says what is inside it: from part to part of Vm::type.inside. Without a way there is
  // no link on it.
  Route route_inside(int vm, int from, int to) const;
  // Of a GPU of such a VM: its part, and the nearest part of a kind (-1: none).
  int part_of(int device) const;
  int nearest(int device, PartKind kind) const;
  // Between the memory nearest to a GPU and a drive (a part), up to the drive. What the drive itself takes of a transfer
  // is its medium's time, which reads and writes share.
  Route drive_route(int device, int drive, bool write) const;
  // What a drive reads per second; the next link is what it writes.
  int medium_link(int vm, int drive) const;
  bool share_vm(int from, int to) const;
  // There and back between the VMs of two GPUs; 0 inside one VM.
  Seconds round_trip(int from, int to) const;

 private:
  void add_pair(Link there, Link back);
  void add_node_links(int vm);
  // Of GPUs of one VM that says what is inside it.
  Route route_between_gpus(int from, int to) const;
  Route route_by_relay(int from, int to, int relay) const;
  // Along a way, with the crossings that it takes.
  void append(Route& route, int vm, int from, const std::vector<PartHop>& way) const;
  // GPU to NIC, and NIC to GPU; without a number, of the NIC that is the source GPU's nearest. False: no such way.
  bool append_to_nic(Route& route, int vm, int gpu, int& nic) const;
  bool append_from_nic(Route& route, int vm, int nic, int gpu) const;
  int wan_link(const WanHop& hop) const { return first_wan_ + 2 * hop.link + (hop.forward ? 0 : 1); }

  Platform platform_;
  std::vector<Link> links_;
  WanWays ways_;
  int first_wan_ = 0, first_nic_ = 0;
  // Of each VM: where the links inside it begin, two per link (one where half duplex is one), then its crossings, then its
  // NICs' ports.
  struct NodeLinks {
    std::vector<int> forward, backward, crossing;  // crossing: of the first direction, the other follows
    // Per link: what kernels that write and read host memory reach of a shared one, there; back is the next. -1: not shared.
    std::vector<int> staged;
    std::vector<int> medium;  // per drive
    std::vector<int> port;    // per NIC: out, in follows
  };
  std::vector<NodeLinks> nodes_;
  // Inside VMs of one type, by the first one of it: the way from part to part, and the part of a kind nearest to a part.
  const std::vector<PartHop>& way(int vm, int from, int to) const;
  int nearest_in(int vm, int from, PartKind kind) const;
  std::vector<int> types_;  // of each VM
  mutable std::map<std::tuple<int, int, int>, std::vector<PartHop>> ways_inside_;
  mutable std::map<std::tuple<int, int, PartKind>, int> nearest_;
};

}  // namespace slmsim
