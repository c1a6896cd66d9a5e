
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/name_in.h"
#include "sim/technique/export/export.h"

namespace slmsim {
namespace {

using Json = nlohmann::ordered_json;

const char* type_name(Precision precision) {
  return precision == Precision::kFp16 ? "fp16" : precision == Precision::kBf16 ? "bf16" : "fp32";
}

// Sets the storage of a part of the state; "NVME" is a placeholder for the folder of the rank's volume.
void add_offload(Json& zero, const char* key, StatePlace place) {
  if (place == StatePlace::kGpu) return;
  zero[key] = {{"device", place == StatePlace::kHost ? "cpu" : "nvme"}, {"pin_memory", true}};
  if (place == StatePlace::kDrive) zero[key]["nvme_path"] = "NVME";
}

Json optimizer_json(UpdateRule rule) {
  if (rule == UpdateRule::kAdam) return {{"type", "Adam"}, {"params", Json::object()}};
  return {{"type", "SGD"}, {"params", {{"momentum", rule == UpdateRule::kMomentum ? 0.9 : 0.0}}}};
}

}  // namespace

Export export_deepspeed(const ExportRequest& request) {
  const DeepSpeedExport how = request.plan.technique->exports(request).deepspeed;
  const auto& [setup, model, plan] = request;
  const Training& training = setup.scenario.training;
  const int gpus = static_cast<int>(setup.group.devices.size());
  Export out{"DeepSpeed", {}, {}, {}};
  if (!how.cannot.empty()) out.cannot.push_back(how.cannot);
  const bool even = !has_uneven_shares(plan.stages.front());
  if (!even) out.cannot.emplace_back("GPUs get different numbers of sequences; DeepSpeed gives each the same number");
  if (is_hierarchical(plan)) out.cannot.emplace_back(kNoHierarchicalSums);
  if (even && training.batch % (gpus * plan.micro_batches) != 0)
    out.cannot.push_back(fmt::format("a batch of {} is not a multiple of {} GPUs x {} micro-batches; {} are",
                                     training.batch, gpus, plan.micro_batches,
                                     nearest_batches(training.batch, gpus * plan.micro_batches)));
  if (training.optimizer == UpdateRule::kAdam8bit)
    out.cannot.emplace_back("its configuration has no 8-bit Adam; pass that of bitsandbytes to deepspeed.initialize");
  if (!out.cannot.empty()) return out;

  Json json = {{"train_batch_size", training.batch},
               {"train_micro_batch_size_per_gpu", training.batch / gpus / plan.micro_batches},
               {"gradient_accumulation_steps", plan.micro_batches},
               {"optimizer", optimizer_json(training.optimizer)},
               {"fp16", {{"enabled", training.precision == Precision::kFp16}}},
               {"bf16", {{"enabled", training.precision == Precision::kBf16}}}};
  // By default gradients are reduced in the training precision. Versions before 0.14.1 spell bf16 "bfp16", and each
  // refuses the other's spelling.
  if (std::string_view(type_name(training.gradient_precision)) != type_name(training.precision))
    json["communication_data_type"] = type_name(training.gradient_precision);
  if (how.stage > 0 && training.optimizer != UpdateRule::kAdam) json["zero_allow_untested_optimizer"] = true;
  if (how.freeze_step) {
    json["optimizer"] = {{"type", "OneBitAdam"},
                         {"params", {{"freeze_step", *how.freeze_step}, {"comm_backend_name", "nccl"}}}};
    out.notes.emplace_back(
        "1-bit Adam masks momenta without gradients, such as those of unused positions, by exp_avg_mask");
  }
  Json& zero = json["zero_optimization"];
  zero = {{"stage", how.stage}};
  add_offload(zero, "offload_optimizer", how.optimizer);
  add_offload(zero, "offload_param", how.parameters);
  if (how.optimizer == StatePlace::kDrive)
    out.notes.emplace_back("NVME stands for the folder of each node's volume of drives");
  if (how.gradient_collective) {
    zero["reduce_scatter"] = *how.gradient_collective == GradientCollective::kReduceScatter;
    zero["overlap_comm"] = false;
  }
  if (how.gathered && *how.gathered != training.precision)
    out.notes.push_back("DeepSpeed gathers parameters in the training precision; the plan counts " +
                        name_in(precision_names(), *how.gathered));
  if (plan.recompute != Recompute::kNone)
    out.notes.push_back(fmt::format("rematerialisation is called in the model (deepspeed.checkpointing.checkpoint {})",
                                    plan.recompute == Recompute::kFull ? "per layer" : "around attention"));
  std::string hosts;
  std::vector<std::string> include;
  for (const auto& vm : used_vms(setup)) {
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
