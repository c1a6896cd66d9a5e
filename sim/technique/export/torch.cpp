#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/technique/alpa/operators.h"
#include "sim/technique/export/export.h"

namespace slmsim {
namespace {

const char* yes(bool value) { return value ? "True" : "False"; }

std::string wrapped(const TorchExport& how, const Scenario& scenario) {
  const Training& training = scenario.training;
  std::string text = "import torch\n";
  if (!how.fsdp) {
    text += "from torch.nn.parallel import DistributedDataParallel\n\n";
    if (scenario.software.autocast) {
      text += fmt::format("# {}.\n", autocast_note(training.precision));
    } else if (training.precision != Precision::kFp32) {
      text += fmt::format("model.to(torch.{})\n", torch_type(training.precision));
    }
    return text + fmt::format("model = DistributedDataParallel(model, device_ids=[local_rank], {})\n{}", how.arguments,
                              how.hook);
  }
  text +=
      "from torch.distributed.fsdp import (BackwardPrefetch, CPUOffload, FullyShardedDataParallel, MixedPrecision,\n"
      "                                    ShardingStrategy)\n\n"
      "# `policy` makes each layer a unit (torch.distributed.fsdp.wrap.transformer_auto_wrap_policy); parameters are "
      "fp32.\n";
  return text + fmt::format(
                    "model = FullyShardedDataParallel(\n    model, device_id=local_rank, auto_wrap_policy=policy, "
                    "use_orig_params=True,\n    mixed_precision=MixedPrecision(param_dtype=torch.{}, "
                    "reduce_dtype=torch.{}),\n    {})\n",
                    torch_type(training.precision), torch_type(training.gradient_precision), how.arguments);
}

std::string steps(const Plan& plan, bool no_sync) {
  if (plan.micro_batches == 1) return "";
  std::string text = fmt::format("\n# {} micro-batches for each optimizer step", plan.micro_batches);
  return text + (no_sync ? ": all but the last one in `with model.no_sync():`.\n" : ", each with its own reduction.\n");
}

// Each block is divided by a scale that maps its largest number to the format's maximum.
constexpr const char* kShares =
    R"(# Gradients as numbers of few bits, each block with a scale, summed by shares: every rank gets its share from all
# others, adds up, and sends the sum to all.
import torch
import torch.distributed as dist

BLOCK = {block}


def encode(numbers):
    """Rows of blocks as bytes, and their scales."""
    scales = numbers.abs().amax(dim=-1, keepdim=True).float().clamp_min(1e-30) / {most}
    scaled = numbers.float() / scales
{pack}


def decode(packed, scales):
{unpack}


def exchange(packed, scales, all_to_all):
    out = [torch.empty_like(packed), torch.empty_like(scales)]
    for received, sent in zip(out, (packed, scales)):
        if all_to_all:
            dist.all_to_all_single(received, sent)
        else:
            dist.all_gather(list(received.split(1)), sent[:1].contiguous())
    return out


def hook(_, bucket):
    gradients, ranks = bucket.buffer(), dist.get_world_size()
    padded = torch.nn.functional.pad(gradients, (0, -gradients.numel() % (ranks * BLOCK)))
    shares = padded.view(ranks, -1, BLOCK)
    mean = decode(*exchange(*encode(shares), True)).mean(dim=0, keepdim=True)
    packed, scales = encode(mean)
    whole = decode(*exchange(packed.expand(ranks, -1, -1), scales.expand(ranks, -1, -1), False))
    future = torch.futures.Future(devices=[gradients.device] if gradients.is_cuda else None)
    future.set_result(whole.reshape(-1)[: gradients.numel()].to(gradients.dtype))
    return future
)";

constexpr const char* kInt8Pack = "    return scaled.round().to(torch.int8), scales";
constexpr const char* kInt8Unpack = "    return packed.float() * scales";
constexpr const char* kFp8Pack = "    return scaled.to(torch.float8_e4m3fn).view(torch.uint8), scales";
constexpr const char* kFp8Unpack = "    return packed.view(torch.float8_e4m3fn).float() * scales";
constexpr const char* kInt4Pack =
    "    whole = (scaled.round() + 8).to(torch.uint8)\n"
    "    return whole[..., ::2] * 16 + whole[..., 1::2], scales";
constexpr const char* kInt4Unpack =
    "    halves = torch.stack((packed // 16, packed % 16), dim=-1).flatten(-2)\n"
    "    return (halves.float() - 8) * scales";

constexpr const char* kLargest = R"(# The largest gradients only; the rest is added to the next step's.
import torch
import torch.distributed as dist

DENSITY = {density:g}
rest = {{}}


def hook(_, bucket):
    gradients, ranks = bucket.buffer(), dist.get_world_size()
    if bucket.index() not in rest or rest[bucket.index()].numel() != gradients.numel():
        rest[bucket.index()] = torch.zeros_like(gradients)  # DDP cuts its buckets anew after the first step
    left = rest[bucket.index()].add_(gradients)
    count = -int(-gradients.numel() * DENSITY // 1)
    places = left.abs().topk(count, sorted=False).indices
    values = left[places]
    left[places] = 0
    places = places.to(torch.int32)
    all_values = values.new_empty(ranks * count)
    all_places = places.new_empty(ranks * count)
    dist.all_gather(list(all_values.split(count)), values)
    dist.all_gather(list(all_places.split(count)), places)
    gradients.zero_().index_add_(0, all_places, all_values / ranks)
    future = torch.futures.Future(devices=[gradients.device] if gradients.is_cuda else None)
    future.set_result(gradients)
    return future
)";

std::string by_shares(int most, const char* pack, const char* unpack) {
  return fmt::format(fmt::runtime(kShares), fmt::arg("block", static_cast<int>(kScaleBlock)), fmt::arg("most", most),
                     fmt::arg("pack", pack), fmt::arg("unpack", unpack));
}

constexpr const char* kOwnFile = "import compress\n\nmodel.register_comm_hook(None, compress.hook)\n";

std::string of_pytorch(const char* hook) {
  return fmt::format(
      "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n\n"
      "model.register_comm_hook(None, default_hooks.{})\n",
      hook);
}

}  // namespace

TorchExport fsdp_of_torch(const FsdpPlan& plan) {
  constexpr const char* kStrategies[] = {"FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2"};
  constexpr const char* kPrefetches[] = {"BackwardPrefetch.BACKWARD_PRE", "BackwardPrefetch.BACKWARD_POST", "None"};
  TorchExport out{.fsdp = true, .no_sync = plan.no_sync};
  out.arguments = fmt::format(
      "sharding_strategy=ShardingStrategy.{}, backward_prefetch={},\n    forward_prefetch={}, limit_all_gathers={}, "
      "cpu_offload=CPUOffload({})",
      kStrategies[static_cast<std::size_t>(plan.strategy)], kPrefetches[static_cast<std::size_t>(plan.backward)],
      yes(plan.forward_prefetch), yes(plan.limit_all_gathers), yes(plan.offload));
  if (plan.states_groups)
    out.arguments += fmt::format(",\n    device_mesh=torch.distributed.init_device_mesh(\"cuda\", ({}, {}))",
                                 plan.replicas / plan.shards, plan.shards);
  if (plan.is_grid())
    out.cannot = "tensor parallelism and stages are part of the training program (torchtitan's parallelism section)";
  return out;
}

TorchExport ddp_of_torch(const Plan& plan) {
  const ReplicaPlan& how = plan.replicas();
  TorchExport out{.no_sync = how.no_sync};
  out.arguments = fmt::format("bucket_cap_mb={:g}, broadcast_buffers={}, gradient_as_bucket_view={}",
                              how.bucket.value / kMebi, yes(how.buffers > Bytes{0}), yes(how.bucket_views));
  const Hook hook = hook_of_torch(how.compression, plan.workload.warm_up);
  out.hook = hook.lines;
  out.hook_file = hook.file;
  return out;
}

TorchExport pipeline_of_torch(const Plan& plan) {
  TorchExport out;
  const bool apart = plan.operators().schedule == Schedule::kZeroBubble;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].mesh.size() > 1) out.cannot = "a stage of several GPUs is left to the model's own parallelism";
    std::vector<std::string> row;
    for (const Step& step : schedule_steps(plan, s, plan.micro_batches))
      row.push_back(fmt::format("{}{}{}", s,
                                step.weights   ? "W"
                                : step.forward ? "F"
                                : apart        ? "I"
                                               : "B",
                                step.micro_batch));
    out.actions.push_back(fmt::format("{}", fmt::join(row, ",")));
  }
  return out;
}

std::optional<Export> export_torch(const ExportRequest& request) {
  const auto how = request.plan.technique->exports(request).torch;
  if (!how) return std::nullopt;
  const auto& [setup, model, plan] = request;
  const Training& training = setup.scenario.training;
  Export out{"PyTorch", {}, {}, {}};
  const auto vms = used_vms(setup);
  if (has_uneven_shares(plan.stages.front()))
    out.cannot.emplace_back("GPUs get different numbers of sequences; a DistributedSampler gives each the same number");
  if (!how->cannot.empty()) out.cannot.push_back(how->cannot);
  if (!out.cannot.empty()) return out;
  if (plan.recompute == Recompute::kFull)
    out.notes.emplace_back("rematerialisation is applied to the model (apply_activation_checkpointing for each layer)");
  if (plan.recompute == Recompute::kOperators)
    out.notes.emplace_back(
        "outputs of attention and of every other product are to be kept, the rest recomputed (torch.utils.checkpoint's "
        "create_selective_checkpoint_contexts; torchtitan: activation_checkpoint.mode selective, selective_ac_option "
        "op)");
  if (plan.recompute == Recompute::kSelective)
    out.notes.emplace_back("attention's softmax and dropout are to be recomputed (torch.utils.checkpoint around them)");
  std::string launch =
      "#!/bin/sh\n# TRAIN.py is your training script; run one line on each VM. HOST is the first one.\n";
  for (std::size_t i = 0; i < vms.size(); ++i) {
    launch += fmt::format(
        "# {}:\nCUDA_VISIBLE_DEVICES={} torchrun --nnodes={} --node-rank={} --nproc-per-node={} --master-addr=HOST "
        "--master-port=29500 TRAIN.py\n",
        vms[i].name, fmt::join(vms[i].gpus, ","), vms.size(), i, vms[i].gpus.size());
  }
  const auto gpus = static_cast<int>(setup.group.devices.size());
  if (!how->actions.empty()) {
    out.notes.push_back(fmt::format("stage by stage {} layers", fmt::join(layers_of_stages(request), ", ")));
    out.files = {
        {"schedule.csv", fmt::format("{}\n", fmt::join(how->actions, "\n"))},
        {"torch.py", fmt::format("from torch.distributed.pipelining import PipelineStage\n"
                                 "from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime\n\n"
                                 "stage = PipelineStage(module, rank, {}, device)\n"
                                 "schedule = _PipelineScheduleRuntime([stage], n_microbatches={}, loss_fn=loss)\n"
                                 "schedule._load_csv(\"schedule.csv\")\n",
                                 plan.stages.size(), plan.micro_batches)},
        {"torchrun.sh", launch}};
    return out;
  }
  out.files = {{"torch.py", wrapped(*how, setup.scenario) +
                                fmt::format("\n# {} sequences for each GPU at a time.\n",
                                            training.batch / gpus / plan.micro_batches) +
                                steps(plan, how->no_sync)},
               {"torchrun.sh", launch}};
  if (!how->hook_file.empty()) out.files.push_back({"compress.py", how->hook_file});
  return out;
}

Hook hook_of_torch(const Compression& compression, int warm_up) {
  constexpr int kMostInt8 = 127, kMostFp8 = 448, kMostInt4 = 7;
  switch (compression.by) {
    case Compressor::kBf16:
      return {of_pytorch("bf16_compress_hook"), ""};
    case Compressor::kFp16:
      return {of_pytorch("fp16_compress_hook"), ""};
    case Compressor::kFp8:
      return {kOwnFile, by_shares(kMostFp8, kFp8Pack, kFp8Unpack)};
    case Compressor::kInt8:
      return {kOwnFile, by_shares(kMostInt8, kInt8Pack, kInt8Unpack)};
    case Compressor::kInt4:
      return {kOwnFile, by_shares(kMostInt4, kInt4Pack, kInt4Unpack)};
    case Compressor::kPowerSgd:
      return {fmt::format("from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook\n\n"
                          "state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank={}, "
                          "start_powerSGD_iter={})\n"
                          "model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)\n",
                          compression.rank, warm_up),
              ""};
    case Compressor::kTopK:
      return {kOwnFile, fmt::format(fmt::runtime(kLargest), fmt::arg("density", compression.density))};
    default:
      return {};
  }
}

}  // namespace slmsim
