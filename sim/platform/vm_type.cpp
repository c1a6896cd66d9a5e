// Reads a file of platforms/vms: network card, slots, prices, and the TCP settings of the kernel.
#include <fmt/format.h>

#include "sim/platform/platform.h"

namespace slmsim {
namespace {

constexpr std::int64_t kMostGpusOfType = 1024;  // upper bound for any machine
constexpr Range<Bytes> kBufferRange{{4096}, {16 * kGibi}};
// Copies between GPUs over PCIe 4.0 x16 reach about 25 GB/s, over 5.0 twice that. Through host memory a GPU's kernels
// write and read at once: public all-reduces of 2 to 8 GPUs need 5.7 GB/s of 15.75 each way on PCIe 3.0 (RTX 2080 Ti,
// Titan RTX) and 11 of 31.5 on 4.0, shared by four (RTX 3090).
constexpr double kPeerShare = 0.78, kStagedShare = 0.36;

// Two channels of DDR4-3200, the least that machines with such GPUs have.
constexpr BytesPerSecond kHostMemoryRate{51.2e9};

void read_host_memory(VmType& type, Fields& fields) {
  const FileKey memory = FileKey{"host_memory", "Memory of its host, for what techniques keep there.",
                                 "not known: techniques that need it cannot run"}
                             .matters_to(Use::kHostMemory);
  if (!fields.describing() && !type.inside.empty()) {
    for (const char* key : {"host_memory", "host_memory_rate"}) {
      if (fields.has(key))
        fields.error(key, fmt::format("{} has no effect beside inside; state it there", fields.path_of(key)));
    }
    return;
  }
  if (fields.has(memory.name)) type.host_memory = fields.quantity<Bytes>(memory, kHostMemoryRange);
  type.host_memory_rate = fields.quantity<BytesPerSecond>(
      FileKey{"host_memory_rate", "Rate of that memory, all channels and both directions together."}.measured_by(
          kFit, Use::kHostMemory),
      {{1e8}, {1e13}}, kHostMemoryRate);
}

}  // namespace

TcpSettings read_tcp(Fields& fields, const TcpSettings* beneath) {
  const auto known = [&](auto TcpSettings::*member) {
    return beneath ? std::optional(beneath->*member) : std::nullopt;
  };
  const TcpSettings usual = beneath ? *beneath : TcpSettings{};
  TcpSettings tcp;
  const char* type = beneath ? "as in the VM's type" : "";
  const std::string_view program = beneath ? std::string_view() : kNetprobe;
  tcp.receive_buffer = fields.quantity<Bytes>(
      FileKey{"net.ipv4.tcp_rmem", "The kernel's receive buffer, the maximum (third value of the sysctl).", type}
          .measured_by(program),
      kBufferRange, known(&TcpSettings::receive_buffer));
  tcp.send_buffer = fields.quantity<Bytes>(
      FileKey{"net.ipv4.tcp_wmem", "The kernel's send buffer, the maximum (third value of the sysctl).", type}
          .measured_by(program),
      kBufferRange, known(&TcpSettings::send_buffer));
  tcp.slow_start_after_idle = fields.flag(
      FileKey{"net.ipv4.tcp_slow_start_after_idle", "Whether an idle connection restarts with slow start.", type}
          .measured_by(program),
      usual.slow_start_after_idle);
  tcp.congestion_control = static_cast<CongestionControl>(fields.choice(
      FileKey{"net.ipv4.tcp_congestion_control", "Congestion control, which sizes the send window.", type}.measured_by(
          program),
      congestion_control_names(), static_cast<std::size_t>(usual.congestion_control)));
  tcp.receive_window_share =
      fields.number(FileKey{"receive_window_share",
                            "Share of the receive buffer that Linux offers as window; 0.625 from Linux 6.6 on.", type}
                        .measured_by(program),
                    {0.01, 1}, usual.receive_window_share);
  tcp.initial_window = static_cast<int>(fields.integer(
      FileKey{"initial_window", "Initial window of a new connection, in segments.", type}.measured_by(program),
      {1, 1000}, usual.initial_window));
  tcp.copy_rate = fields.quantity<BytesPerSecond>(
      FileKey{"copy_rate", "Rate of one CPU thread through one socket.", type}.measured_by(program), {{1e5}, {1e12}},
      known(&TcpSettings::copy_rate));
  return tcp;
}

const std::vector<std::string>& congestion_control_names() {
  static const std::vector<std::string> kNames = {"reno", "cubic", "bbr"};
  return kNames;
}

TcpSettings read_tcp(const Node& node, const std::string& path, Reading& reading, const TcpSettings* beneath) {
  Fields fields(node, path, reading);
  const TcpSettings tcp = read_tcp(fields, beneath);
  fields.done();
  return tcp;
}

bool holds(const VmType& type, const std::string& key, const std::string& value) {
  const Node own{.kind = Node::Kind::kMap, .entries = {{key, {}, {.kind = Node::Kind::kScalar, .scalar = value}}}};
  Reading reading;
  Fields fields(own, "", reading);
  return fields.quantity<BytesPerSecond>({"nic", ""}, kNetRange, type.nic) == type.nic &&
         fields.quantity<Bytes>({"host_memory", ""}, kHostMemoryRange, type.host_memory) == type.host_memory &&
         (key != "price_per_hour" || fields.number({"price_per_hour", ""}, kPriceRange) == type.price_per_hour) &&
         read_tcp(fields, &type.tcp) == type.tcp;
}

VmType read_vm_type(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  const Owned owned = fields.owned_by(Scope::kVmType);
  VmType type;
  type.name = fields.name({"name", "Name of the type."});
  type.title = fields.text({"title", "Its full name.", "its name"}, type.name);
  for (const Node* gpu : fields.list({"gpus",
                                      "Names of the GPUs it comes with, one of them for all its GPUs. Nothing is "
                                      "computed from it; a warning appears if a VM has others.",
                                      "any"},
                                     {ValueType::name()})) {
    if (!fields.describing() && !is_name(gpu->scalar))
      reading.error(gpu->place, fmt::format("{}: the name of a GPU is expected", fields.path_of("gpus")));
    type.gpus.push_back(gpu->scalar);
  }
  type.gpu_count = static_cast<int>(
      fields.integer({"gpu_count", "Number of GPUs it comes with; a warning appears if a VM has more.", "any number"},
                     {1, kMostGpusOfType}, 0));
  type.nic = fields.quantity<BytesPerSecond>(
      FileKey{"nic", "The rate of its network card, in each direction."}.measured_by(kNetprobe), kNetRange);
  type.peer_to_peer = fields.flag(
      {"peer_to_peer", "Whether its GPUs reach each other over PCIe without staging through host memory."}, false);
  type.nvlink = fields.flag({"nvlink", "Whether its GPUs are joined by NVLink, all to all."}, false);
  type.pcie_share = fields.number(
      FileKey{"pcie_share",
              "Share of their PCIe rate that GPUs reach when each sends to one GPU and receives from one.",
              fmt::format("{} with peer_to_peer, {} through host memory", kPeerShare, kStagedShare)}
          .measured_by(type.nvlink || fields.has("inside") ? std::string_view() : kCalibrate),
      {1e-3, 1.0}, type.peer_to_peer ? kPeerShare : kStagedShare);
  type.says_how_gpus_meet =
      fields.has("peer_to_peer") || fields.has("nvlink") || fields.has("pcie_share") || fields.has("inside");
  type.device_latency = fields.quantity<Seconds>(
      FileKey{"device_latency", "One hop from GPU to GPU inside the VM."}.measured_by(kCalibrate), {{0.0}, {0.1}});
  static const std::vector<std::string> kClouds = {"other", "aws", "gcp"};
  type.cloud = static_cast<Cloud>(fields.choice(
      {"cloud", "Cloud whose virtual network card it has: on aws NCCL opens 16 sockets per channel, on gcp 4."},
      kClouds, 0));
  type.rdma = fields.flag({"rdma", "Whether messages between nodes use RDMA instead of TCP sockets."}, false);
  const FileKey price =
      FileKey{"price_per_hour", "Price of one such VM per hour, with all its GPUs; 0 if it is your own.",
              "no cost is reported"}
          .matters_to(Use::kPrice);
  if (fields.has(price.name)) type.price_per_hour = fields.number(price, kPriceRange);
  type.currency = fields.name({"currency", "Currency of price_per_hour, as a three-letter code."}, "USD");
  const FileKey host{"host",
                     "Time that its host needs to launch operators, as a factor on the software stacks' figures; "
                     "docs/measuring.md shows how to measure it.",
                     "that of its GPUs' profiles, else 1"};
  if (fields.has(host.name)) type.host = fields.number(host, kHostShare);
  if (const Node* inside = fields.child({"inside", "The parts of the node and the links between them.",
                                         "every GPU has a PCIe slot, and the VM one network card"}))
    type.inside = read_inside(*inside, fields.path_of("inside"), reading);
  read_host_memory(type, fields);
  if (const Node* tcp = fields.child({"tcp", "TCP settings of its kernel.", "required unless rdma"}, !type.rdma))
    type.tcp = read_tcp(*tcp, fields.path_of("tcp"), reading);
  fields.done();
  return type;
}

bool has_host_memory(const VmType& type) {
  return type.host_memory.value > 0 || !type.inside.of_kind(PartKind::kMemory).empty();
}

std::string unknown_host_memory(const Vm& vm) {
  return fmt::format("the host memory of {} is not known: state vms.{}.host_memory, such as 64 GiB", vm.name,
                     vm.entry.empty() ? vm.name : vm.entry);
}

}  // namespace slmsim
