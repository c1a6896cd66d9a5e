#include <algorithm>

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

// Sizes in elements that are not DeepSpeed's own defaults (runtime/zero/config.py), which are Framework's but for sub-groups.
void add_sizes(Json& zero, const Framework& sizes, const DeepSpeedExport& how) {
  constexpr double kSubGroup = 1e9;
  const Framework plain{};
  const auto add = [&](const char* key, double size, double usual) {
    if (size != usual) zero[key] = static_cast<std::int64_t>(size);
  };
  if (how.stage == 0) return;
  add("reduce_bucket_size", sizes.reduce_bucket, plain.reduce_bucket);
  if (how.stage < 3) add("allgather_bucket_size", sizes.gather_bucket, plain.gather_bucket);
  if (how.stage == 3) add("stage3_max_live_parameters", sizes.live_parameters, plain.live_parameters);
  if (how.optimizer == StatePlace::kDrive) add("sub_group_size", sizes.sub_group, kSubGroup);
}

Json optimizer_json(UpdateRule rule) {
  if (rule == UpdateRule::kAdam) return {{"type", "Adam"}, {"params", Json::object()}};
  return {{"type", "SGD"}, {"params", {{"momentum", rule == UpdateRule::kMomentum ? 0.9 : 0.0}}}};
}

// Hugging Face Accelerate's configuration file (accelerate/commands/config/config_args.py, ClusterConfig, which refuses
// unknown keys) for plans of DDP, FSDP and DeepSpeed.

const char* yaml_flag(bool value) { return value ? "true" : "false"; }

const char* mixed_precision(Precision precision) {
  return precision == Precision::kFp16 ? "fp16" : precision == Precision::kBf16 ? "bf16" : "\"no\"";
}

std::string fsdp_text(const FsdpPlan& how, Recompute recompute) {
  constexpr const char* kStrategies[] = {"FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2"};
  constexpr const char* kPrefetches[] = {"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"};
  return fmt::format(
      "fsdp_config:\n  fsdp_version: 1\n  fsdp_sharding_strategy: {}\n  fsdp_backward_prefetch: {}\n"
      "  fsdp_forward_prefetch: {}\n  fsdp_offload_params: {}\n  fsdp_activation_checkpointing: {}\n"
      "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n  fsdp_use_orig_params: true\n",
      kStrategies[static_cast<std::size_t>(how.strategy)], kPrefetches[static_cast<std::size_t>(how.backward)],
      yaml_flag(how.forward_prefetch), yaml_flag(how.offload), yaml_flag(recompute == Recompute::kFull));
}

// For each VM its line.
std::string launch_text(const std::vector<VmGpus>& vms) {
  std::string text = "#!/bin/sh\n# TRAIN.py is your training script; run one line on each VM. HOST is the first one.\n";
  for (std::size_t i = 0; i < vms.size(); ++i) {
    const std::string machine =
        vms.size() == 1 ? "" : fmt::format(" --machine_rank {} --main_process_ip HOST --main_process_port 29500", i);
    text += fmt::format("# {}:\nCUDA_VISIBLE_DEVICES={} accelerate launch --config_file accelerate.yaml{} TRAIN.py\n",
                        vms[i].name, fmt::join(vms[i].gpus, ","), machine);
  }
  return text;
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
  if (training.optimizer == UpdateRule::kAdam16bit) out.cannot.emplace_back(kKeepsMaster);
  if (!out.cannot.empty()) return out;

  // Under torch.autocast DeepSpeed's own weights are fp32.
  const bool autocast = setup.scenario.software.autocast;
  if (autocast) out.notes.push_back(autocast_note(training.precision));
  Json json = {{"train_batch_size", training.batch},
               {"train_micro_batch_size_per_gpu", training.batch / gpus / plan.micro_batches},
               {"gradient_accumulation_steps", plan.micro_batches},
               {"optimizer", optimizer_json(training.optimizer)},
               {"fp16", {{"enabled", training.precision == Precision::kFp16 && !autocast}}},
               {"bf16", {{"enabled", training.precision == Precision::kBf16 && !autocast}}}};
  // By default gradients are reduced in the training precision. Versions before 0.14.1 spell bf16 "bfp16", and each
  // refuses the other's spelling.
  if (!autocast && std::string_view(type_name(training.gradient_precision)) != type_name(training.precision))
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
  add_sizes(zero, setup.scenario.framework, how);
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

Export export_accelerate(const ExportRequest& request) {
  const auto& [setup, model, plan] = request;
  const Training& training = setup.scenario.training;
  const auto torch = plan.technique->exports(request).torch;
  const auto* fsdp = std::get_if<FsdpPlan>(&plan.by);
  Export out{"Accelerate", {}, {}, {}};
  // Its DeepSpeed plugin passes DeepSpeed's own file on.
  const bool by_deepspeed = !torch;
  if (by_deepspeed) out.cannot = export_deepspeed(request).cannot;
  if (torch && !torch->actions.empty()) out.cannot.emplace_back("it has no pipelines");
  if (torch && !torch->hook.empty())
    out.cannot.emplace_back("hooks on gradients are set in the script (DistributedDataParallelKwargs), see torch.py");
  if (torch && has_uneven_shares(plan.stages.front()))
    out.cannot.emplace_back("GPUs get different numbers of sequences; it gives each the same number");
  if (fsdp && (fsdp->is_grid() || fsdp->states_groups))
    out.cannot.emplace_back("its FSDP divides over all GPUs or inside each VM, without tensor parallelism and stages");
  const auto vms = used_vms(setup);
  if (std::ranges::any_of(vms, [&](const VmGpus& v) { return v.gpus.size() != vms.front().gpus.size(); }))
    out.cannot.emplace_back("VMs use different numbers of GPUs; it starts the same number on each");
  if (!out.cannot.empty()) return out;

  const auto gpus = setup.group.devices.size();
  std::string text =
      fmt::format("compute_environment: LOCAL_MACHINE\ndistributed_type: {}\n", by_deepspeed ? "DEEPSPEED"
                                                                                : fsdp       ? "FSDP"
                                                                                : gpus > 1   ? "MULTI_GPU"
                                                                                             : "\"NO\"");
  text += fmt::format("num_machines: {}\nnum_processes: {}\n", vms.size(), gpus);
  if (vms.size() > 1) text += "rdzv_backend: static\nsame_network: false\n";
  if (by_deepspeed) {
    text += fmt::format("deepspeed_config:\n  deepspeed_config_file: deepspeed.json\n  zero3_init_flag: {}\n",
                        yaml_flag(std::holds_alternative<ReplicaPlan>(plan.by) && plan.replicas().stage == 3));
    if (vms.size() > 1) text += "  deepspeed_multinode_launcher: standard\n";
  } else {
    text += fmt::format("mixed_precision: {}\n", mixed_precision(training.precision));
    if (plan.micro_batches > 1)
      out.notes.push_back(fmt::format("Accelerator(gradient_accumulation_steps={})", plan.micro_batches));
  }
  if (fsdp) {
    text += fsdp_text(*fsdp, plan.recompute);
    if (!fsdp->limit_all_gathers) out.notes.emplace_back("FullyShardedDataParallelPlugin(limit_all_gathers=False)");
    if (training.gradient_precision != training.precision)
      out.notes.emplace_back(
          "it reduces gradients in mixed_precision; the plan's precision is set by "
          "FullyShardedDataParallelPlugin(mixed_precision_policy=...), as in torch.py");
  } else if (torch) {
    if (training.precision != Precision::kFp32 && !setup.scenario.software.autocast)
      out.notes.push_back(
          fmt::format("mixed_precision keeps fp32 weights; the plan counts weights in {0} (model.to(torch.{1}), "
                      "mixed_precision: \"no\")",
                      name_in(precision_names(), training.precision), torch_type(training.precision)));
    out.notes.push_back(
        fmt::format("Accelerator(kwargs_handlers=[DistributedDataParallelKwargs({})])", torch->arguments));
  }
  out.files = {{"accelerate.yaml", text}, {"accelerate.sh", launch_text(vms)}};
  return out;
}

}  // namespace slmsim
