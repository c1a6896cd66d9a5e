#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/export/export.h"

namespace slmsim {
namespace {

// VMs x GPUs of each; nothing where a stage takes unequal parts of several VMs.
std::optional<std::pair<int, int>> physical_shape(const Platform& platform, const std::vector<int>& mesh) {
  std::map<int, int> vms;
  for (const int device : mesh) ++vms[platform.devices[static_cast<std::size_t>(device)].vm];
  for (const auto& [vm, count] : vms) {
    if (count != vms.begin()->second) return std::nullopt;
  }
  return std::pair{static_cast<int>(vms.size()), vms.begin()->second};
}

std::string pipeline(const ExportRequest& request, Export& out) {
  const auto& [way, model, plan] = request;
  std::vector<std::string> ids, physical, logical, options;
  int layer = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    std::vector<int> own(static_cast<std::size_t>(layers_of_stages(request)[s]));
    std::iota(own.begin(), own.end(), layer);
    layer += static_cast<int>(own.size());
    ids.push_back(fmt::format("[{}]", fmt::join(own, ", ")));
    const auto shape = physical_shape(way.scenario.platform, stage.mesh);
    if (!shape) {
      out.cannot.emplace_back("a stage has unequal parts of several VMs; a submesh is hosts x GPUs");
      return "";
    }
    physical.push_back(fmt::format("({}, {})", shape->first, shape->second));
    logical.push_back(fmt::format("({}, {})", stage.shape()[0], stage.shape()[1]));
    options.push_back(way.options.tensor > 0 ? "{\"force_batch_dim_to_mesh_dim\": 0}" : "{}");
  }
  return fmt::format(
      "method = alpa.PipeshardParallel(\n    num_micro_batches={},\n    pipeline_schedule=\"{}\",\n"
      "    layer_option=alpa.AutoLayerOption(layer_num={}{}),\n    stage_option=alpa.ManualStageOption(\n"
      "        forward_stage_layer_ids=[{}],\n        submesh_physical_shapes=[{}],\n"
      "        submesh_logical_shapes=[{}],\n        submesh_autosharding_option_dicts=[{}]))\n",
      plan.micro_batches, schedule_names()[static_cast<std::size_t>(plan.schedule)], model.layers,
      way.scenario.training.rematerialisation ? ", remat_mode=\"coarse_grained_remat\"" : "", fmt::join(ids, ", "),
      fmt::join(physical, ", "), fmt::join(logical, ", "), fmt::join(options, ", "));
}

}  // namespace

Export export_alpa(const ExportRequest& request) {
  const auto& [way, model, plan] = request;
  const TechniqueOptions& o = way.options;
  Export out{"Alpa", {}, {}, {}};
  const auto& shares = plan.stages.front().batch_shares;
  if (std::any_of(shares.begin(), shares.end(), [&](double s) { return s != shares.front(); }))
    out.cannot.emplace_back("GPUs get different numbers of sequences; Alpa divides a batch evenly");
  if (plan.hierarchical) out.cannot.emplace_back("gradients are summed inside VMs first, for which there is no option");
  std::string method;
  switch (o.technique) {
    case Technique::kData:
      method = fmt::format("method = alpa.DataParallel(num_micro_batches={})\n", plan.micro_batches);
      break;
    case Technique::kZero2:
      method = fmt::format("method = alpa.Zero2Parallel(num_micro_batches={})\n", plan.micro_batches);
      if (plan.micro_batches > 1 && plan.gradient_collective == GradientCollective::kReduceScatter)
        out.cannot.emplace_back("with several micro-batches Alpa all-reduces gradients; the plan reduce-scatters them");
      break;
    case Technique::kShard: {
      const MeshShape shape = plan.stages.front().shape();
      method = fmt::format(
          "mesh = alpa.get_global_physical_mesh(create_if_not_exist=True).get_logical_mesh(({}, {}))\n"
          "method = alpa.ShardParallel(devices=mesh, num_micro_batches={}{})\n",
          shape[0], shape[1], plan.micro_batches,
          o.tensor > 0 ? ",\n    auto_sharding_option=alpa.AutoShardingOption("
                         "force_batch_dim_to_mesh_dim=0)"
                       : "");
      break;
    }
    case Technique::kPipeshard:
      method = pipeline(request, out);
      break;
    default:
      out.cannot.push_back(fmt::format("{} is not one of Alpa's methods", name_of(o.technique)));
  }
  if (!out.cannot.empty()) return out;
  if (o.planner == Planner::kSlmsim)
    out.notes.emplace_back(
        "inside a stage Alpa's solver divides operators by its own costs, not by those of this plan");
  if (o.technique == Technique::kPipeshard)
    out.notes.emplace_back("Alpa clusters operators to layers itself, so that a boundary may shift by part of a layer");
  if (way.scenario.training.rematerialisation && o.technique != Technique::kPipeshard)
    out.notes.emplace_back("rematerialisation is called in the model (alpa.automatic_remat)");
  std::vector<std::string> names;
  for (const auto& vm : used_vms(way)) names.push_back(fmt::format("{}: GPUs {}", vm.name, fmt::join(vm.gpus, ",")));
  out.files = {{"alpa.py", fmt::format("# A Ray cluster of {}, in this order; the first is the head.\nimport alpa\n\n"
                                       "alpa.init(cluster=\"ray\")\n{}\n"
                                       "# train_step = alpa.parallelize(train_step, method=method)\n",
                                       fmt::join(names, "; "), method)}};
  return out;
}

}  // namespace slmsim
