// A cluster: GPUs in VMs, VMs at sites, sites joined by wide-area links.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/gpu.h"
#include "sim/platform/node.h"

namespace slmsim {

// Ranges of a link's values.
inline constexpr Range<Seconds> kRttRange{{1e-7}, {10.0}};
inline constexpr Range<BytesPerSecond> kNetRange{{125.0}, {1e14}};  // 1 kbps to 800 Tbps
inline constexpr Range<Bytes> kMtuRange{{576}, {65536}};
inline constexpr Range<double> kLossRange{0.0, 0.5};
inline constexpr Range<Bytes> kHostMemoryRange{{64 * kMebi}, {65536 * kGibi}};
inline constexpr Range<double> kPriceRange{0, 1e6};  // per hour

// The algorithm that sizes the send window, by Linux's names (RFC 5681, RFC 9438, BBR).
enum class CongestionControl { kReno, kCubic, kBbr };
const std::vector<std::string>& congestion_control_names();

// The TCP settings of a VM's kernel, by their sysctl names.
struct TcpSettings {
  Bytes receive_buffer;               // net.ipv4.tcp_rmem, the maximum (third value)
  Bytes send_buffer;                  // net.ipv4.tcp_wmem, the maximum
  bool slow_start_after_idle = true;  // net.ipv4.tcp_slow_start_after_idle
  // net.ipv4.tcp_congestion_control
  CongestionControl congestion_control = CongestionControl::kCubic;
  // Share of the receive buffer that Linux offers as window; the rest is bookkeeping. 1/2 before 6.6 (tcp_adv_win_scale
  // = 1, tcp(7)), from then on payload / memory of a packet, 5/8 for packets of 1500 B (measured, tests/wan).
  double receive_window_share = 0.5;
  int initial_window = 10;   // segments, RFC 6928
  BytesPerSecond copy_rate;  // rate of one CPU thread through one socket

  bool operator==(const TcpSettings&) const = default;
};

// The vendor of a VM's virtual NIC. NCCL reads the vendor of the network device to choose its number of sockets.
enum class Cloud { kOther, kAws, kGcp };

struct VmType {
  std::string name;
  std::string title;  // "Google Cloud a2-highgpu-1g"
  // Names of the GPU types that it ships with; all GPUs are of one of these; empty: any type. And their number; 0: any.
  std::vector<std::string> gpus;
  int gpu_count = 0;
  BytesPerSecond nic;              // each direction
  bool peer_to_peer = false;       // GPUs reach each other over PCIe without staging through host memory
  bool nvlink = false;             // the VM's GPUs are joined by NVLink, all to all
  double pcie_share = 1;           // share of the slot's rate for sending to another GPU and receiving at once, each
  bool says_how_gpus_meet = true;  // or the defaults apply
  Seconds device_latency;          // one GPU-to-GPU hop inside the VM
  TcpSettings tcp;
  Cloud cloud = Cloud::kOther;
  // Price of one VM with all its GPUs, per hour, in `currency` (ISO 4217); 0 for one that is owned; nothing: not
  // stated.
  std::optional<double> price_per_hour;
  std::string currency = "USD";
  bool rdma = false;  // messages between nodes go by RDMA: no sockets, no TCP
  NodeInside inside;  // empty: every GPU has a slot, and the VM one NIC
  // Without a described inside: its host's memory (0: not stated), and the rate of all of it, both directions together.
  Bytes host_memory;
  BytesPerSecond host_memory_rate;
  // Host time per launch relative to the software stacks' figures; empty: as its GPUs' profiles state.
  std::optional<double> host;

  bool operator==(const VmType&) const = default;
};

struct Vm {
  std::string name;
  int site = 0;
  VmType type;
  int first_device = 0;  // its devices are numbered first_device, first_device + 1, ...
  int device_count = 0;
  std::string entry = {};  // name in the file; VMs by `count` share one

  bool operator==(const Vm&) const = default;
};

struct Site {
  std::string name;
  Seconds rtt;  // between two VMs of the site
  Bytes mtu;
  bool transit = false;  // traffic between other sites may pass through

  bool operator==(const Site&) const = default;
};

// One direction of a wide-area link.
struct WanDirection {
  BytesPerSecond bandwidth;
  Seconds delay;      // one way
  double loss = 0.0;  // probability that a segment is lost

  bool operator==(const WanDirection&) const = default;
};

// Whose a link's bandwidth is, in each direction: all traffic's together, that of each pair of VMs (tc shapes by destination
// so), or each TCP connection's.
enum class BandwidthOf { kPath, kPair, kConnection };
const std::vector<std::string>& bandwidth_holder_names();  // "path", "pair", "connection"

struct WanLink {
  std::string name;
  int from = 0, to = 0;  // sites
  WanDirection forward, backward;
  Bytes mtu;
  bool transit = false;  // traffic may continue over other such links
  BandwidthOf bandwidth_of = BandwidthOf::kPath;

  bool operator==(const WanLink&) const = default;
};

struct Device {
  Gpu gpu;
  int vm = 0;
  std::string name;  // "gat/0"

  bool operator==(const Device&) const = default;
};

struct Platform {
  std::string name;
  std::vector<Site> sites;
  std::vector<Vm> vms;
  std::vector<WanLink> links;
  std::vector<Device> devices;

  bool operator==(const Platform&) const = default;
};

// A `tcp` map. Missing values are taken from `beneath`; without it, a missing value without a default is an error.
TcpSettings read_tcp(const Node& node, const std::string& path, Reading& reading, const TcpSettings* beneath = nullptr);
// The same for fields that may hold other keys; the caller calls done().
TcpSettings read_tcp(Fields& fields, const TcpSettings* beneath);
VmType read_vm_type(const Node& node, const std::string& path, Reading& reading);
// Whether a value of a type's file still holds for a VM, whose own `nic` and `tcp` (in `type` already) may replace it:
// stated as the VM's own it changes nothing.
bool holds(const VmType& type, const std::string& key, const std::string& value);

// Reads a platform whose references to VM types, GPUs and paths have been replaced by those files' maps. Checks every
// name, every range, and that all sites with VMs reach each other. A link's missing values are taken from its path; a
// VM's `tcp` overrides that of the path's host, which overrides its type's.
Platform read_platform(const Node& node, const std::string& path, Reading& reading);

// Indices of all devices, in order.
std::vector<int> all_devices(const Platform& platform);

// For each of these devices, the position in the list of the first one whose GPU is equal in all figures and in its
// profile. Names are ignored: a scenario may give two GPUs one name and different figures.
std::vector<int> gpu_kinds(const Platform& platform, const std::vector<int>& devices);
// The same for all devices of a platform.
std::vector<int> gpu_kinds(const Platform& platform);

// The same for VMs: for each one, the first with the same type and GPUs of the same kinds in the same order.
std::vector<int> vm_kinds(const Platform& platform);

// Whether a type's host memory is known: stated, or a part of its inside.
bool has_host_memory(const VmType& type);
// The first of these GPUs whose data sheet has no rate of this precision; nullptr where all have one.
const Gpu* gpu_without(const Platform& platform, const std::vector<int>& devices, Precision precision);
// Why nothing can be kept in a VM's host memory that is not known, and what to state.
std::string unknown_host_memory(const Vm& vm);

// The volume of a GPU; nullptr where it has none.
const Volume* volume_of(const Platform& platform, int device);

// Remarks on a platform: unstated values that results depend on, and contradictions.

// One sentence per VM type with several GPUs that does not say how they reach each other, or names a way that its GPUs
// lack, and one per GPU whose profile was measured on another variant of its chip.
std::vector<std::string> remarks_on(const Platform& platform);
// One sentence per VM type that holds other GPUs, or more, than it ships with.
std::vector<std::string> contradictions_in(const Platform& platform);

}  // namespace slmsim
