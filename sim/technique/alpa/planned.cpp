#include "sim/technique/alpa/planned.h"

#include <algorithm>

#include <fmt/format.h>

namespace slmsim {
namespace {

bool has(const Technique& technique, const OptionSpec& option) {
  return std::find(technique.options.begin(), technique.options.end(), &option) != technique.options.end();
}

// GPUs of each stage if their number is equal; 0: the planner decides.
int gpus_of_stage(const VariationRequest& r) {
  if (!has(*r.base.technique, kStages)) return r.group.gpus;
  if (planner_cuts_stages(r.so_far)) return 0;
  const int stages = r.so_far.get(kStages);
  if (stages > 0) return r.group.gpus / stages;
  return r.group.vms > 1 ? r.group.least_of_vm : 1;
}

}  // namespace

Variation planner_variation() {
  return {
      .values = [](const VariationRequest&) { return yes_or_no(true); },
      .apply =
          [](TechniqueOptions& o, int value, const Scenario&, int) {
            o.set(kPlanner, static_cast<Planner>(value));
            o.set(kMesh, {});
          },
      .words = [](const TechniqueOptions&, int value) -> std::string { return value == 1 ? "planned by slmsim" : ""; }};
}

Variation tensor_variation() {
  return {.values =
              [](const VariationRequest& r) {
                std::vector<int> out = {0};
                const int in_stage = gpus_of_stage(r);
                if (in_stage <= 1) return out;
                for (const int n : counts_to_try(r.scenario.platform)) {
                  if (in_stage % n == 0) out.push_back(n);
                }
                return out;
              },
          .apply = [](TechniqueOptions& o, int value, const Scenario&, int) { o.set(kTensor, value); },
          .words = [](const TechniqueOptions&, int value) -> std::string {
            return value > 0 ? fmt::format("tensor degree {}", value) : "";
          }};
}

MegatronExport planned_for_megatron(const ExportRequest& request) {
  MegatronExport out{.tensor = std::max(1, request.setup.options.get(kTensor))};
  const auto& stages = request.plan.stages;
  const bool divided = std::any_of(stages.begin(), stages.end(), [](const Stage& s) { return s.mesh.size() > 1; });
  if (divided && request.setup.options.get(kTensor) == 0)
    out.cannot = "an integer program divides the operators, not a tensor degree";
  return out;
}

std::vector<std::string> notes_on_planner(const ExportRequest& request) {
  if (request.setup.options.get(kPlanner) != Planner::kSlmsim) return {};
  return {"inside a stage Alpa's solver divides operators by its own costs, not by this plan's"};
}

std::vector<std::string> remarks_on_division(const Plan& plan) {
  int all = 0, same = 0;
  for (const Stage& stage : plan.stages) {
    const int gpus = static_cast<int>(stage.mesh.size());
    int copies = 1;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (std::ranges::all_of(stage.shardings,
                              [&](const Division& d) { return d.along[axis] == Sharding::kReplicated; }))
        copies *= stage.shape()[axis];
    }
    all += gpus;
    same += gpus - gpus / copies;
  }
  if (same == 0) return {};
  return {fmt::format("{} of {}'s {} GPUs only repeat what the others compute: dividing it costs more than it saves",
                      same, plan.technique->name, all)};
}

}  // namespace slmsim
