#include "sim/predict/assumption.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/platform/kernel_table.h"
#include "sim/platform/platform.h"

namespace slmsim {
namespace {

using Bears = Assumption::Bears;

// VMs with a GPU for which `is_meant` is true.
template <class Meant>
std::vector<std::string> vms_with(const Platform& platform, Meant is_meant) {
  std::vector<std::string> out;
  for (const auto& device : platform.devices) {
    const std::string& vm = platform.vms[device.vm].name;
    if (is_meant(device.gpu) && (out.empty() || out.back() != vm)) out.push_back(vm);
  }
  return out;
}

void add_gpus(const Scenario& scenario, std::vector<Assumption>& out) {
  const Software& software = scenario.software;
  const Precision precision = scenario.training.precision;
  const std::string& number = precision_names()[static_cast<std::size_t>(precision)];
  std::set<std::string> told;
  for (const auto& device : scenario.platform.devices) {
    const Gpu& gpu = device.gpu;
    if (!told.insert(gpu.name).second) continue;
    const auto vms = vms_with(scenario.platform, [&](const Gpu& other) { return other.name == gpu.name; });
    const bool lacks = gpu.peak[static_cast<std::size_t>(precision)].value <= 0;
    // PyTorch emulates bf16 on GPUs without it; Hugging Face's Trainer and DeepSpeed refuse it there.
    const bool emulates = lacks && precision == Precision::kBf16;
    if (lacks) {
      const FlopsPerSecond half = gpu.peak[static_cast<std::size_t>(Precision::kFp16)];
      out.push_back(
          {gpu.name + ".peak." + number,
           emulates ? fmt::format("{} has no bf16, which PyTorch emulates: products reach {}{}", gpu.name,
                                  to_text(software.product_rate(gpu, precision)),
                                  half.value > 0 ? fmt::format("; training.precision: fp16 has {}", to_text(half)) : "")
                    : fmt::format("{} has no {}: products run at the rate of fp32", gpu.name, number),
           "", Bears::kAnyVm, vms});
    }
    if (!software.runs_on(gpu))
      out.push_back(
          {"software.stack",
           fmt::format("{} has compute capability {:.1f}, and stack {} needs {:.1f}: its kernels do not run there, "
                       "and are counted all the same; name another one by software.stack, such as eager",
                       gpu.name, gpu.compute_capability / 10.0, software.stack, software.least_capability / 10.0),
           "", Bears::kAnyVm, vms});
    if (const auto runs = software.attention_on(gpu, precision); runs != software.attention) {
      const auto& kernels = attention_kernel_names();
      out.push_back(
          {gpu.name + ".attention",
           fmt::format("{} runs attention {} in {}, in place of {}", gpu.name, kernels[static_cast<std::size_t>(runs)],
                       number, kernels[static_cast<std::size_t>(software.attention)]),
           "", Bears::kAnyVm, vms});
    }
    const bool overridden = software.matrix.contains(gpu.name) || software.matrix.contains(gpu.architecture);
    const bool measured = gpu.kernels && gpu.kernels->knows_products();
    if (overridden || measured) continue;
    const MatrixEfficiency& e = efficiency_of(gpu, precision);
    if (gpu.sustained < 1 && counted_as(gpu, precision) != Precision::kFp32)
      out.push_back(
          {gpu.name + ".sustained",
           fmt::format("products of {} are taken at {:.2f} of the peak while it trains, {:.2f} alone, by other "
                       "people's runs; measure a step by slmsim fit",
                       gpu.name, e.share * gpu.sustained, e.share),
           std::string(kFit), Bears::kAnyVm, vms});
    if (!e.assumed) continue;
    const std::string& run_in = precision_names()[static_cast<std::size_t>(counted_as(gpu, precision))];
    out.push_back(
        {gpu.name + ".efficiency." + run_in,
         fmt::format("nobody measured products of {} in {}: {:.2f} of the peak{} is assumed, {:.2f} to {:.2f} is "
                     "likely; measure it by slmsim-calibrate",
                     gpu.name, run_in, e.share, emulates ? " in fp32" : "", e.share * (1 - e.spread),
                     e.share * (1 + e.spread)),
         std::string(kCalibrate), Bears::kAnyVm, vms});
  }
}

// GPUs with a power limit.
void add_limits(const Platform& platform, std::vector<Assumption>& out) {
  const auto key_of = [](const Gpu& gpu) { return std::pair(gpu.name, gpu.power_limit.value); };
  std::map<std::pair<std::string, double>, const Gpu*> limited;
  for (const auto& device : platform.devices) {
    if (device.gpu.left.cores < 1) limited[key_of(device.gpu)] = &device.gpu;
  }
  for (const auto& [key, gpu] : limited) {
    const auto is_it = [&, &same = key](const Gpu& other) { return key_of(other) == same; };
    out.push_back({gpu->name + ".power_limit",
                   fmt::format("{} may draw {} of {}, which is taken to leave {:.2f} of its clock while it trains and "
                               "{:.2f} of its bandwidth, as other people's limits did; measure a step by slmsim fit",
                               gpu->name, to_text(gpu->power_limit), to_text(gpu->board_power), gpu->left.cores,
                               gpu->left.memory),
                   std::string(kFit), Bears::kAnyVm, vms_with(platform, is_it)});
  }
}

// Where the GPUs of a prediction are.
struct Places {
  std::set<std::string> vms;
  std::map<std::string, int> site;
};

Places places_of(const Scenario& scenario, const std::vector<std::string>& group) {
  Places out;
  for (const auto& name : group) out.vms.insert(name.substr(0, name.find('/')));
  for (const Vm& vm : scenario.platform.vms) {
    if (out.vms.contains(vm.name)) out.site[vm.name] = vm.site;
  }
  return out;
}

bool bears_on(const Assumption& one, const Places& places) {
  if (one.vms.empty()) return true;
  std::map<int, int> at_site;  // number of its VMs
  int count = 0;
  for (const auto& vm : one.vms) {
    if (!places.vms.contains(vm)) continue;
    ++count;
    if (const auto site = places.site.find(vm); site != places.site.end()) ++at_site[site->second];
  }
  switch (one.bears) {
    case Bears::kAnyVm:
      return count > 0;
    case Bears::kSeveralVms:
      return count > 0 && places.vms.size() > 1;
    case Bears::kOneSite:
      return std::any_of(at_site.begin(), at_site.end(), [](const auto& site) { return site.second > 1; });
    case Bears::kSeveralSites:
      return at_site.size() > 1;
  }
  return true;
}

}  // namespace

std::vector<Assumption> assumptions_of(const Scenario& scenario) {
  std::vector<Assumption> out;
  const Software& software = scenario.software;
  if (software.stack_assumed)
    out.push_back({"software.stack",
                   fmt::format("the software is {} ({}); name yours by software.stack", software.stack, software.title),
                   ""});
  add_gpus(scenario, out);
  add_limits(scenario.platform, out);
  for (const auto& told : {contradictions_in(scenario.platform), remarks_on(scenario.platform)}) {
    for (const auto& remark : told) out.push_back({"platform.vms", remark, ""});
  }
  for (auto& one : unmeasured_of(scenario)) out.push_back(std::move(one));
  return out;
}

std::vector<Assumption> assumptions_of(const std::vector<Assumption>& all, const Scenario& scenario,
                                       const Prediction& prediction) {
  const Places places = places_of(scenario, prediction.group);
  std::vector<Assumption> out;
  for (const auto& one : all) {
    if (one.technique && one.technique != prediction.technique) continue;
    if (one.needs && !(prediction.plan && one.needs(*prediction.plan))) continue;
    if (bears_on(one, places)) out.push_back(one);
  }
  return out;
}

std::vector<Assumption> assumptions_of(const Scenario& scenario, const std::vector<const Prediction*>& predictions) {
  const auto all = assumptions_of(scenario);
  std::set<std::string> texts;
  for (const Prediction* prediction : predictions) {
    for (const auto& one : assumptions_of(all, scenario, *prediction)) texts.insert(one.text);
  }
  std::vector<Assumption> out;
  for (const auto& one : all) {
    if (texts.contains(one.text)) out.push_back(one);
  }
  return out;
}

std::string assumed_line(const std::vector<Assumption>& assumptions) {
  std::string out;
  for (const auto& one : assumptions) out += fmt::format("{}{}", out.empty() ? "assumed: " : " | ", one.text);
  return out;
}

}  // namespace slmsim
