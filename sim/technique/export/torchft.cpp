#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/technique/export/export.h"

namespace slmsim {
namespace {

// Differences between torchft and the plan.
void add_reasons(const ExportRequest& request, const RoundPlan& how, Export& out) {
  const bool averages = how.update == OuterUpdate::kAverage;
  const std::string& format = name_in(exchange_format_names(), how.format);
  if (how.format != ExchangeFormat::kFp32 && (averages || how.format != ExchangeFormat::kFp8))
    out.cannot.push_back(fmt::format("{} is exchanged; torchft's {}", format,
                                     averages ? "LocalSGD averages what the model holds, fp32 here"
                                              : "DiLoCo exchanges fp32, or fp8 with should_quantize"));
  if (how.sum == SumBy::kShares && how.format == ExchangeFormat::kFp32)
    out.cannot.emplace_back("each rank sums its own share; torchft leaves sums of fp32 to NCCL");
  if (request.plan.workload.steps % how.fragments != 0)
    out.cannot.push_back(
        fmt::format("{} inner steps are not a multiple of {} fragments", request.plan.workload.steps, how.fragments));
  if (has_uneven_shares(request.plan.stages.front()))
    out.cannot.emplace_back("GPUs get different numbers of sequences; torchft's sampler gives each the same number");
}

std::string wrapper(const ExportRequest& request, const RoundPlan& how) {
  const int steps = request.plan.workload.steps;
  std::string text =
      "# The training loop goes inside `with exchange(manager, model, optimizer):`; optimizer.step() counts inner "
      "steps.\n"
      "# The manager's process group is torchft.ProcessGroupNCCL.\n";
  if (how.update == OuterUpdate::kAverage)
    return text + fmt::format(
                      "from torchft.local_sgd import LocalSGD\n\n\ndef exchange(manager, model, optimizer):\n"
                      "    return LocalSGD(manager, model, optimizer, sync_every={})\n",
                      steps);
  text += fmt::format(
      "# Build the manager with use_async_quorum=False. Outer rate and momentum are those of arXiv 2311.08105.\n"
      "import torch\nfrom torchft.local_sgd import DiLoCo\n\n\ndef exchange(manager, model, optimizer):\n"
      "    fragments = {}\n"
      "    outer = [torch.optim.SGD(f.parameters(), lr=0.7, momentum=0.9, nesterov=True) for f in fragments]\n"
      "    return DiLoCo(manager, fragments, optimizer, outer, sync_every={},\n"
      "                  backup_device=torch.device(\"{}\"), should_quantize={},\n"
      "                  fragment_sync_delay={}, fragment_update_alpha=0.0)\n",
      how.fragments == 1 ? "[model]" : "split(model)", steps, how.outer_on_host ? "cpu" : "cuda",
      how.format == ExchangeFormat::kFp8 ? "True" : "False", how.delay);
  if (how.fragments > 1)
    text += fmt::format(
        "\n\ndef split(model):\n    layers = model.layers  # yours: the transformer's layers, in order\n"
        "    return [torch.nn.ModuleList(layers[i::{0}]) for i in range({0})]  # add embedding and head\n",
        how.fragments);
  return text;
}

}  // namespace

std::optional<Export> export_torchft(const ExportRequest& request) {
  const auto* how = std::get_if<RoundPlan>(&request.plan.by);
  if (!how) return std::nullopt;
  Export out{"torchft", {}, {}, {}};
  add_reasons(request, *how, out);
  if (!out.cannot.empty()) return out;
  const auto& mesh = request.plan.stages.front().mesh;
  const Platform& platform = request.setup.scenario.platform;
  const std::size_t size = static_cast<std::size_t>(how->gpus), count = mesh.size() / size;
  std::string script = fmt::format(
      "#!/bin/sh\n# TRAIN.py is your training script; it reads REPLICA_GROUP_ID and NUM_REPLICA_GROUPS and uses\n"
      "# torchft_exchange.py. LIGHTHOUSE is the host that runs the first command.\n"
      "torchft_lighthouse --min_replicas {} --quorum_tick_ms 100 --join_timeout_ms 10000\n",
      count);
  for (std::size_t replica = 0; replica < count; ++replica) {
    std::vector<int> gpus;
    const Vm* vm = nullptr;
    for (std::size_t i = replica * size; i < (replica + 1) * size; ++i) {
      vm = &platform.vms[platform.devices[mesh[i]].vm];
      gpus.push_back(mesh[i] - vm->first_device);
    }
    script += fmt::format(
        "# on {}\nTORCHFT_LIGHTHOUSE=http://LIGHTHOUSE:29510 CUDA_VISIBLE_DEVICES={} "
        "REPLICA_GROUP_ID={} NUM_REPLICA_GROUPS={} torchrun --nnodes=1 --nproc_per_node={} TRAIN.py\n",
        vm->name, fmt::join(gpus, ","), replica, count, size);
  }
  out.files = {{"torchft.sh", script}, {"torchft_exchange.py", wrapper(request, *how)}};
  if (how->gpus > 1)
    out.notes.emplace_back(
        "a replica group of several ranks: sum gradients inside it at every step (FSDP or DDP over torchrun's own "
        "process group). The plan lets each rank exchange its part only, as FSDP's shards do; with DDP each exchanges "
        "all");
  if (how->replica == ReplicaOf::kSite)
    out.notes.emplace_back("a replica spans VMs: give torchrun their number as --nnodes and a --rdzv_endpoint");
  if (how->outer_on_host)
    out.notes.emplace_back("torchft keeps the outer parameters in host memory, and their momentum on the GPU");
  if (how->delay > 0)
    out.notes.emplace_back(
        "fragment_update_alpha is how much of the replica's own parameters stays after a late update");
  return out;
}

}  // namespace slmsim
