#include "sim/platform/platform.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/platform/path.h"
#include "sim/platform/wan_route.h"

namespace slmsim {
namespace {

constexpr std::int64_t kMostDevices = 32'000;  // a Platform holds some kB per device

constexpr Bytes kEthernetMtu{1500};
constexpr Seconds kSiteRtt{0.1e-3};
constexpr const char* kByPath = "the path's; required without one";

std::vector<std::string> names_of(const auto& things) {
  std::vector<std::string> out;
  out.reserve(things.size());
  for (const auto& thing : things) out.push_back(thing.name);
  return out;
}

int index_of(const auto& things, const std::string& name) {
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (things[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// Index of the first equal element, for each element.
std::vector<int> first_equal(std::size_t count, const auto& are_equal) {
  std::vector<int> out;
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto same = std::ranges::find_if(firsts, [&](std::size_t first) { return are_equal(first, i); });
    out.push_back(static_cast<int>(same == firsts.end() ? firsts.emplace_back(i) : *same));
  }
  return out;
}

class PlatformReader {
 public:
  PlatformReader(const Node& node, std::string path, Reading& reading)
      : fields_(node, std::move(path), reading), reading_(reading), place_(node.place) {}

  Platform read() {
    platform_.name = fields_.name({"name", "Name of the platform in results."});
    fields_.text({"description", "Description in one line."}, "");
    read_profiles();
    each_of_some(
        {"sites",
         "Sites, by names of your choice; VMs of one site reach each other directly, those of two sites over links."},
        [&](const Entry& entry, Fields& f) { read_site(entry, f); });
    each_of_some({"vms", "Virtual machines or nodes with GPUs, by names of your choice."},
                 [&](const Entry& entry, Fields& f) { read_vm(entry, f); });
    fields_.each({"links", "Wide-area links between sites, by names of your choice."}, false,
                 [&](const Entry& entry, Fields& f) { read_link(entry, f); });
    fields_.done();
    check_currencies();
    if (reading_.errors.empty() && !reading_.describing()) {
      for (auto& problem : missing_routes(platform_)) reading_.error(place_, std::move(problem));
    }
    return std::move(platform_);
  }

 private:
  template <class Read>
  void each_of_some(const FileKey& key, Read read) {
    if (fields_.each(key, true, read) == 0)
      fields_.error(key.name, fmt::format("{} is empty; name at least one", fields_.path_of(key.name)));
  }

  // Reads the profiles that GPUs name; the linker stores them by file, since their keys are not names.
  void read_profiles() {
    const Node* map = fields_.child(
        {"profiles", "Measured profiles that GPUs name, by their files; filled in by the program.", "none"});
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
    const Owned owned = fields.owned_by(Scope::kSite, entry.key);
    platform_.sites.push_back(
        {entry.key,
         fields.quantity<Seconds>(FileKey{"rtt", "Round trip between two VMs of the site."}.measured_by(kNetprobe),
                                  kRttRange, kSiteRtt),
         fields.quantity<Bytes>(
             FileKey{"mtu", "Largest packet of its hosts.", "its links' largest, else 1500 B"}.measured_by(kNetprobe),
             kMtuRange, kEthernetMtu),
         fields.flag({"transit", "Whether the site forwards traffic between other sites that have no direct link."},
                     false)});
    mtu_paths_.push_back(fields.has("mtu") ? "" : fields.path_of("mtu"));
  }

  // A link's packets are no larger than those of the hosts at its ends; hosts that state no limit have the link's.
  void fit_mtu(Fields& fields, std::size_t site, Bytes mtu) {
    Site& end = platform_.sites[site];
    if (mtu <= end.mtu) return;
    if (mtu_paths_[site].empty()) {
      if (fields.has("mtu"))
        fields.error("mtu", fmt::format("{} has no effect: the hosts of {} have {:.0f} B; state the same MTU there",
                                        fields.path_of("mtu"), end.name, end.mtu.value));
      return;
    }
    end.mtu = mtu;
    for (Parameter& unstated : reading_.defaults)
      if (unstated.path == mtu_paths_[site]) unstated.value = fmt::format("{:.0f} B", mtu.value);
  }

  int site(Fields& fields, const std::string& key, const Node* node) {
    if (!node) return 0;
    const int index = index_of(platform_.sites, node->scalar);
    if (index >= 0 || platform_.sites.empty()) return index < 0 ? 0 : index;  // the error is reported for the sites
    reading_.error(node->place,
                   fmt::format("{}: there is no site \"{}\"; {}", fields.path_of(key), node->scalar.substr(0, 64),
                               did_you_mean(node->scalar, names_of(platform_.sites))));
    return 0;
  }

  void read_vm(const Entry& entry, Fields& fields) {
    const Owned owned = fields.owned_by(Scope::kVm, entry.key);
    Vm vm;
    vm.name = vm.entry = entry.key;
    vm.site = site(fields, "site", fields.child({"site", "Site of the VM."}, ValueType::name(), true));
    if (const Node* type = fields.file({"type", "VM type."}, kVmFile, true))
      vm.type = read_vm_type(*type, fields.path_of("type"), reading_);
    vm.type.nic = fields.quantity<BytesPerSecond>(
        {"nic", "The rate of its network card, in each direction; overrides its type's.", "its type's"}, kNetRange,
        vm.type.nic);
    const FileKey memory =
        FileKey{"host_memory", "Memory of its host; overrides its type's.", "its type's"}.matters_to(Use::kHostMemory);
    if (fields.has(memory.name)) vm.type.host_memory = fields.quantity<Bytes>(memory, kHostMemoryRange);
    if (fields.has(memory.name) && !vm.type.inside.empty())
      fields.error(memory.name, fmt::format("{} has no effect: its type states the inside, with its memories",
                                            fields.path_of(memory.name)));
    const FileKey price =
        FileKey{"price_per_hour", "Price per hour with all its GPUs; overrides its type's.", "its type's"}.matters_to(
            Use::kPrice);
    if (fields.has(price.name)) vm.type.price_per_hour = fields.number(price, kPriceRange);
    if (const Node* tcp = fields.child({"tcp", "TCP settings that override those of its type.", "its type's"}))
      vm.type.tcp = read_vm_tcp(*tcp, fields.path_of("tcp"), vm.type.tcp);
    const auto gpus = fields.list({"gpus", "Its GPUs, one entry each; GPU 0 of VM gat is called gat/0."},
                                  {ValueType::of_file(kGpuFile)}, {1, static_cast<std::size_t>(kMostDevices)});
    if (gpus.empty() && !fields.has("gpus") && fields.is_map())
      fields.error("gpus", fields.path_of("gpus") + " is missing; list the VM's GPUs");
    const bool several = fields.has("count");
    const auto count = static_cast<std::size_t>(fields.integer(
        {"count", "Number of equal VMs; those of node are called node0, node1, ...", "one, of this name"},
        {1, kMostDevices}, 1));
    const std::size_t before = platform_.devices.size(), devices = before + gpus.size() * count;
    if (devices > static_cast<std::size_t>(kMostDevices)) {
      fields.error("gpus", fmt::format("more than {} GPUs; that is beyond this simulator", kMostDevices));
      return;
    }
    vm.device_count = static_cast<int>(gpus.size());
    std::vector<Gpu> read;
    for (std::size_t i = 0; i < gpus.size(); ++i)
      read.push_back(read_gpu(*gpus[i], fmt::format("{}.{}", fields.path_of("gpus"), i), reading_, &profiles_));
    for (Gpu& gpu : read) gpu.host = vm.type.host.value_or(gpu.host);
    read_power_limit(read, fields);
    read_vm_inside(vm, fields);
    for (std::size_t i = 0; i < count; ++i) {
      vm.name = several ? fmt::format("{}{}", entry.key, i) : entry.key;
      if (!names_.insert(vm.name).second && !fields.describing()) {
        fields.error("count", fmt::format("two VMs are named \"{}\"; names must differ", vm.name));
        return;
      }
      vm.first_device = static_cast<int>(platform_.devices.size());
      for (std::size_t g = 0; g < gpus.size(); ++g)
        platform_.devices.push_back(
            {read[g], static_cast<int>(platform_.vms.size()), fmt::format("{}/{}", vm.name, g)});
      platform_.vms.push_back(vm);
    }
  }

  void read_power_limit(std::vector<Gpu>& gpus, Fields& fields) {
    const FileKey key{"power_limit",
                      "Power limit of each of its GPUs, if below its board's (nvidia-smi --power-limit); it lowers the "
                      "clock of products.",
                      "the limit of their boards"};
    if (!fields.has(key.name)) return;
    const std::size_t errors = reading_.errors.size();
    const Watts limit = fields.quantity<Watts>(key, {{1}, {1e5}});
    if (reading_.errors.size() > errors) return;
    for (Gpu& gpu : gpus) {
      const Watts board = gpu.board_power;
      const std::string what = fmt::format("{} is {}", fields.path_of(key.name), to_text(limit));
      if (board.value <= 0)
        return fields.error(
            key.name, fmt::format("{}, but {} states no board_power to compare it with; state that of its data sheet",
                                  what, gpu.name));
      if (limit.value > board.value || limit.value < kLeastLimit * board.value)
        return fields.error(
            key.name, fmt::format("{}, but the board of {} may draw {}; a limit between {} and that is expected", what,
                                  gpu.name, to_text(board), to_text(Watts{std::ceil(kLeastLimit * board.value)})));
      limit_power(gpu, limit);
    }
  }

  void read_vm_inside(Vm& vm, Fields& fields) {
    if (const Node* storage =
            fields.child({"storage", "Drives and their volumes; the VM's type must state its inside.", "no drives"}))
      read_storage(*storage, fields.path_of("storage"), reading_, vm.type.inside);
    const auto slots = vm.type.inside.of_kind(PartKind::kGpu).size();
    if (vm.type.inside.empty() || slots == static_cast<std::size_t>(vm.device_count)) return;
    fields.error("gpus", fmt::format("{} has {} GPUs, its type's inside has {}; the counts must match",
                                     fields.path_of("gpus"), vm.device_count, slots));
  }

  // {path: NAME, host: client} and the keys of a VM type's tcp, which override the host's.
  TcpSettings read_vm_tcp(const Node& node, const std::string& path, TcpSettings tcp) {
    Fields fields(node, path, reading_);
    if (const Node* measured =
            fields.file({"path", "A measured path; this VM has the kernel settings of one of its hosts."}, kPathFile)) {
      static const std::vector<std::string> kHosts = {"client", "server"};
      const std::size_t errors = reading_.errors.size();
      const std::string& host =
          kHosts[fields.choice({"host", "Host of the path whose settings this VM has.", "required with path"}, kHosts)];
      const Node* its = measured->find(host);
      if (measured->kind != Node::Kind::kMap) {
        fields.error("path", fmt::format("{} is {}; a path's name or file is expected", fields.path_of("path"),
                                         kind_name(measured->kind)));
      } else if (its && its->find("tcp")) {
        tcp = read_tcp(*its->find("tcp"), fmt::format("{}.{}.tcp", fields.path_of("path"), host), reading_, &tcp);
      } else if (reading_.errors.size() == errors) {
        fields.error("host", fmt::format("{} has no kernel settings of its {}", fields.path_of("path"), host));
      }
    }
    tcp = read_tcp(fields, &tcp);
    fields.done();
    return tcp;
  }

  void read_link(const Entry& entry, Fields& fields) {
    const Owned owned = fields.owned_by(Scope::kLink, entry.key);
    WanLink link;
    link.name = entry.key;
    const auto ends = fields.list({"between", "The two sites that it joins; a path's client is at the first one."},
                                  {ValueType::name()}, {2, 2});
    if (ends.size() == 2) {
      link.from = site(fields, "between", ends[0]);
      link.to = site(fields, "between", ends[1]);
      if (ends[0]->scalar == ends[1]->scalar)
        fields.error("between", fields.path_of("between") + " names one site twice; a link joins two sites");
    } else {
      fields.error("between", fields.path_of("between") + " must name two sites, e.g. between: [gat, amst]");
    }
    const Node* named =
        fields.file({"path", "A measured path; it supplies the values that the link does not state."}, kPathFile);
    const auto measured = named ? std::optional(read_path(*named, fields.path_of("path"), reading_)) : std::nullopt;
    if (measured && !measured->rtt && !fields.has("rtt")) {
      fields.error("path",
                   fmt::format("{} states no round trip; state {}", fields.path_of("path"), fields.path_of("rtt")));
    }
    const std::string_view probe = measured ? std::string_view() : kNetprobe;
    const auto known_rtt = measured ? std::optional(measured->rtt.value_or(kRttRange.low)) : std::nullopt;
    const Seconds rtt = fields.quantity<Seconds>(
        FileKey{"rtt", "Round trip from one site to the other and back.", kByPath}.measured_by(probe), kRttRange,
        known_rtt);
    const Seconds delay = fields.quantity<Seconds>(
        {"forward_delay", "The part of the round trip from the first site to the second.", "rtt / 2"}, {{0.0}, {10.0}},
        rtt / 2);
    constexpr double kRounding = 1e-12;  // the same time in two units
    if (delay > rtt * (1 + kRounding))
      fields.error("forward_delay",
                   fields.path_of("forward_delay") + " is longer than the round trip; it is a part of rtt");
    link.mtu =
        fields.quantity<Bytes>(FileKey{"mtu", "Largest packet on the link.", "the path's, else 1500 B"}.measured_by(
                                   measured && measured->mtu ? std::string_view() : kNetprobe),
                               kMtuRange, measured ? measured->mtu.value_or(kEthernetMtu) : kEthernetMtu);
    if (fields.has("mtu") || (measured && measured->mtu)) {
      for (const int end : {link.from, link.to}) {
        if (static_cast<std::size_t>(end) < mtu_paths_.size()) fit_mtu(fields, static_cast<std::size_t>(end), link.mtu);
      }
    }
    const auto known_rate = measured ? std::optional(measured->forward.bandwidth) : std::nullopt;
    link.forward = {
        fields.quantity<BytesPerSecond>(FileKey{"bandwidth", "The rate of each direction.", kByPath}.measured_by(probe),
                                        kNetRange, known_rate),
        delay,
        fields.number(
            FileKey{"loss", "Share of segments that get lost, in each direction.", "the path's, else 0"}.measured_by(
                probe),
            kLossRange, measured ? measured->forward.loss : 0.0)};
    link.backward = {link.forward.bandwidth, std::max(Seconds{0}, rtt - delay), link.forward.loss};
    // Values that the link states apply to both directions.
    if (measured && !fields.has("bandwidth")) link.backward.bandwidth = measured->backward.bandwidth;
    if (measured && !fields.has("loss")) link.backward.loss = measured->backward.loss;
    fields.inside(
        {"reverse", "Direction from the second site to the first, if it differs.", "as forward"}, [&](Fields& back) {
          link.backward.bandwidth = back.quantity<BytesPerSecond>(
              {"bandwidth", "The rate of the way back.", "as forward"}, kNetRange, link.backward.bandwidth);
          link.backward.loss = back.number({"loss", "Share of segments that get lost on the way back.", "as forward"},
                                           kLossRange, link.backward.loss);
        });
    link.bandwidth_of = static_cast<BandwidthOf>(fields.choice(
        FileKey{
            "bandwidth_of",
            "path: all traffic of a direction shares the bandwidth; pair: each two VMs have it, as with tc's rates by "
            "destination; connection: each TCP connection has it, as where a cloud limits each flow."}
            .measured_by(probe),
        bandwidth_holder_names(), 0));
    link.transit = fields.flag({"transit",
                                "Whether the link also carries traffic of other pairs of sites that no link joins, "
                                "together with further transit links."},
                               false);
    platform_.links.push_back(std::move(link));
  }

  void check_currencies() {
    const Vm* first = nullptr;
    for (const auto& vm : platform_.vms) {
      if (!vm.type.price_per_hour) continue;
      if (!first) first = &vm;
      if (vm.type.currency == first->type.currency) continue;
      reading_.error(place_, fmt::format("{} is priced in {} and {} in {}; state all prices in one currency",
                                         first->name, first->type.currency, vm.name, vm.type.currency));
    }
  }

  Fields fields_;
  Reading& reading_;
  Place place_;
  Platform platform_;
  std::set<std::string> names_;         // of VMs
  std::vector<std::string> mtu_paths_;  // of sites that state no MTU
  Profiles profiles_;
};

}  // namespace

const std::vector<std::string>& bandwidth_holder_names() {
  static const std::vector<std::string> kNames = {"path", "pair", "connection"};
  return kNames;
}

Platform read_platform(const Node& node, const std::string& path, Reading& reading) {
  return PlatformReader(node, path, reading).read();
}

std::vector<int> gpu_kinds(const Platform& platform, const std::vector<int>& devices) {
  const auto gpu = [&](std::size_t at) -> const Gpu& { return platform.devices[devices[at]].gpu; };
  return first_equal(devices.size(), [&](std::size_t a, std::size_t b) { return gpu(a) == gpu(b); });
}

std::vector<int> all_devices(const Platform& platform) {
  std::vector<int> all(platform.devices.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> gpu_kinds(const Platform& platform) { return gpu_kinds(platform, all_devices(platform)); }

std::vector<int> vm_kinds(const Platform& platform) {
  const std::vector<int> gpus = gpu_kinds(platform);
  return first_equal(platform.vms.size(), [&](std::size_t a, std::size_t b) {
    const Vm &x = platform.vms[a], &y = platform.vms[b];
    const auto first = gpus.begin() + x.first_device, second = gpus.begin() + y.first_device;
    return x.type == y.type && x.device_count == y.device_count && std::equal(first, first + x.device_count, second);
  });
}

const Gpu* gpu_without(const Platform& platform, const std::vector<int>& devices, Precision precision) {
  const auto lacks = [&](int at) {
    return platform.devices[at].gpu.peak[static_cast<std::size_t>(precision)].value <= 0;
  };
  const auto found = std::ranges::find_if(devices, lacks);
  return found == devices.end() ? nullptr : &platform.devices[*found].gpu;
}

const Volume* volume_of(const Platform& platform, int device) {
  const Vm& vm = platform.vms[platform.devices[device].vm];
  for (const Volume& volume : vm.type.inside.volumes) {
    const int slot = device - vm.first_device;
    if (std::ranges::find(volume.gpus, slot) != volume.gpus.end()) return &volume;
  }
  return nullptr;
}

}  // namespace slmsim
