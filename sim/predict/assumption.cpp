#include "sim/predict/assumption.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/platform/kernel_table.h"
#include "sim/platform/remark.h"

namespace slmsim {
namespace {

constexpr const char* kNetprobe = "slmsim-netprobe";
constexpr const char* kCalibrate = "slmsim-calibrate";

std::vector<std::string> vms_with(const Platform& platform, const std::string& gpu) {
  std::vector<std::string> out;
  for (const auto& device : platform.devices) {
    const std::string& vm = platform.vms[static_cast<std::size_t>(device.vm)].name;
    if (device.gpu.name == gpu && (out.empty() || out.back() != vm)) out.push_back(vm);
  }
  return out;
}

void add_gpus(const Scenario& scenario, std::vector<Assumption>& out) {
  const Software& software = scenario.software;
  const auto precision = static_cast<std::size_t>(scenario.training.precision);
  const std::string& number = precision_names()[precision];
  std::set<std::string> told;
  for (const auto& device : scenario.platform.devices) {
    const Gpu& gpu = device.gpu;
    if (!told.insert(gpu.name).second) continue;
    const auto vms = vms_with(scenario.platform, gpu.name);
    const bool lacks = gpu.peak[precision].value <= 0;
    const std::size_t used = lacks ? static_cast<std::size_t>(Precision::kFp32) : precision;
    if (lacks) {
      // PyTorch emulates bf16 on GPUs without it; Hugging Face's Trainer and DeepSpeed refuse it there.
      const FlopsPerSecond half = gpu.peak[static_cast<std::size_t>(Precision::kFp16)];
      const bool emulated = scenario.training.precision == Precision::kBf16 && half.value > 0;
      const std::string instead = emulated
                                      ? fmt::format(" ({}), as PyTorch emulates it; training.precision: fp16 has {}",
                                                    to_text(peak_of(gpu, scenario.training.precision)), to_text(half))
                                      : "";
      out.push_back({gpu.name + ".peak." + number,
                     fmt::format("{} has no {}: products run at the rate of fp32{}", gpu.name, number, instead), "",
                     vms});
    }
    const MatrixEfficiency& e = gpu.efficiency[used];
    const bool overridden = software.matrix.contains(gpu.name) || software.matrix.contains(gpu.architecture);
    const bool measured = gpu.kernels && gpu.kernels->knows_products();
    if (!e.assumed || overridden || measured) continue;
    out.push_back(
        {gpu.name + ".efficiency." + precision_names()[used],
         fmt::format("nobody measured products of {} in {}: {:.2f} of the peak is assumed, {:.2f} to {:.2f} is "
                     "likely; measure it by slmsim-calibrate",
                     gpu.name, precision_names()[used], e.share, e.share * (1 - e.spread), e.share * (1 + e.spread)),
         kCalibrate, vms});
  }
}

// What one VM type or link states that is no measurement.
struct Unmeasured {
  std::string about;
  std::vector<std::string> values, vms;
  std::set<std::string> programs;
  bool of_link = false;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// Whether the VM still has what its type states: its own `nic` and `tcp` hold over it.
bool holds(const Vm& vm, const std::string& key, const std::string& value) {
  const auto is = [&](double now, Dimension dimension) {
    const auto parsed = parse_quantity(value, dimension);
    return !parsed.problem.empty() || parsed.value == now;
  };
  if (key == "nic") return is(vm.type.nic.value, Dimension::kDataRate);
  if (key == "tcp.copy_rate") return is(vm.type.tcp.copy_rate.value, Dimension::kDataRate);
  if (key == "tcp.net.ipv4.tcp_rmem") return is(vm.type.tcp.receive_buffer.value, Dimension::kData);
  if (key == "tcp.net.ipv4.tcp_wmem") return is(vm.type.tcp.send_buffer.value, Dimension::kData);
  return true;
}

void add_platform(const Scenario& scenario, std::vector<Assumption>& out) {
  std::map<std::string, Unmeasured> found;
  std::vector<std::string> order;
  const auto entry = [&](const std::string& owner, const std::string& about) -> Unmeasured& {
    if (!found.contains(owner)) order.push_back(owner);
    Unmeasured& one = found[owner];
    if (one.about.empty()) one.about = about;
    return one;
  };
  for (const Parameter& parameter : scenario.parameters) {
    const bool fitted = parameter.provenance == Provenance::kInferred;
    if (!fitted && parameter.provenance != Provenance::kTypical) continue;
    const std::string value = parameter.value + (fitted ? " (fitted elsewhere)" : "");
    for (const Vm& vm : scenario.platform.vms) {
      const std::string own = "platform.vms." + vm.name + ".", type = own + "type.";
      if (!parameter.path.starts_with(own) || parameter.path.starts_with(own + "gpus.")) continue;
      if (parameter.path.starts_with(own + "storage")) continue;
      const bool of_type = parameter.path.starts_with(type);
      std::string key = parameter.path.substr(of_type ? type.size() : own.size());
      if (key == "price_per_hour" || !holds(vm, key, parameter.value)) continue;
      // A node's inside is a picture of many figures.
      const bool inside = key.starts_with("inside");
      if (inside) key = "inside";
      Unmeasured& one = entry(of_type ? vm.type.name : vm.name, parameter.path);
      const auto dot = key.rfind('.');
      add_once(one.values, inside ? "parts of its inside"
                                  : fmt::format("{} {}", dot == std::string::npos ? key : key.substr(dot + 1), value));
      add_once(one.vms, vm.name);
      one.programs.insert(key.starts_with("tcp.") || key == "nic" ? kNetprobe : kCalibrate);
    }
    for (const WanLink& link : scenario.platform.links) {
      const std::string own = "platform.links." + link.name + ".";
      if (!parameter.path.starts_with(own)) continue;
      Unmeasured& one = entry("link " + link.name, parameter.path);
      add_once(one.values, fmt::format("{} {}", parameter.path.substr(own.size()), value));
      one.programs.insert(kNetprobe);
      one.of_link = true;
    }
  }
  for (const auto& owner : order) {
    const Unmeasured& one = found[owner];
    const std::string program = fmt::format("{}", fmt::join(one.programs, " and "));
    out.push_back({one.about, fmt::format("{}: {}; measure by {}", owner, fmt::join(one.values, ", "), program),
                   program, one.vms, one.of_link});
  }
}

}  // namespace

std::vector<Assumption> assumptions_of(const Scenario& scenario) {
  std::vector<Assumption> out;
  const Software& software = scenario.software;
  if (software.stack_assumed)
    out.push_back({"software.stack", fmt::format("the software is {} ({}); name yours by software.stack",
                                                 software.stack, software.title)});
  add_gpus(scenario, out);
  for (const auto& remark : remarks_on(scenario.platform)) out.push_back({"platform.vms", remark});
  add_platform(scenario, out);
  return out;
}

std::vector<Assumption> assumptions_of(const std::vector<Assumption>& all, const Scenario& scenario,
                                       const std::vector<std::string>& group) {
  std::set<std::string> vms;
  for (const auto& name : group) vms.insert(name.substr(0, name.find('/')));
  std::set<int> sites;
  for (const auto& vm : scenario.platform.vms) {
    if (vms.contains(vm.name)) sites.insert(vm.site);
  }
  std::vector<Assumption> out;
  for (const auto& one : all) {
    const bool bears = one.vms.empty() || std::any_of(one.vms.begin(), one.vms.end(),
                                                      [&](const std::string& name) { return vms.contains(name); });
    if (one.of_link ? sites.size() > 1 : bears) out.push_back(one);
  }
  return out;
}

std::vector<Assumption> assumptions_of(const Plan& plan, const Scenario& scenario) {
  const auto* replicas = std::get_if<ReplicaPlan>(&plan.by);
  constexpr const char* kHook = "software.framework.module_hook";
  const bool stated = std::any_of(scenario.parameters.begin(), scenario.parameters.end(),
                                  [](const Parameter& parameter) { return parameter.path == kHook; });
  constexpr Seconds kUsual{2e-3};  // read_framework's
  if (!replicas || replicas->stage != 3 || stated || scenario.framework.module_hook != kUsual) return {};
  return {{kHook,
           "fetching and releasing a layer under ZeRO's stage 3 takes the host 2 ms per pass (fitted elsewhere), 1 to "
           "4 ms are "
           "likely; state software.framework.module_hook, by calibrate/reference/torch_step.py",
           "calibrate/reference/torch_step.py",
           {}}};
}

}  // namespace slmsim
