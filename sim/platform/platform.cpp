#include "sim/platform/platform.h"

#include <set>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <fmt/format.h>

#include "sim/base/suggest.h"
#include "sim/platform/kernel_table.h"
#include "sim/platform/path.h"

namespace slmsim {
namespace {

constexpr Range<Bytes> kBufferRange{{4096}, {16 * kGibi}};
constexpr std::size_t kMostDevices = 8192;

constexpr Bytes kEthernetMtu{1500};
constexpr Seconds kSiteRtt{0.1e-3};

std::vector<std::string> names_of(const auto& things) {
  std::vector<std::string> out;
  for (const auto& thing : things) out.push_back(thing.name);
  return out;
}

int index_of(const auto& things, const std::string& name) {
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (things[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

TcpSettings read_settings(Fields& fields, const TcpSettings* beneath) {
  const auto known = [&](auto TcpSettings::*member) {
    return beneath ? std::optional(beneath->*member) : std::nullopt;
  };
  const TcpSettings usual = beneath ? *beneath : TcpSettings{};
  TcpSettings tcp;
  tcp.receive_buffer = fields.quantity<Bytes>("net.ipv4.tcp_rmem", kBufferRange, known(&TcpSettings::receive_buffer));
  tcp.send_buffer = fields.quantity<Bytes>("net.ipv4.tcp_wmem", kBufferRange, known(&TcpSettings::send_buffer));
  tcp.slow_start_after_idle = fields.flag("net.ipv4.tcp_slow_start_after_idle", usual.slow_start_after_idle);
  tcp.congestion_control =
      static_cast<CongestionControl>(fields.choice("net.ipv4.tcp_congestion_control", congestion_control_names(),
                                                   static_cast<std::size_t>(usual.congestion_control)));
  tcp.receive_window_share = fields.number("receive_window_share", {0.01, 1}, usual.receive_window_share);
  tcp.initial_window = static_cast<int>(fields.integer("initial_window", {1, 1000}, usual.initial_window));
  tcp.copy_rate = fields.quantity<BytesPerSecond>("copy_rate", {{1e5}, {1e12}}, known(&TcpSettings::copy_rate));
  return tcp;
}

class PlatformReader {
 public:
  PlatformReader(const Node& node, std::string path, Reading& reading)
      : fields_(node, std::move(path), reading), reading_(reading), place_(node.place) {}

  Platform read() {
    platform_.name = fields_.name("name");
    fields_.text("description", "");
    read_profiles();
    each("sites", true, [&](const Entry& entry, Fields& f) { read_site(entry, f); });
    each("vms", true, [&](const Entry& entry, Fields& f) { read_vm(entry, f); });
    each("links", false, [&](const Entry& entry, Fields& f) { read_link(entry, f); });
    fields_.done();
    if (reading_.errors.empty()) check_connected();
    return std::move(platform_);
  }

 private:
  template <class Read>
  void each(const std::string& key, bool required, Read read) {
    const Node* map = fields_.child(key, required);
    if (!map) return;
    const std::string path = fields_.path_of(key);
    if (map->kind != Node::Kind::kMap) {
      reading_.error(map->place, fmt::format("{} is {}; a map of names is expected", path, kind_name(map->kind)));
      return;
    }
    if (required && map->entries.empty())
      reading_.error(map->place, fmt::format("{} is empty; name at least one", path));
    for (const auto& entry : map->entries) {
      if (!is_name(entry.key)) {
        reading_.error(entry.place, fmt::format("\"{}\" is not a name; letters, digits, '-', '_' and '.' make one",
                                                entry.key.substr(0, 64)));
      }
      Fields fields(entry.value, path + "." + entry.key, reading_);
      read(entry, fields);
      fields.done();
    }
  }

  // Where the linker puts the profiles that GPUs name: by their files, which are no names.
  void read_profiles() {
    const Node* map = fields_.child("profiles");
    if (!map) return;
    if (map->kind != Node::Kind::kMap) {
      reading_.error(map->place, fmt::format("{} is {}; a map of names is expected", fields_.path_of("profiles"),
                                             kind_name(map->kind)));
      return;
    }
    for (const auto& entry : map->entries) {
      const std::string path = fields_.path_of("profiles") + "." + entry.key;
      profiles_.add(entry.key, read_profile(entry.value, path, reading_));
    }
  }

  void read_site(const Entry& entry, Fields& fields) {
    platform_.sites.push_back({entry.key, fields.quantity<Seconds>("rtt", kRttRange, kSiteRtt),
                               fields.quantity<Bytes>("mtu", kMtuRange, kEthernetMtu)});
  }

  int site(Fields& fields, const std::string& key, const Node* node) {
    if (!node) return 0;
    const int index = index_of(platform_.sites, node->scalar);
    if (index >= 0 || platform_.sites.empty()) return index < 0 ? 0 : index;  // without sites the error is theirs
    reading_.error(node->place,
                   fmt::format("{}: there is no site \"{}\"; {}", fields.path_of(key), node->scalar.substr(0, 64),
                               did_you_mean(node->scalar, names_of(platform_.sites))));
    return 0;
  }

  void read_vm(const Entry& entry, Fields& fields) {
    Vm vm;
    vm.name = entry.key;
    vm.site = site(fields, "site", fields.child("site", true));
    if (const Node* type = fields.child("type", true)) vm.type = read_vm_type(*type, fields.path_of("type"), reading_);
    if (const Node* tcp = fields.child("tcp")) vm.type.tcp = read_vm_tcp(*tcp, fields.path_of("tcp"), vm.type.tcp);
    const auto gpus = fields.list("gpus");
    if (gpus.empty() && !fields.has("gpus") && fields.is_map())
      fields.error("gpus", fields.path_of("gpus") + " is missing; list the VM's GPUs");
    vm.first_device = static_cast<int>(platform_.devices.size());
    vm.device_count = static_cast<int>(gpus.size());
    if (platform_.devices.size() + gpus.size() > kMostDevices) {
      fields.error("gpus", fmt::format("more than {} GPUs; that is beyond this simulator", kMostDevices));
      return;
    }
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const std::string path = fmt::format("{}.{}", fields.path_of("gpus"), i);
      platform_.devices.push_back({read_gpu(*gpus[i], path, reading_, &profiles_),
                                   static_cast<int>(platform_.vms.size()), fmt::format("{}/{}", vm.name, i)});
    }
    read_vm_inside(vm, fields);
    platform_.vms.push_back(std::move(vm));
  }

  void read_vm_inside(Vm& vm, Fields& fields) {
    if (const Node* storage = fields.child("storage"))
      read_storage(*storage, fields.path_of("storage"), reading_, vm.type.inside);
    const auto slots = vm.type.inside.of_kind(PartKind::kGpu).size();
    if (vm.type.inside.empty() || slots == static_cast<std::size_t>(vm.device_count)) return;
    fields.error("gpus", fmt::format("{} has {} GPUs, its type's inside has {}; they must be as many",
                                     fields.path_of("gpus"), vm.device_count, slots));
  }

  // {path: NAME, host: client} and the keys of a VM type's tcp, which hold over the host's.
  TcpSettings read_vm_tcp(const Node& node, const std::string& path, TcpSettings tcp) {
    Fields fields(node, path, reading_);
    if (const Node* measured = fields.child("path")) {
      static const std::vector<std::string> kHosts = {"client", "server"};
      const std::size_t errors = reading_.errors.size();
      const std::string& host = kHosts[fields.choice("host", kHosts)];
      const Node* its = measured->find(host);
      if (measured->kind != Node::Kind::kMap) {
        fields.error("path", fmt::format("{} is {}; a path's name or file is expected", fields.path_of("path"),
                                         kind_name(measured->kind)));
      } else if (its && its->find("tcp")) {
        tcp = read_tcp(*its->find("tcp"), fmt::format("{}.{}.tcp", fields.path_of("path"), host), reading_, &tcp);
      } else if (reading_.errors.size() == errors) {
        fields.error("host",
                     fmt::format("{} does not tell the kernel settings of its {}", fields.path_of("path"), host));
      }
    }
    tcp = read_settings(fields, &tcp);
    fields.done();
    return tcp;
  }

  void read_link(const Entry& entry, Fields& fields) {
    WanLink link;
    link.name = entry.key;
    const auto ends = fields.list("between");
    if (ends.size() == 2) {
      link.from = site(fields, "between", ends[0]);
      link.to = site(fields, "between", ends[1]);
      if (ends[0]->scalar == ends[1]->scalar)
        fields.error("between", fields.path_of("between") + " names one site twice; a link joins two sites");
    } else {
      fields.error("between", fields.path_of("between") + " must name two sites, e.g. between: [gat, amst]");
    }
    const Node* named = fields.child("path");
    const auto measured = named ? std::optional(read_path(*named, fields.path_of("path"), reading_)) : std::nullopt;
    if (measured && !measured->rtt && !fields.has("rtt")) {
      fields.error("path",
                   fmt::format("{} tells no round trip; state {}", fields.path_of("path"), fields.path_of("rtt")));
    }
    const auto known_rtt = measured ? std::optional(measured->rtt.value_or(kRttRange.low)) : std::nullopt;
    const Seconds rtt = fields.quantity<Seconds>("rtt", kRttRange, known_rtt);
    const Seconds delay = fields.quantity<Seconds>("forward_delay", {{0.0}, {10.0}}, rtt / 2);
    if (delay > rtt)
      fields.error("forward_delay",
                   fields.path_of("forward_delay") + " is longer than the round trip; it is a part of rtt");
    link.mtu = fields.quantity<Bytes>("mtu", kMtuRange, measured ? measured->mtu.value_or(kEthernetMtu) : kEthernetMtu);
    const auto known_rate = measured ? std::optional(measured->forward.bandwidth) : std::nullopt;
    link.forward = {fields.quantity<BytesPerSecond>("bandwidth", kNetRange, known_rate), delay,
                    fields.number("loss", kLossRange, measured ? measured->forward.loss : 0.0)};
    link.backward = {link.forward.bandwidth, rtt - delay, link.forward.loss};
    // What the link states holds for both directions.
    if (measured && !fields.has("bandwidth")) link.backward.bandwidth = measured->backward.bandwidth;
    if (measured && !fields.has("loss")) link.backward.loss = measured->backward.loss;
    if (const Node* reverse = fields.child("reverse")) {
      Fields back(*reverse, fields.path_of("reverse"), reading_);
      link.backward.bandwidth = back.quantity<BytesPerSecond>("bandwidth", kNetRange, link.backward.bandwidth);
      link.backward.loss = back.number("loss", kLossRange, link.backward.loss);
      back.done();
    }
    platform_.links.push_back(std::move(link));
  }

  void check_connected() {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(platform_.sites.size());
    for (const auto& link : platform_.links)
      boost::add_edge(static_cast<std::size_t>(link.from), static_cast<std::size_t>(link.to), graph);
    std::vector<int> part(platform_.sites.size());
    boost::connected_components(graph, part.data());
    const Vm& first = platform_.vms.front();
    for (const auto& vm : platform_.vms) {
      if (part[static_cast<std::size_t>(vm.site)] == part[static_cast<std::size_t>(first.site)]) continue;
      reading_.error(place_, fmt::format("no link leads from {} (site {}) to {} (site {}); add one under links",
                                         first.name, platform_.sites[static_cast<std::size_t>(first.site)].name,
                                         vm.name, platform_.sites[static_cast<std::size_t>(vm.site)].name));
    }
  }

  Fields fields_;
  Reading& reading_;
  Place place_;
  Platform platform_;
  Profiles profiles_;
};

}  // namespace

const std::vector<std::string>& congestion_control_names() {
  static const std::vector<std::string> kNames = {"reno", "cubic", "bbr"};
  return kNames;
}

TcpSettings read_tcp(const Node& node, const std::string& path, Reading& reading, const TcpSettings* beneath) {
  Fields fields(node, path, reading);
  const TcpSettings tcp = read_settings(fields, beneath);
  fields.done();
  return tcp;
}

VmType read_vm_type(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  VmType type;
  type.name = fields.name("name");
  type.nic = fields.quantity<BytesPerSecond>("nic", kNetRange);
  type.peer_to_peer = fields.flag("peer_to_peer", false);
  type.nvlink = fields.flag("nvlink", false);
  type.device_latency = fields.quantity<Seconds>("device_latency", {{0.0}, {0.1}});
  static const std::vector<std::string> kClouds = {"other", "aws", "gcp"};
  type.cloud = static_cast<Cloud>(fields.choice("cloud", kClouds, 0));
  type.rdma = fields.flag("rdma", false);
  if (const Node* inside = fields.child("inside"))
    type.inside = read_inside(*inside, fields.path_of("inside"), reading);
  if (const Node* tcp = fields.child("tcp", !type.rdma)) type.tcp = read_tcp(*tcp, fields.path_of("tcp"), reading);
  fields.done();
  return type;
}

Platform read_platform(const Node& node, const std::string& path, Reading& reading) {
  return PlatformReader(node, path, reading).read();
}

}  // namespace slmsim
