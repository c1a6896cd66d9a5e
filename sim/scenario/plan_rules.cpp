#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/compute/compression.h"
#include "sim/scenario/scenario.h"

namespace slmsim {
namespace {

std::set<std::string> gpu_names(const Platform& platform) {
  std::set<std::string> names;
  for (const auto& device : platform.devices) names.insert(device.gpu.name);
  return names;
}

void read_allowed(Fields& fields, PlanRules& rules, Reading& reading) {
  static const std::vector<std::string> kNames = {"nccl", "tcp", "batch"};
  bool* const flags[] = {&rules.nccl, &rules.tcp, &rules.batch};
  const FileKey key{"allow",
                    "Settings that slmsim plan may change besides techniques: NCCL's settings, the kernels' TCP "
                    "settings, larger batches.",
                    "none"};
  for (const Node* item : fields.list(key, {ValueType::choice(kNames)})) {
    const auto at = std::ranges::find(kNames, item->scalar);
    if (item->kind != Node::Kind::kScalar || at == kNames.end()) {
      reading.error(item->place, fmt::format("plan.allow: \"{}\" is unknown; {}", item->scalar.substr(0, 64),
                                             did_you_mean(item->scalar, kNames)));
    } else {
      *flags[at - kNames.begin()] = true;
    }
  }
}

// Values of an option of the same name, for the techniques that have it.
std::vector<int> read_values(Fields& fields, const FileKey& key) {
  constexpr double kMost = 1'000'000;
  std::vector<int> out;
  for (const Node* item : fields.list(key, {ValueType::integer(1, static_cast<std::int64_t>(kMost))})) {
    const auto value = item->kind == Node::Kind::kScalar ? parse_number(item->scalar) : std::nullopt;
    if (value && *value == std::floor(*value) && *value >= 1 && *value <= kMost) {
      out.push_back(static_cast<int>(*value));
    } else {
      fields.error_at(item->place, fmt::format("{}: whole numbers from 1 to {:.0f} are expected, such as [10, 100]",
                                               fields.path_of(key.name), kMost));
    }
  }
  return out;
}

// Values of an option with named choices, by their number.
std::vector<int> read_names(Fields& fields, const FileKey& key, const std::vector<std::string>& names) {
  std::vector<int> out;
  for (const Node* item : fields.list(key, {ValueType::choice(names)})) {
    const auto at = std::ranges::find(names, item->scalar);
    if (item->kind == Node::Kind::kScalar && at != names.end()) {
      out.push_back(static_cast<int>(at - names.begin()));
    } else {
      fields.error_at(item->place, fmt::format("{}: \"{}\" is unknown; {}", fields.path_of(key.name),
                                               item->scalar.substr(0, 64), did_you_mean(item->scalar, names)));
    }
  }
  return out;
}

bool have_option(const std::vector<TechniqueOptions>& techniques, const std::string& key) {
  return std::ranges::any_of(techniques, [&](const TechniqueOptions& t) {
    const auto all = options_of(*t.technique);
    return std::ranges::any_of(all, [&](const OptionSpec* option) { return option->key == key; });
  });
}

void check_dollars(const Scenario& scenario) {
  std::vector<std::string> missing;
  for (const auto& name : gpu_names(scenario.platform)) {
    if (!scenario.plan.dollars_per_hour.contains(name)) missing.push_back(name);
  }
  if (missing.empty()) return;
  const bool vms_have_prices =
      std::ranges::all_of(scenario.platform.vms, [](const Vm& vm) { return vm.type.price_per_hour.has_value(); });
  throw InputError(
      {}, fmt::format("the objective dollars needs the price of {}; {}give plan.dollars_per_hour.{} in the "
                      "scenario or by --set",
                      fmt::join(missing, ", "),
                      vms_have_prices ? "the objective cost takes the prices of VMs, or " : "", missing.front()));
}

// Requires a price of every GPU, or else of every VM.
void check_cost(const Scenario& scenario) {
  const auto& by_gpu = scenario.plan.dollars_per_hour;
  const auto names = gpu_names(scenario.platform);
  if (std::ranges::all_of(names, [&](const auto& name) { return by_gpu.contains(name); })) return;
  for (const Vm& vm : scenario.platform.vms) {
    if (!vm.type.price_per_hour)
      throw InputError({}, fmt::format("the objective cost needs the price of every VM: {} states no price_per_hour; "
                                       "give platform.vms.{}.price_per_hour, or plan.dollars_per_hour of every GPU",
                                       vm.name, vm.name));
  }
}

void check_energy(const Scenario& scenario) {
  for (const Device& device : scenario.platform.devices) {
    if (device.gpu.board_power.value <= 0)
      throw InputError({}, fmt::format("the objective energy needs the boards' power: the GPU {} states no board_power",
                                       device.gpu.name));
  }
}

}  // namespace

const std::vector<std::string>& plan_objective_names() {
  static const std::vector<std::string> kNames = {"time", "gpu_hours", "dollars", "cost", "energy", "deadline", "p90"};
  return kNames;
}

PlanRules read_plan_rules(Fields fields, const Platform& platform, Reading& reading) {
  PlanRules rules;
  rules.objective = static_cast<PlanObjective>(
      fields.choice({"objective", "Objective that slmsim plan minimises."}, plan_objective_names(), 0));
  read_allowed(fields, rules, reading);
  rules.inner_steps =
      read_values(fields, {"inner_steps",
                           "Numbers of steps between two exchanges that slmsim plan may try: they change the training.",
                           "as in the techniques"});
  rules.fragments = read_values(
      fields, {"fragments", "Numbers of parts exchanged in turn that slmsim plan may try: they change the training.",
               "as in the techniques"});
  rules.compress =
      read_names(fields,
                 {"compress", "Compressors of gradients that slmsim plan may try: they change the training.",
                  "as in the techniques"},
                 compressor_names());
  const FileKey prices{
      "dollars_per_hour",
      "Prices of GPUs; needed for the objective dollars, and for cost where VMs state no price_per_hour."};
  fields.inside(prices, [&](Fields& by_name) {
    for (const auto& name : gpu_names(platform)) {
      if (by_name.has(name))
        rules.dollars_per_hour[name] = by_name.number(
            {name, "Dollars per hour of one GPU, by the GPU's name; 0 if it is your own.", "unknown"}, {0, 1e6});
    }
  });
  fields.done();
  return rules;
}

void check_varied(const PlanRules& rules, const std::vector<TechniqueOptions>& techniques) {
  for (const auto& [values, key] :
       {std::pair{&rules.inner_steps, "inner_steps"}, {&rules.fragments, "fragments"}, {&rules.compress, "compress"}}) {
    if (!values->empty() && !have_option(techniques, key))
      throw InputError(
          {}, fmt::format("plan.{} has no effect: none of the scenario's techniques has an option {}", key, key));
  }
}

void check_objective(PlanObjective objective, const Scenario& scenario) {
  switch (objective) {
    case PlanObjective::kTime:
    case PlanObjective::kGpuHours:
      return;
    case PlanObjective::kDollars:
      return check_dollars(scenario);
    case PlanObjective::kCost:
      return check_cost(scenario);
    case PlanObjective::kEnergy:
      return check_energy(scenario);
    case PlanObjective::kDeadline:
      if (scenario.job && scenario.job->lease) return;
      throw InputError({},
                       "the objective deadline needs job.lease, after which the machines are gone, such as "
                       "--set job.lease='7 d'");
    case PlanObjective::kP90:
      if (scenario.job) return;
      throw InputError(
          {}, "the objective p90 is for whole jobs; state job with its failures, or choose the objective time");
  }
}

}  // namespace slmsim
