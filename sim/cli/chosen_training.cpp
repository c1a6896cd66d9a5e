#include <algorithm>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/cli/command.h"
#include "sim/cli/machines.h"
#include "sim/compute/operator_graph.h"
#include "sim/scenario/data_root.h"

namespace slmsim {
namespace {

constexpr int kSequencesPerGpu = 8;       // of a batch, at least
constexpr int kMostSequencesPerGpu = 64;  // above it, a batch is not made to divide among all groups
constexpr int kMostAtOnce = 8;            // sequences of a micro-batch
constexpr std::size_t kMostGpusInAllGroups = 8;

// One group of each kind: numbers of GPUs by VM, with their types.
std::vector<Group> different_groups(const Scenario& scenario) {
  const std::vector<int> gpus = gpu_kinds(scenario.platform), vms = vm_kinds(scenario.platform);
  std::set<std::vector<int>> seen;
  std::vector<Group> out;
  for (const auto& group : scenario.groups) {
    std::vector<int> kinds;
    int before = -1;
    for (const int device : group.devices) {
      const int vm = scenario.platform.devices[device].vm;
      if (vm != before) kinds.push_back(-1 - vms[vm]);
      kinds.push_back(gpus[device]);
      before = vm;
    }
    if (seen.insert(kinds).second) out.push_back(group);
  }
  return out;
}

// Number of techniques that fit, by model and group, and of those that stay off the edge of memory, where a run may be slower or
// fail for what is not modelled.
struct Fitting {
  std::vector<int> all, with_room;

  bool operator==(const Fitting&) const = default;
};

Fitting fitting(const Scenario& scenario, const std::vector<Group>& groups) {
  Fitting out;
  for (const auto& model : scenario.models) {
    const OperatorGraph operators = build_operator_graph(model);
    for (const auto& group : groups) {
      int& all = out.all.emplace_back(0);
      int& with_room = out.with_room.emplace_back(0);
      for (const auto& options : scenario.techniques) {
        const PlanResult plan = make_plan({scenario, model, operators, group, options});
        if (!plan.plan || !fits(*plan.plan, operators, scenario)) continue;
        ++all;
        const auto memory = memory_of(*plan.plan, operators, scenario);
        if (std::ranges::none_of(memory, [](const auto& m) { return m.at_edge(); })) ++with_room;
      }
    }
  }
  return out;
}

bool has_any(const std::vector<int>& counts) {
  return std::ranges::any_of(counts, [](int count) { return count > 0; });
}

// All GPUs, or GPUs of one VM.
bool is_whole_or_single(const Scenario& scenario, const Group& group) {
  const auto vm = [&](int device) { return scenario.platform.devices[device].vm; };
  return group.devices.size() == scenario.platform.devices.size() ||
         vm(group.devices.front()) == vm(group.devices.back());
}

// Numbers whose multiples divide among all groups; among each machine and all together; among all together.
std::vector<long> factors_of(const Scenario& scenario, const std::vector<Group>& groups) {
  const auto gpus = static_cast<long>(scenario.platform.devices.size());
  const long most = kMostSequencesPerGpu * gpus + 1;  // larger ones are not used
  long every = gpus, single = gpus;
  for (const auto& group : groups) {
    const auto count = static_cast<long>(group.devices.size());
    if (every < most) every = std::lcm(every, count);
    if (single < most && is_whole_or_single(scenario, group)) single = std::lcm(single, count);
  }
  return {every, single, gpus};
}

struct Sizes {
  int batch = 0, micro_batch = 0;
};

// Whether each GPU of every group computes whole micro-batches.
bool divides(const std::vector<Group>& groups, const Sizes& sizes) {
  return std::ranges::all_of(groups, [&](const Group& group) {
    return sizes.batch % (static_cast<int>(group.devices.size()) * sizes.micro_batch) == 0;
  });
}

// Whether each GPU of every group with equal shares of the batch computes whole micro-batches.
bool divides_equal_shares(std::vector<Group> groups, const Sizes& sizes) {
  std::erase_if(groups, [&](const Group& group) { return sizes.batch % static_cast<int>(group.devices.size()) != 0; });
  return divides(groups, sizes);
}

// Larger micro-batches first, of which small ones use GPUs badly, and for each the batch that divides best; the last one
// has single sequences.
std::vector<Sizes> sizes_to_try(const Scenario& scenario, const std::vector<Group>& groups, int stated) {
  const auto gpus = static_cast<long>(scenario.platform.devices.size());
  std::vector<Sizes> out;
  const auto add = [&](long factor, int micro_batch) {
    const long step = factor * micro_batch;
    const bool large = step > kMostSequencesPerGpu * gpus;
    const Sizes sizes{static_cast<int>((kSequencesPerGpu * gpus + step - 1) / step * step), micro_batch};
    if (!large) out.push_back(sizes);
    return !large;
  };
  if (stated > 0) {
    for (int micro_batch = std::min(kMostAtOnce, stated); micro_batch > 0; --micro_batch) {
      if (divides_equal_shares(groups, {stated, micro_batch})) out.push_back({stated, micro_batch});
    }
    return out;
  }
  const std::vector<long> factors = factors_of(scenario, groups);
  for (const long factor : factors) {
    for (const int micro_batch : {8, 4}) add(factor, micro_batch);
  }
  for (const int micro_batch : {2, 1})
    std::ranges::any_of(factors, [&](long factor) { return add(factor, micro_batch); });
  return out;
}

}  // namespace

Chosen choose_precision(std::optional<Precision> dtype, const Platform& platform) {
  const auto devices = all_devices(platform);
  const Gpu *without_bf16 = gpu_without(platform, devices, Precision::kBf16),
            *without_fp16 = gpu_without(platform, devices, Precision::kFp16);
  if (dtype == Precision::kFp32) return {"fp32", "dtype of config.json; bf16 or fp16 is faster and needs less memory"};
  const std::string of_file = dtype ? "dtype of config.json" : "";
  if (dtype == Precision::kFp16 && !without_fp16) return {"fp16", of_file};
  if (!without_bf16) return {"bf16", dtype ? of_file : "assumed: all GPUs have it"};
  const std::string wanted =
      dtype ? fmt::format("{} is {}", of_file, dtype == Precision::kFp16 ? "float16" : "bfloat16") : "assumed";
  if (!without_fp16) return {"fp16", fmt::format("{}: {} has no bf16", wanted, without_bf16->name)};
  return {"fp32", fmt::format("{}: {} has no fast 16-bit numbers", wanted, without_fp16->name)};
}

Chosen choose_stack(const Scenario& compiled) {
  const std::string old = too_old_gpu(compiled, all_devices(compiled.platform));
  if (!old.empty()) return {"eager", fmt::format("assumed: {}; slmsim list stacks names the others", old)};
  return {"compiled", "assumed: torch.compile, flash attention; slmsim list stacks names the others"};
}

NamedStack named_stack(const std::string& name, const std::filesystem::path& folder) {
  const auto roots = data_roots(folder / "scenario.yaml");
  index_of("--stack", name, known_names(roots, kStackFile));
  const Node file = read_yaml(find_named(roots, kStackFile, name));
  const Node* casts = file.find("autocast");
  const bool autocast = casts && (casts->scalar == "yes" || casts->scalar == "true");
  return {{name}, autocast ? Chosen{"fp32", "as autocast keeps them"} : Chosen{}};
}

std::vector<Chosen> usual_techniques(const Inventory& inventory) {
  std::vector<Chosen> out = {
      {"DDP"}, {"FSDP"}, {"Pipeshard: {planner: slmsim}", "a pipeline, cut by the GPUs' speeds"}};
  std::map<std::string, std::size_t> gpus;  // by site
  for (const auto& machine : inventory.machines) gpus[machine.site] += machine.gpus.size();
  if (gpus.size() < 2) return out;
  // Replicas must have the same number of GPUs.
  const bool equal = std::ranges::all_of(gpus, [&](const auto& site) { return site.second == gpus.begin()->second; });
  out.push_back({fmt::format("DiLoCo: {{inner_steps: 100, replica: {}}}", equal ? "site" : "gpu"),
                 "exchanges once in 100 steps; this changes the training"});
  return out;
}

std::vector<Chosen> named_techniques(const std::vector<std::string>& words) {
  std::vector<Chosen> out;
  for (const auto& word : words) {
    std::istringstream names(word);
    for (std::string name; std::getline(names, name, ',');) {
      std::erase(name, ' ');
      if (name == "study") {
        for (const Technique* technique : technique_table()) {
          if (technique->usual) out.push_back({technique->name});
        }
      } else if (!name.empty()) {
        index_of("--technique", name, technique_names());
        out.push_back({name});
      }
    }
  }
  return out;
}

ChosenBatch choose_batch(const Scenario& wanted, int stated) {
  const std::vector<Group> groups = different_groups(wanted);
  const std::vector<Sizes> sizes = sizes_to_try(wanted, groups, stated);
  // Memory of pairs of sites lies between that of one machine and of all; on larger platforms pairs take long to plan.
  std::vector<Group> checked = groups;
  if (wanted.platform.devices.size() > kMostGpusInAllGroups)
    std::erase_if(checked, [&](const Group& group) { return !is_whole_or_single(wanted, group); });
  Scenario scenario = wanted;
  const auto fitting_with = [&](const Sizes& one) {
    scenario.training.batch = one.batch;
    scenario.training.micro_batch = one.micro_batch;
    return fitting(scenario, checked);
  };
  ChosenBatch out;
  Fitting most;
  // Recomputing layers costs less time than a run at the edge of memory may.
  for (const bool room : {true, false}) {
    for (const bool rematerialisation : {false, true}) {
      scenario.training.rematerialisation = rematerialisation;
      most = fitting_with(sizes.back());
      out.fits = has_any(room ? most.with_room : most.all);
      if (out.fits) break;
    }
    if (out.fits) break;
  }
  Sizes chosen = sizes.back();
  int too_large = 0;  // the last micro-batch with which less fits
  for (auto one = sizes.begin(); out.fits && one != sizes.end() - 1; ++one) {
    if (too_large > 0 && one->micro_batch >= too_large) continue;
    if (fitting_with(*one) == most) {
      chosen = *one;
      break;
    }
    too_large = one->micro_batch;
  }
  const bool even = divides(groups, chosen);
  out.batch = {std::to_string(chosen.batch),
               stated > 0
                   ? (even ? "sequences per iteration" : "sequences per iteration; some groups cannot divide it evenly")
                   : fmt::format("assumed: sequences per iteration{}",
                                 even ? ", which every group of GPUs divides evenly" : "")};
  out.micro_batch = {
      std::to_string(chosen.micro_batch),
      fmt::format("sequences that a GPU computes at once{}",
                  !out.fits       ? "; nothing fits even so"
                  : too_large > 0 ? fmt::format("; with {} less fits, or at the edge of memory", too_large)
                                  : "")};
  if (scenario.training.rematerialisation && out.fits)
    out.rematerialisation = {"yes", "recomputes layers; without it nothing fits, or at the edge of memory only"};
  return out;
}

}  // namespace slmsim
