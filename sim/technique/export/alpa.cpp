#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/export/export.h"

namespace slmsim {
namespace {

// VMs x GPUs of each; nothing where a stage has unequal parts of several VMs.
std::optional<std::pair<int, int>> physical_shape(const Platform& platform, const std::vector<int>& mesh) {
  std::map<int, int> vms;
  for (const int device : mesh) ++vms[platform.devices[device].vm];
  for (const auto& [vm, count] : vms) {
    if (count != vms.begin()->second) return std::nullopt;
  }
  return std::pair{static_cast<int>(vms.size()), vms.begin()->second};
}

}  // namespace

AlpaExport alpa_pipeline(const ExportRequest& request) {
  const auto& [setup, model, plan] = request;
  AlpaExport out{.pipeline = true};
  std::vector<std::string> ids, physical, logical, options;
  int layer = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    std::vector<int> own(static_cast<std::size_t>(layers_of_stages(request)[s]));
    std::iota(own.begin(), own.end(), layer);
    layer += static_cast<int>(own.size());
    ids.push_back(fmt::format("[{}]", fmt::join(own, ", ")));
    const auto shape = physical_shape(setup.scenario.platform, stage.mesh);
    if (!shape) {
      out.cannot = "a stage has unequal parts of several VMs; a submesh is hosts x GPUs";
      return out;
    }
    physical.push_back(fmt::format("({}, {})", shape->first, shape->second));
    logical.push_back(fmt::format("({}, {})", stage.shape()[0], stage.shape()[1]));
    options.emplace_back(setup.options.get(kTensor) > 0 ? "{\"force_batch_dim_to_mesh_dim\": 0}" : "{}");
  }
  const OperatorPlan& how = plan.operators();
  const std::string schedule = how.ahead == 1 ? "1f1b_overlap_friendly" : name_in(schedule_names(), how.schedule);
  out.method = fmt::format(
      "alpa.PipeshardParallel(\n    num_micro_batches={},\n    pipeline_schedule=\"{}\",\n"
      "    layer_option=alpa.AutoLayerOption(layer_num={}{}),\n    stage_option=alpa.ManualStageOption(\n"
      "        forward_stage_layer_ids=[{}],\n        submesh_physical_shapes=[{}],\n"
      "        submesh_logical_shapes=[{}],\n        submesh_autosharding_option_dicts=[{}]))",
      plan.micro_batches, schedule, model.layers,
      plan.recompute == Recompute::kFull ? ", remat_mode=\"coarse_grained_remat\"" : "", fmt::join(ids, ", "),
      fmt::join(physical, ", "), fmt::join(logical, ", "), fmt::join(options, ", "));
  out.notes.emplace_back("Alpa clusters operators to layers itself, so that a boundary may shift by part of a layer");
  return out;
}

Export export_alpa(const ExportRequest& request) {
  const AlpaExport how = request.plan.technique->exports(request).alpa;
  const auto& [setup, model, plan] = request;
  Export out{"Alpa", {}, {}, how.notes};
  if (!how.cannot.empty()) out.cannot.push_back(how.cannot);
  if (has_uneven_shares(plan.stages.front()))
    out.cannot.emplace_back("GPUs get different numbers of sequences; Alpa divides a batch evenly");
  if (is_hierarchical(plan)) out.cannot.emplace_back(kNoHierarchicalSums);
  if (!out.cannot.empty()) return out;
  if (plan.recompute == Recompute::kFull && !how.pipeline)
    out.notes.emplace_back("rematerialisation is called in the model (alpa.automatic_remat)");
  if (plan.recompute == Recompute::kOperators)
    out.notes.emplace_back(
        "rematerialisation is called in the model (jax.checkpoint with a policy that keeps attention and every other "
        "product by name)");
  if (plan.recompute == Recompute::kSelective)
    out.notes.emplace_back("rematerialisation is called in the model (jax.checkpoint around attention)");
  std::vector<std::string> names;
  for (const auto& vm : used_vms(setup)) names.push_back(fmt::format("{}: GPUs {}", vm.name, fmt::join(vm.gpus, ",")));
  out.files = {{"alpa.py", fmt::format("# A Ray cluster of {}, in this order; the first is the head.\nimport alpa\n\n"
                                       "alpa.init(cluster=\"ray\")\nmethod = {}\n\n"
                                       "# train_step = alpa.parallelize(train_step, method=method)\n",
                                       fmt::join(names, "; "), how.method)}};
  return out;
}

}  // namespace slmsim
