#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/kernel.h"
#include "sim/compute/roofline.h"
#include "sim/platform/gpu.h"
#include "sim/predict/assumption.h"

namespace slmsim {
namespace {

using Reach = Assumption::Reach;

// Open values of one VM type, site, link or section of the scenario that one program measures.
struct UnmeasuredValues {
  Assumption assumption;
  std::vector<std::string> values, defaults;  // stated, but not measured; not stated
  int kernels = 0;                            // with typical traffic: a set of many figures
};

// Whether a GPU's profile replaces a value of the software, so that the value has no effect on it. A share of the bandwidth
// and a launch apply to every kernel without a measured time.
bool is_timed(const Parameter& parameter, const Gpu& gpu, const Scenario& scenario) {
  if (!gpu.kernels) return false;
  const Precision precision = scenario.training.precision;
  const bool others = gpu.kernels->knows_others();
  if (parameter.use == Use::kUntimedKernels) return others && gpu.kernels->knows_products();
  if (parameter.use == Use::kGpuAdam) return was_timed(gpu, precision, scenario.software.adam_kernel);
  if (parameter.use == Use::kFlash || parameter.use == Use::kFlashOn) return was_timed(gpu, precision, "flash-forward");
  if (parameter.owner.scope != Scope::kKernel) return false;
  const std::string kernel = parameter.below_owner();
  const auto& names = kernel_part_names();
  const auto part = static_cast<KernelPart>(std::find(names.begin(), names.end(), kernel) - names.begin());
  return others && (!differs_by_stack(part) || was_timed(gpu, precision, kernel + "-forward"));
}

bool add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) != list.end()) return false;
  list.push_back(text);
  return true;
}

class AssumptionCollector {
 public:
  explicit AssumptionCollector(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<Assumption> gather() {
    for (const Parameter& parameter : scenario_.parameters) {
      const bool known =
          parameter.provenance == Provenance::kDatasheet || parameter.provenance == Provenance::kMeasured;
      if (!known) add(parameter);
    }
    for (const Parameter& parameter : scenario_.defaults) add(parameter);
    std::vector<Assumption> out;
    for (const auto& key : order_) {
      UnmeasuredValues& one = found_.at(key);
      if (one.kernels > 0)
        one.values.insert(one.values.begin(), fmt::format("memory traffic of {} kernels", one.kernels));
      std::string text = fmt::format("{}", fmt::join(one.values, ", "));
      if (!one.defaults.empty())
        text += fmt::format("{}by default {}", text.empty() ? "" : ", ", fmt::join(one.defaults, ", "));
      const std::string& program = one.assumption.measure;
      one.assumption.text = fmt::format("{}: {}{}", std::get<0>(key), text,
                                        program.empty() ? "; state yours" : "; measure with " + program);
      out.push_back(std::move(one.assumption));
    }
    return out;
  }

 private:
  // Values stated for flash attention count where some GPU runs it, of the named architecture if there is one.
  bool counts(const Parameter& parameter) const {
    const bool anywhere = parameter.use == Use::kFlash;
    if (!anywhere && parameter.use != Use::kFlashOn) return true;
    const auto& devices = scenario_.platform.devices;
    return std::any_of(devices.begin(), devices.end(), [&](const Device& at) {
      const auto runs = scenario_.software.attention_on(at.gpu, scenario_.training.precision);
      return keeps_no_scores(runs) && (anywhere || at.gpu.architecture == parameter.key);
    });
  }

  void add(const Parameter& parameter) {
    const Scope scope = parameter.owner.scope;
    // Shares of GPUs are listed where they count; a gap in a data sheet is no assumption on this cluster.
    if (!counts(parameter) || scope == Scope::kGpu) return;
    if (scope == Scope::kSite) return add_site(parameter);
    if (scope == Scope::kLink) return add_link(parameter);
    if (scope == Scope::kMatrix) return add_share(parameter);
    if (scope == Scope::kStack || scope == Scope::kKernel) return add_stack(parameter);
    if (scope == Scope::kOption) return add_option(parameter);
    if (scope != Scope::kScenario) return add_vms(parameter);
    const auto vms = parameter.measure == kCalibrate ? vms_not_timed(parameter) : std::vector<std::string>();
    if (parameter.measure == kCalibrate && vms.empty()) return;
    const std::size_t section = parameter.path.find('.');
    note(entry(parameter.path.substr(0, section), parameter, {}, vms), parameter, parameter.path.substr(section + 1));
  }

  void add_vms(const Parameter& parameter) {
    const auto& vms = scenario_.platform.vms;
    const auto is_meant = [&](const Vm& vm) { return vm.entry == parameter.owner.name; };
    const auto first = std::find_if(vms.begin(), vms.end(), is_meant);
    const auto end = std::find_if_not(first, vms.end(), is_meant);
    if (first == end) return;
    const Scope scope = parameter.owner.scope;
    if (scope == Scope::kVmType && !holds(first->type, parameter.key, parameter.value)) return;
    const bool network = parameter.measure == kNetprobe, drive = scope == Scope::kDrives;
    const bool price = parameter.use == Use::kPrice;
    if (price && !(first->type.price_per_hour.value_or(0) > 0)) return;
    const bool host = parameter.use == Use::kHostMemory;
    if (host && !has_host_memory(first->type)) return;
    if (!network && !drive && !price && !host && peers_measured(*first)) return;
    const bool of_type = scope == Scope::kVmType || scope == Scope::kInside;
    for (auto vm = first; vm != end; ++vm) {
      UnmeasuredValues& one = entry(of_type ? vm->type.name : vm->name, parameter, price || host ? "" : kCalibrate);
      if (network) one.assumption.reach = Reach::kSeveralVms;
      if (drive) one.assumption.use = Use::kDrives;
      add_once(one.assumption.vms, vm->name);
      if (scope == Scope::kInside)  // a set of many figures
        add_once(one.values, "parts of its inside");
      else
        note(one, parameter, parameter.path.substr(parameter.path.rfind('.') + 1));
    }
  }

  void add_site(const Parameter& parameter) {
    std::vector<std::string> vms;
    for (const Vm& vm : scenario_.platform.vms) {
      if (scenario_.platform.sites[vm.site].name == parameter.owner.name) vms.push_back(vm.name);
    }
    if (vms.size() < 2) return;
    UnmeasuredValues& one = entry("inside site " + parameter.owner.name, parameter);
    one.assumption.reach = Reach::kOneSite;
    one.assumption.vms = std::move(vms);
    note(one, parameter, parameter.key);
  }

  void add_link(const Parameter& parameter) {
    for (const WanLink& link : scenario_.platform.links) {
      if (link.name != parameter.owner.name) continue;
      UnmeasuredValues& one = entry("link " + link.name, parameter);
      one.assumption.reach = Reach::kSeveralSites;
      for (const Vm& vm : scenario_.platform.vms) {
        if (link.transit || vm.site == link.from || vm.site == link.to) add_once(one.assumption.vms, vm.name);
      }
      note(one, parameter, parameter.below_owner());
    }
  }

  // Shares of large products, by GPU or architecture: listed where the platform has such GPUs and no measured times for them.
  void add_share(const Parameter& parameter) {
    const auto vms = vms_with(scenario_.platform, [&](const Gpu& gpu) {
      const bool timed = gpu.kernels && gpu.kernels->knows_products();
      return (gpu.name == parameter.key || gpu.architecture == parameter.key) && !timed;
    });
    if (vms.empty()) return;
    UnmeasuredValues& one = entry(parameter.owner.path, parameter, kCalibrate);
    for (const auto& vm : vms) add_once(one.assumption.vms, vm);
    note(one, parameter, parameter.key);
  }

  void add_stack(const Parameter& parameter) {
    const auto vms = vms_not_timed(parameter);
    if (vms.empty()) return;
    UnmeasuredValues& one = entry("stack " + scenario_.software.stack, parameter, kCalibrate, vms);
    if (parameter.owner.scope == Scope::kKernel)
      ++one.kernels;
    else
      note(one, parameter, parameter.below_owner());
  }

  void add_option(const Parameter& parameter) {
    UnmeasuredValues& one = entry(parameter.owner.name, parameter);
    one.assumption.technique = find_technique(parameter.owner.name);
    note(one, parameter, parameter.key);
  }

  // Profiles measure transfers between GPUs of a VM.
  bool peers_measured(const Vm& vm) const {
    const auto first = scenario_.platform.devices.begin() + vm.first_device;
    return std::all_of(first, first + vm.device_count, [](const Device& at) { return at.gpu.buses.peer.value > 0; });
  }

  // VMs with a GPU on which a value of the software counts.
  std::vector<std::string> vms_not_timed(const Parameter& parameter) const {
    return vms_with(scenario_.platform, [&](const Gpu& gpu) { return !is_timed(parameter, gpu, scenario_); });
  }

  // One sentence per measuring program, and per set of plans or VMs that it matters to.
  UnmeasuredValues& entry(const std::string& owner, const Parameter& parameter, std::string_view usual = {},
                          const std::vector<std::string>& vms = {}) {
    std::string program(parameter.measure.empty() ? usual : parameter.measure);
    const Key key{owner, program + (is_of_plan(parameter.use) ? parameter.path : ""), vms};
    const auto [at, is_new] = found_.try_emplace(key);
    if (is_new) {
      order_.push_back(key);
      at->second.assumption.vms = vms;
      at->second.assumption.about = parameter.owner.scope == Scope::kKernel ? parameter.owner.path : parameter.path;
      at->second.assumption.use = parameter.use;
      at->second.assumption.measure = std::move(program);
    }
    return at->second;
  }

  static void note(UnmeasuredValues& one, const Parameter& parameter, const std::string& key) {
    const char* mark = "";
    if (!parameter.by_default && parameter.provenance == Provenance::kInferred) mark = " (fitted elsewhere)";
    if (!parameter.by_default && parameter.provenance == Provenance::kAssumed) mark = " (a guess)";
    const bool is_new =
        add_once(parameter.by_default ? one.defaults : one.values, fmt::format("{} {}{}", key, parameter.value, mark));
    if (is_new && parameter.path != one.assumption.about) one.assumption.more.push_back(parameter.path);
  }

  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;  // owner; program; VMs
  const Scenario& scenario_;
  std::map<Key, UnmeasuredValues> found_;
  std::vector<Key> order_;
};

}  // namespace

std::vector<Assumption> unmeasured_of(const Scenario& scenario) { return AssumptionCollector(scenario).gather(); }

}  // namespace slmsim
