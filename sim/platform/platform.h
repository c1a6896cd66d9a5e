// A cluster: GPUs in VMs, VMs at sites, sites joined by wide-area links.
#pragma once

#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// The TCP settings of a VM's kernel, by the names sysctl knows.
struct TcpSettings {
  Bytes receive_buffer;               // net.ipv4.tcp_rmem, the maximum (third value)
  Bytes send_buffer;                  // net.ipv4.tcp_wmem, the maximum
  bool slow_start_after_idle = true;  // net.ipv4.tcp_slow_start_after_idle
  int initial_window = 10;            // segments, RFC 6928
  BytesPerSecond copy_rate;           // what one CPU thread moves through one socket
};

// Whose virtual NIC a VM has. NCCL reads the vendor of the network device to choose its number of sockets.
enum class Cloud { kOther, kAws, kGcp };

struct VmType {
  std::string name;
  BytesPerSecond nic;         // each direction
  bool peer_to_peer = false;  // GPUs reach each other over PCIe without staging through host memory
  bool nvlink = false;        // the VM's GPUs are joined by NVLink, all to all
  Seconds device_latency;     // one GPU-to-GPU hop inside the VM
  TcpSettings tcp;
  Cloud cloud = Cloud::kOther;
};

struct Vm {
  std::string name;
  int site = 0;
  VmType type;
  int first_device = 0;  // its devices are numbered first_device, first_device + 1, ...
  int device_count = 0;
};

struct Site {
  std::string name;
  Seconds rtt;  // between two VMs of the site
  Bytes mtu;
};

// One direction of a wide-area link.
struct WanDirection {
  BytesPerSecond bandwidth;
  Seconds delay;      // one way
  double loss = 0.0;  // probability that a segment is lost
};

struct WanLink {
  std::string name;
  int from = 0, to = 0;  // sites
  WanDirection forward, backward;
  Bytes mtu;
};

struct Device {
  Gpu gpu;
  int vm = 0;
  std::string name;  // "gat/0"
};

struct Platform {
  std::string name;
  std::vector<Site> sites;
  std::vector<Vm> vms;
  std::vector<WanLink> links;
  std::vector<Device> devices;
};

VmType read_vm_type(const Node& node, const std::string& path, Reading& reading);

// Reads a platform whose references to VM types and GPUs have been replaced by those files' maps. Checks
// every name, every range, and that all sites with VMs reach each other.
Platform read_platform(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
