#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/export/export.h"
#include "sim/report/json_values.h"

namespace slmsim {
namespace {

const char* type_name(Precision precision) {
  return precision == Precision::kFp16 ? "fp16" : precision == Precision::kBf16 ? "bfp16" : "fp32";
}

// ZeRO's stage as DeepSpeed counts it; nothing for ways that DeepSpeed does not have.
std::optional<int> zero_stage(const Plan& plan) {
  if (plan.technique == Technique::kData) return 0;
  if (plan.technique == Technique::kZero2) return 2;
  if (plan.replicas && plan.replicas->stage > 0) return plan.replicas->stage;
  return std::nullopt;
}

// Where a part of the state lives; "NVME" stands for the folder of the rank's volume.
void add_offload(Json& zero, const char* key, StatePlace place) {
  if (place == StatePlace::kGpu) return;
  zero[key] = {{"device", place == StatePlace::kHost ? "cpu" : "nvme"}, {"pin_memory", true}};
  if (place == StatePlace::kDrive) zero[key]["nvme_path"] = "NVME";
}

std::string why_not(Technique technique) {
  if (technique == Technique::kDdp) return "DDP is PyTorch's own (torch.nn.parallel.DistributedDataParallel)";
  return fmt::format(
      "{} divides operators or layers, which a DeepSpeed configuration does not state; a pipeline is "
      "written into the model (deepspeed.pipe.PipelineModule)",
      name_of(technique));
}

}  // namespace

Export export_deepspeed(const ExportRequest& request) {
  const auto& [way, model, plan] = request;
  const TechniqueOptions& options = way.options;
  const Training& training = way.scenario.training;
  const int gpus = static_cast<int>(way.group.devices.size());
  Export out{"DeepSpeed", {}, {}, {}};
  const std::optional<int> stage = zero_stage(plan);
  if (!stage) out.cannot.push_back(why_not(options.technique));
  const auto& shares = plan.stages.front().batch_shares;
  const bool even = std::all_of(shares.begin(), shares.end(), [&](double s) { return s == shares.front(); });
  if (!even) out.cannot.emplace_back("GPUs get different numbers of sequences; DeepSpeed gives each as many");
  if (plan.hierarchical) out.cannot.emplace_back("gradients are summed inside VMs first, for which there is no option");
  if (even && training.batch % (gpus * plan.micro_batches) != 0)
    out.cannot.push_back(fmt::format("a batch of {} is no multiple of {} GPUs x {} micro-batches", training.batch, gpus,
                                     plan.micro_batches));
  if (!out.cannot.empty()) return out;

  Json json = {{"train_batch_size", training.batch},
               {"train_micro_batch_size_per_gpu", training.batch / gpus / plan.micro_batches},
               {"gradient_accumulation_steps", plan.micro_batches},
               {"communication_data_type", type_name(training.gradient_precision)},
               {"optimizer", {{"type", "Adam"}, {"params", Json::object()}}},
               {"fp16", {{"enabled", training.precision == Precision::kFp16}}},
               {"bf16", {{"enabled", training.precision == Precision::kBf16}}}};
  Json& zero = json["zero_optimization"];
  zero = {{"stage", *stage}};
  if (plan.replicas) {
    add_offload(zero, "offload_optimizer", plan.replicas->optimizer);
    add_offload(zero, "offload_param", plan.replicas->parameters);
    if (plan.replicas->optimizer == StatePlace::kDrive)
      out.notes.emplace_back("NVME stands for the folder of each node's volume of drives");
  } else if (*stage == 2) {
    zero["reduce_scatter"] = plan.gradient_collective == GradientCollective::kReduceScatter;
    zero["overlap_comm"] = false;
    if (plan.gathered != training.precision)
      out.notes.push_back("DeepSpeed gathers parameters in the training precision; the plan counts " +
                          precision_names()[static_cast<std::size_t>(plan.gathered)]);
  }
  if (training.rematerialisation)
    out.notes.emplace_back("rematerialisation is called in the model (deepspeed.checkpointing.checkpoint per layer)");
  std::string hosts;
  std::vector<std::string> include;
  for (const auto& vm : used_vms(way)) {
    hosts += fmt::format("{} slots={}\n", vm.name, vm.all);
    include.push_back(fmt::format("{}:{}", vm.name, fmt::join(vm.gpus, ",")));
  }
  out.files = {{"deepspeed.json", json.dump(2) + "\n"},
               {"hostfile", hosts},
               {"deepspeed.sh",
                fmt::format("#!/bin/sh\n# TRAIN.py is your training script; optimizer parameters are yours too.\n"
                            "deepspeed --hostfile=hostfile --include=\"{}\" TRAIN.py --deepspeed --deepspeed_config "
                            "deepspeed.json\n",
                            fmt::join(include, "@"))}};
  return out;
}

}  // namespace slmsim
