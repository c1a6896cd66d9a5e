#include "sim/predict/assumption.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/base/quantity.h"
#include "sim/platform/gpu.h"
#include "sim/platform/platform.h"

namespace slmsim {
namespace {

using Reach = Assumption::Reach;

void add_gpus(const Scenario& scenario, std::vector<Assumption>& out) {
  const Software& software = scenario.software;
  const Precision precision = scenario.training.precision;
  const std::string& number = name_in(precision_names(), precision);
  std::set<std::string> seen;
  for (const auto& device : scenario.platform.devices) {
    const Gpu& gpu = device.gpu;
    if (!seen.insert(gpu.name).second) continue;
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
           "", Reach::kAnyVm, vms});
    }
    if (const auto runs = software.attention_on(gpu, precision); runs != software.attention) {
      const auto& kernels = attention_kernel_names();
      out.push_back(
          {gpu.name + ".attention",
           fmt::format("{} runs attention {} in {}, in place of {}", gpu.name, kernels[static_cast<std::size_t>(runs)],
                       number, kernels[static_cast<std::size_t>(software.attention)]),
           "", Reach::kAnyVm, vms});
    }
    const bool overridden = software.matrix.contains(gpu.name) || software.matrix.contains(gpu.architecture);
    const bool measured = gpu.kernels && gpu.kernels->knows_products();
    if (overridden || measured) continue;
    const MatrixEfficiency& e = efficiency_of(gpu, precision);
    if (gpu.sustained < 1 && counted_as(gpu, precision) != Precision::kFp32)
      out.push_back({gpu.name + ".sustained",
                     fmt::format("products on {} reach {:.2f} of the peak in training, {:.2f} alone, as in published "
                                 "runs; measure a step for slmsim fit",
                                 gpu.name, e.share * gpu.sustained, e.share),
                     std::string(kFit), Reach::kAnyVm, vms});
    if (!e.assumed) continue;
    const std::string& run_in = name_in(precision_names(), counted_as(gpu, precision));
    out.push_back({gpu.name + ".efficiency." + run_in,
                   fmt::format("products on {} in {} are unmeasured: {:.2f} of the peak{} is assumed, {:.2f} to {:.2f} "
                               "is likely; measure with slmsim-calibrate",
                               gpu.name, run_in, e.share, emulates ? " in fp32" : "", e.share * (1 - e.spread),
                               e.share * (1 + e.spread)),
                   std::string(kCalibrate), Reach::kAnyVm, vms});
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
                   fmt::format("{} is limited to {} of {}: {:.2f} of its clock in training and {:.2f} of its bandwidth "
                               "are assumed, as in published runs; measure a step for slmsim fit",
                               gpu->name, to_text(gpu->power_limit), to_text(gpu->board_power), gpu->left.cores,
                               gpu->left.memory),
                   std::string(kFit), Reach::kAnyVm, vms_with(platform, is_it)});
  }
}

// Default sizes of a model's config.json, and its parts that are not modelled.
void add_models(const Scenario& scenario, std::vector<Assumption>& out) {
  for (const auto& model : scenario.models) {
    if (!model.by_class.empty())
      out.push_back({"models",
                     fmt::format("{}: by default {}, as in transformers; state yours in its config.json", model.name,
                                 fmt::join(model.by_class, ", ")),
                     ""});
    for (const auto& sentence : model.unmodelled)
      out.push_back({"models", fmt::format("{}: {}", model.name, sentence), ""});
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
  switch (one.reach) {
    case Reach::kAnyVm:
      return count > 0;
    case Reach::kSeveralVms:
      return count > 0 && places.vms.size() > 1;
    case Reach::kOneSite:
      return std::any_of(at_site.begin(), at_site.end(), [](const auto& site) { return site.second > 1; });
    case Reach::kSeveralSites:
      return at_site.size() > 1;
  }
  return true;
}

bool uses(const Plan& plan, Use use) {
  const auto* replicas = std::get_if<ReplicaPlan>(&plan.by);
  const auto* fsdp = std::get_if<FsdpPlan>(&plan.by);
  const bool stage3 = replicas && replicas->stage == 3;
  const bool on_host = replicas ? replicas->optimizer != StatePlace::kGpu : fsdp && fsdp->offload;
  if (use == Use::kHostAdam) return on_host;
  if (use == Use::kHostMemory) {
    const auto* rounds = std::get_if<RoundPlan>(&plan.by);
    return on_host || (rounds && rounds->outer_on_host);
  }
  if (use == Use::kHostAdamBelowStage3) return on_host && !stage3;
  if (use == Use::kHostAdamStage3) return on_host && stage3;
  if (use == Use::kStage3) return stage3;
  if (use == Use::kDriver) return std::holds_alternative<OperatorPlan>(plan.by);
  return replicas && (replicas->optimizer == StatePlace::kDrive || replicas->parameters == StatePlace::kDrive);
}

// Share of an iteration spent on what the assumption is about. Start-up and memory take no time of it.
double share_of_time(const Assumption& one, const Scenario& scenario, const Prediction& p) {
  if (p.status != Status::kOk || one.measure == kTorchStep || one.about.ends_with(".startup")) return 0;
  const Breakdown& b = p.breakdown;
  const bool launch = one.about == "training.iteration_overhead" || one.about == "training.control_round_trips";
  const bool of_platform = one.measure == kCalibrate && one.about.starts_with("platform.");
  if (of_platform && places_of(scenario, p.group).vms.size() > 1) return 0;  // paths between VMs are slower
  const bool transfers = one.measure == kNetprobe || of_platform;
  return (transfers ? b.exposed_communication : launch ? b.overhead : b.compute + b.optimizer) / p.iteration;
}

}  // namespace

std::vector<Assumption> assumptions_of(const Scenario& scenario) {
  std::vector<Assumption> out;
  const Software& software = scenario.software;
  if (software.stack_assumed)
    out.push_back(
        {"software.stack",
         fmt::format("the software is {} ({}); name yours with software.stack", software.stack, software.title), ""});
  add_models(scenario, out);
  add_gpus(scenario, out);
  add_limits(scenario.platform, out);
  for (const auto& remarks : {contradictions_in(scenario.platform), remarks_on(scenario.platform)}) {
    for (const auto& remark : remarks) out.push_back({"platform.vms", remark, ""});
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
    if (is_of_plan(one.use) && !(prediction.plan && uses(*prediction.plan, one.use))) continue;
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

std::vector<Assumption> assumptions_by_time(const Scenario& scenario,
                                            const std::vector<const Prediction*>& predictions) {
  auto out = assumptions_of(scenario, predictions);
  std::map<std::string, double> shares;  // by text
  for (const Prediction* prediction : predictions) {
    for (const auto& one : assumptions_of(out, scenario, *prediction)) {
      double& share = shares[one.text];
      share = std::max(share, share_of_time(one, scenario, *prediction));
    }
  }
  std::ranges::stable_sort(out, std::ranges::greater(), [&](const Assumption& one) { return shares.at(one.text); });
  return out;
}

std::string assumed_line(const std::vector<Assumption>& assumptions) {
  std::string out;
  for (const auto& one : assumptions) out += fmt::format("{}{}", out.empty() ? "assumed: " : " | ", one.text);
  return out;
}

}  // namespace slmsim
