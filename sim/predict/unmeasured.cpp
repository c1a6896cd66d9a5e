#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/compute/kernel.h"
#include "sim/compute/profile_time.h"
#include "sim/platform/kernel_table.h"
#include "sim/predict/assumption.h"

namespace slmsim {
namespace {

using Bears = Assumption::Bears;

// Open values of one VM type, site, link or section of the scenario that one program measures.
struct Unmeasured {
  Assumption told;
  std::vector<std::string> values, defaults;  // stated, but not measured; not stated
  int kernels = 0;                            // with typical traffic: a set of many figures
};

constexpr std::string_view kStack = "software.stack.", kKernels = "software.stack.kernels.",
                           kOwnKernels = "software.kernels.";

// Whether a GPU's profile replaces a key of `software`, so that the key has no effect on it. A share of the bandwidth and a
// launch apply to every kernel without a measured time.
bool is_timed(const std::string& key, const Gpu& gpu, const Scenario& scenario) {
  if (!gpu.kernels) return false;
  const Precision precision = scenario.training.precision;
  const bool others = gpu.kernels->knows_others();
  if (key == "software.memory_efficiency" || key == "software.kernel_launch")
    return others && gpu.kernels->knows_products();
  if (key == "software.stack.adam") return was_timed(gpu, precision, scenario.software.adam_kernel);
  if (key.find(".flash.") != std::string::npos) return was_timed(gpu, precision, "flash-forward");
  const bool own = key.starts_with(kOwnKernels);
  if (!own && !key.starts_with(kKernels)) return false;
  const std::string kernel = key.substr(own ? kOwnKernels.size() : kKernels.size());
  const auto& names = kernel_part_names();
  const auto part = static_cast<KernelPart>(std::find(names.begin(), names.end(), kernel) - names.begin());
  return others && (!differs_by_stack(part) || was_timed(gpu, precision, kernel + "-forward"));
}

bool add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) != list.end()) return false;
  list.push_back(text);
  return true;
}

// Whether the VM still has the value of its type: its own `nic` and `tcp` override it.
bool holds(const Vm& vm, const std::string& key, const std::string& value) {
  const auto is = [&](double now, Dimension dimension) {
    const auto parsed = parse_quantity(value, dimension);
    return !parsed.problem.empty() || parsed.value == now;
  };
  const TcpSettings& tcp = vm.type.tcp;
  if (key == "nic") return is(vm.type.nic.value, Dimension::kDataRate);
  if (key == "tcp.copy_rate") return is(tcp.copy_rate.value, Dimension::kDataRate);
  if (key == "tcp.net.ipv4.tcp_rmem") return is(tcp.receive_buffer.value, Dimension::kData);
  if (key == "tcp.net.ipv4.tcp_wmem") return is(tcp.send_buffer.value, Dimension::kData);
  if (key == "tcp.receive_window_share") return parse_number(value) == tcp.receive_window_share;
  if (key == "tcp.initial_window") return parse_number(value) == tcp.initial_window;
  if (key == "tcp.net.ipv4.tcp_slow_start_after_idle") return (value == "yes") == tcp.slow_start_after_idle;
  if (key == "tcp.net.ipv4.tcp_congestion_control")
    return value == congestion_control_names()[static_cast<std::size_t>(tcp.congestion_control)];
  return true;
}

// The part of a path behind a name: "type.nic" for "platform.vms.gat.type.nic" and gat.
std::optional<std::string> behind(const std::string& path, std::string_view prefix, std::string_view name) {
  if (!path.starts_with(prefix) || path.compare(prefix.size(), name.size(), name) != 0) return std::nullopt;
  const std::size_t end = prefix.size() + name.size();
  return end < path.size() && path[end] == '.' ? std::optional(path.substr(end + 1)) : std::nullopt;
}

// The same for VMs: `node` with count: 3 is node0, node1 and node2.
std::optional<std::string> behind_vm(const std::string& path, const std::string& vm) {
  for (std::size_t size = vm.size(); size > 0; --size) {
    if (auto rest = behind(path, "platform.vms.", vm.substr(0, size))) return rest;
    if (vm[size - 1] < '0' || vm[size - 1] > '9') break;
  }
  return std::nullopt;
}

bool offloads_optimizer(const Plan& plan) {
  if (const auto* replicas = std::get_if<ReplicaPlan>(&plan.by)) return replicas->optimizer != StatePlace::kGpu;
  const auto* fsdp = std::get_if<FsdpPlan>(&plan.by);
  return fsdp && fsdp->offload;
}

bool has_stage3(const Plan& plan) {
  const auto* replicas = std::get_if<ReplicaPlan>(&plan.by);
  return replicas && replicas->stage == 3;
}

bool has_driver(const Plan& plan) { return std::holds_alternative<OperatorPlan>(plan.by); }

bool uses_drives(const Plan& plan) {
  const auto* replicas = std::get_if<ReplicaPlan>(&plan.by);
  return replicas && (replicas->optimizer == StatePlace::kDrive || replicas->parameters == StatePlace::kDrive);
}

// Keys that matter to some plans only.
struct Need {
  std::string_view key;
  bool (*of)(const Plan&);
};
constexpr Need kNeeds[] = {
    {"software.framework.cpu_adam_stage3",
     [](const Plan& plan) { return offloads_optimizer(plan) && has_stage3(plan); }},
    {"software.framework.cpu_adam_rate", offloads_optimizer},
    {"software.framework.cpu_adam", [](const Plan& plan) { return offloads_optimizer(plan) && !has_stage3(plan); }},
    {"software.framework.module_hook", has_stage3},
    {"software.framework.drive_share", uses_drives},
    {"software.framework.swap_rate", uses_drives},
    {"training.control_round_trips", has_driver},
};

class Gatherer {
 public:
  explicit Gatherer(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<Assumption> gather() {
    for (const Parameter& parameter : scenario_.parameters) {
      const bool known =
          parameter.provenance == Provenance::kDatasheet || parameter.provenance == Provenance::kMeasured;
      if (!known) add(parameter);
    }
    for (const Parameter& parameter : scenario_.defaults) add(parameter);
    std::vector<Assumption> out;
    for (const auto& key : order_) {
      Unmeasured& one = found_.at(key);
      if (one.kernels > 0)
        one.values.insert(one.values.begin(), fmt::format("what {} of its kernels move", one.kernels));
      std::string text = fmt::format("{}", fmt::join(one.values, ", "));
      if (!one.defaults.empty())
        text += fmt::format("{}by default {}", text.empty() ? "" : ", ", fmt::join(one.defaults, ", "));
      const std::string& program = one.told.measure;
      one.told.text = fmt::format("{}: {}{}", std::get<0>(key), text,
                                  program.empty() ? "; state yours" : "; measure by " + program);
      out.push_back(std::move(one.told));
    }
    return out;
  }

 private:
  // Values stated for flash attention count where some GPU runs it, of the named architecture if there is one.
  bool counts(const std::string& path) const {
    const std::size_t flash = path.find(".flash.");
    if (!path.starts_with("software.") || flash == std::string::npos) return true;
    constexpr std::string_view kOn = ".flash.architectures.";
    const std::string on = path.compare(flash, kOn.size(), kOn) == 0 ? path.substr(flash + kOn.size()) : "";
    const auto& devices = scenario_.platform.devices;
    return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
      const bool runs =
          scenario_.software.attention_on(device.gpu, scenario_.training.precision) == AttentionKernel::kFlash;
      return runs && (on.empty() || on == device.gpu.architecture);
    });
  }

  void add(const Parameter& parameter) {
    const std::string& path = parameter.path;
    if (!counts(path)) return;
    if (path.starts_with("platform.vms.")) return add_vm(parameter);
    if (path.starts_with("platform.sites.")) return add_site(parameter);
    if (path.starts_with("platform.links.")) return add_link(parameter);
    if (path.starts_with(kStack) || path.starts_with(kOwnKernels)) return add_stack(parameter);
    if (path.starts_with("techniques.")) return add_option(parameter);
    const auto dot = path.find('.');
    const std::string key = dot == std::string::npos ? path : path.substr(dot + 1);
    if (const auto gpus = behind(path, "software.", "matrix_efficiency")) return add_share(parameter, *gpus, key);
    const auto vms = parameter.measure == kCalibrate ? vms_not_timed(path) : std::vector<std::string>();
    if (parameter.measure == kCalibrate && vms.empty()) return;
    Unmeasured& one = entry(path.substr(0, dot), parameter, path, {}, vms);
    for (const Need& need : kNeeds) {
      if (path == need.key) one.told.needs = need.of;
    }
    note(one, parameter, key);
  }

  void add_vm(const Parameter& parameter) {
    for (const Vm& vm : scenario_.platform.vms) {
      const auto rest = behind_vm(parameter.path, vm.name);
      // Shares of GPUs are listed where they count; a gap in a data sheet is no assumption on this cluster.
      if (!rest || rest->starts_with("gpus.")) continue;
      const auto type = behind("." + *rest, ".", "type");
      const std::string& key = type ? *type : *rest;
      if (!holds(vm, key, parameter.value)) continue;
      const bool network = parameter.measure == kNetprobe, drive = key.starts_with("storage");
      const bool price = key == "price_per_hour";
      if (price && !(vm.type.price_per_hour.value_or(0) > 0)) continue;
      if (!network && !drive && !price && peers_measured(vm)) continue;
      // A node's inside is a set of many figures.
      const bool inside = key.starts_with("inside");
      Unmeasured& one = entry(type ? vm.type.name : vm.name, parameter, parameter.path, price ? "" : kCalibrate);
      if (network) one.told.bears = Bears::kSeveralVms;
      if (drive) one.told.needs = uses_drives;
      add_once(one.told.vms, vm.name);
      if (inside)
        add_once(one.values, "parts of its inside");
      else
        note(one, parameter, key.starts_with("tcp.net.ipv4.") ? key.substr(13) : key.substr(key.rfind('.') + 1));
    }
  }

  void add_site(const Parameter& parameter) {
    for (const Site& site : scenario_.platform.sites) {
      const auto key = behind(parameter.path, "platform.sites.", site.name);
      std::vector<std::string> vms;
      for (const Vm& vm : scenario_.platform.vms) {
        if (scenario_.platform.sites[vm.site].name == site.name) vms.push_back(vm.name);
      }
      if (!key || vms.size() < 2) continue;
      Unmeasured& one = entry("inside site " + site.name, parameter, parameter.path);
      one.told.bears = Bears::kOneSite;
      one.told.vms = std::move(vms);
      note(one, parameter, *key);
    }
  }

  void add_link(const Parameter& parameter) {
    for (const WanLink& link : scenario_.platform.links) {
      const auto key = behind(parameter.path, "platform.links.", link.name);
      if (!key) continue;
      Unmeasured& one = entry("link " + link.name, parameter, parameter.path);
      one.told.bears = Bears::kSeveralSites;
      for (const Vm& vm : scenario_.platform.vms) {
        if (link.transit || vm.site == link.from || vm.site == link.to) add_once(one.told.vms, vm.name);
      }
      note(one, parameter, *key);
    }
  }

  // Shares of large products, by GPU or architecture: listed where the platform has such GPUs and no measured times for them.
  void add_share(const Parameter& parameter, const std::string& gpus, const std::string& key) {
    std::vector<std::string> vms;
    for (const Device& device : scenario_.platform.devices) {
      const Gpu& gpu = device.gpu;
      const bool timed = gpu.kernels && gpu.kernels->knows_products();
      if ((gpu.name == gpus || gpu.architecture == gpus) && !timed)
        add_once(vms, scenario_.platform.vms[device.vm].name);
    }
    if (vms.empty()) return;
    Unmeasured& one = entry("software.matrix_efficiency", parameter, parameter.path, kCalibrate);
    for (const auto& vm : vms) add_once(one.told.vms, vm);
    note(one, parameter, key.substr(key.find('.') + 1));
  }

  void add_stack(const Parameter& parameter) {
    const auto vms = vms_not_timed(parameter.path);
    if (vms.empty()) return;
    const bool kernel = parameter.path.starts_with(kKernels) || parameter.path.starts_with(kOwnKernels);
    Unmeasured& one = entry("stack " + scenario_.software.stack, parameter,
                            kernel ? "software.stack.kernels" : parameter.path, kCalibrate, vms);
    if (kernel)
      ++one.kernels;
    else
      note(one, parameter, parameter.path.substr(kStack.size()));
  }

  void add_option(const Parameter& parameter) {
    for (const Technique* technique : technique_table()) {
      const auto key = behind(parameter.path, "techniques.", technique->name);
      if (!key) continue;
      Unmeasured& one = entry(technique->name, parameter, parameter.path);
      one.told.technique = technique;
      note(one, parameter, *key);
    }
  }

  std::vector<const Gpu*> gpus_of(const Vm& vm) const {
    std::vector<const Gpu*> out;
    out.reserve(static_cast<std::size_t>(vm.device_count));
    for (int i = 0; i < vm.device_count; ++i)
      out.push_back(&scenario_.platform.devices[vm.first_device + i].gpu);
    return out;
  }

  // Profiles measure transfers between GPUs of a VM.
  bool peers_measured(const Vm& vm) const {
    const auto gpus = gpus_of(vm);
    return std::all_of(gpus.begin(), gpus.end(), [](const Gpu* gpu) { return gpu->buses.peer.value > 0; });
  }

  // VMs with a GPU on which a key of `software` counts.
  std::vector<std::string> vms_not_timed(const std::string& key) const {
    std::vector<std::string> out;
    for (const Vm& vm : scenario_.platform.vms) {
      const auto gpus = gpus_of(vm);
      const bool timed =
          std::all_of(gpus.begin(), gpus.end(), [&](const Gpu* gpu) { return is_timed(key, *gpu, scenario_); });
      if (!timed) out.push_back(vm.name);
    }
    return out;
  }

  // One sentence per measuring program, and per set of plans or VMs that it matters to.
  Unmeasured& entry(const std::string& owner, const Parameter& parameter, const std::string& about,
                    std::string_view usual = {}, const std::vector<std::string>& vms = {}) {
    std::string program(parameter.measure.empty() ? usual : parameter.measure);
    const auto* need =
        std::find_if(std::begin(kNeeds), std::end(kNeeds), [&](const Need& one) { return one.key == parameter.path; });
    const Key key{owner, program + (need == std::end(kNeeds) ? "" : std::string(need->key)), vms};
    const auto [at, is_new] = found_.try_emplace(key);
    if (is_new) {
      order_.push_back(key);
      at->second.told.vms = vms;
      at->second.told.about = about;
      at->second.told.measure = std::move(program);
    }
    return at->second;
  }

  static void note(Unmeasured& one, const Parameter& parameter, const std::string& key) {
    const char* mark = "";
    if (!parameter.by_default && parameter.provenance == Provenance::kInferred) mark = " (fitted elsewhere)";
    if (!parameter.by_default && parameter.provenance == Provenance::kAssumed) mark = " (a guess)";
    const bool is_new =
        add_once(parameter.by_default ? one.defaults : one.values, fmt::format("{} {}{}", key, parameter.value, mark));
    if (is_new && parameter.path != one.told.about) one.told.more.push_back(parameter.path);
  }

  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;  // owner; program; VMs
  const Scenario& scenario_;
  std::map<Key, Unmeasured> found_;
  std::vector<Key> order_;
};

}  // namespace

std::vector<Assumption> unmeasured_of(const Scenario& scenario) { return Gatherer(scenario).gather(); }

}  // namespace slmsim
