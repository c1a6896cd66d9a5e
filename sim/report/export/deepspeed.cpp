#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/export/export.h"
#include "sim/report/json_values.h"

namespace slmsim {
namespace {

const char* type_name(Precision precision) {
  return precision == Precision::kFp16 ? "fp16" : precision == Precision::kBf16 ? "bfp16" : "fp32";
}

}  // namespace

Export export_deepspeed(const ExportRequest& request) {
  const auto& [way, model, plan] = request;
  const TechniqueOptions& options = way.options;
  const Training& training = way.scenario.training;
  const int gpus = static_cast<int>(way.group.devices.size());
  Export out{"DeepSpeed", {}, {}, {}};
  const int stage = options.technique == Technique::kZero2 ? 2 : 0;
  if (options.technique != Technique::kData && options.technique != Technique::kZero2) {
    out.cannot.push_back(
        fmt::format("{} divides operators or layers, which a DeepSpeed configuration does not state; a "
                    "pipeline is written into the model (deepspeed.pipe.PipelineModule)",
                    name_of(options.technique)));
  }
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
  json["zero_optimization"] = {{"stage", stage}};
  if (stage == 2) {
    json["zero_optimization"]["reduce_scatter"] = plan.gradient_collective == GradientCollective::kReduceScatter;
    json["zero_optimization"]["overlap_comm"] = false;
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
