#include "sim/technique/export/export.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/collective/communicator.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {

std::vector<VmGpus> used_vms(const RunSetup& setup) {
  const Platform& platform = setup.scenario.platform;
  std::vector<VmGpus> out;
  for (const int device : setup.group.devices) {
    const Vm& vm = platform.vms[platform.devices[device].vm];
    auto at = std::ranges::find_if(out, [&](const VmGpus& used) { return used.name == vm.name; });
    if (at == out.end()) at = out.insert(at, {vm.name, {}, vm.device_count});
    at->gpus.push_back(device - vm.first_device);
  }
  return out;
}

const char* torch_type(Precision precision) {
  return precision == Precision::kFp16 ? "float16" : precision == Precision::kBf16 ? "bfloat16" : "float32";
}

std::string autocast_note(Precision precision) {
  return fmt::format("weights are in fp32, and the forward pass runs under torch.autocast(\"cuda\", torch.{})",
                     torch_type(precision));
}

std::vector<int> layers_of_stages(const ExportRequest& request) {
  const OperatorGraph operators = build_operator_graph(request.model);
  const int layers = static_cast<int>(request.model.layers);
  std::vector<int> out;
  for (const auto& stage : request.plan.stages) {
    const int first = std::clamp(operators[stage.first].layer, 0, layers - 1);
    const int last = std::clamp(operators[stage.last - 1].layer, 0, layers - 1);
    out.push_back(last - first + 1);
  }
  return out;
}

Export export_environment(const ExportRequest& request) {
  Export out{"NCCL and kernels", {}, {}, {}};
  const Nccl &nccl = request.setup.scenario.nccl, plain{};
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("export {}={}\n", name, value);
  };
  if (nccl.algorithm != NcclAlgorithm::kAuto) add("NCCL_ALGO", name_in(nccl_algorithm_names(), nccl.algorithm));
  if (nccl.protocol != NcclProtocol::kAuto) add("NCCL_PROTO", name_in(nccl_protocol_names(), nccl.protocol));
  if (nccl.min_channels != plain.min_channels) add("NCCL_MIN_NCHANNELS", std::to_string(nccl.min_channels));
  if (nccl.max_channels != plain.max_channels) add("NCCL_MAX_NCHANNELS", std::to_string(nccl.max_channels));
  if (nccl.socket_threads) add("NCCL_SOCKET_NTHREADS", std::to_string(*nccl.socket_threads));
  if (nccl.sockets_per_thread) add("NCCL_NSOCKS_PERTHREAD", std::to_string(*nccl.sockets_per_thread));
  add("NCCL_BUFFSIZE", fmt::format("{:.0f}", nccl.buffer.value));
  const Platform& platform = request.setup.scenario.platform;
  if (nccl.ring_order == RingOrder::kByDistance) {
    std::vector<std::string> names;
    for (const int vm : cycle_of_vms(platform, Network(platform), request.setup.group.devices))
      names.push_back(platform.vms[vm].name);
    out.notes.push_back(fmt::format("give nodes their ranks in this order: {}", fmt::join(names, ", ")));
  }
  out.files.push_back({"nccl.sh", "# Source this on every VM before the launch.\n" + text});
  for (const auto& used : used_vms(request.setup)) {
    const auto& vms = platform.vms;
    const auto vm = std::ranges::find_if(vms, [&](const Vm& v) { return v.name == used.name; });
    const TcpSettings& tcp = vm->type.tcp;
    // The first two values are Linux's defaults (tcp(7)).
    out.files.push_back(
        {fmt::format("sysctl-{}.conf", used.name),
         fmt::format("# On {}: sysctl -p sysctl-{}.conf\nnet.ipv4.tcp_rmem = 4096 131072 {:.0f}\n"
                     "net.ipv4.tcp_wmem = 4096 16384 {:.0f}\nnet.ipv4.tcp_slow_start_after_idle = {}\n"
                     "net.ipv4.tcp_congestion_control = {}\n",
                     used.name, used.name, tcp.receive_buffer.value, tcp.send_buffer.value,
                     tcp.slow_start_after_idle ? 1 : 0, name_in(congestion_control_names(), tcp.congestion_control))});
  }
  return out;
}

namespace {

std::string adapters_note(const Lora& lora) {
  std::vector<std::string> targets;
  for (const LoraTarget target : lora.targets) targets.push_back(name_in(lora_target_names(), target));
  return fmt::format(
      "only adapters are trained: model = peft.get_peft_model(model, peft.LoraConfig(r={}, target_modules=[...]{})) "
      "with your model's products of {}, before it is wrapped",
      lora.rank, lora.dropout ? ", lora_dropout=..." : "", fmt::join(targets, ", "));
}

}  // namespace

bool has_uneven_shares(const Stage& stage) {
  const auto& shares = stage.batch_shares;
  return std::ranges::any_of(shares, [&](double share) { return share != shares.front(); });
}

bool is_hierarchical(const Plan& plan) {
  const auto* how = std::get_if<OperatorPlan>(&plan.by);
  return how && how->hierarchical;
}

std::vector<ExportFile> export_plan(const ExportRequest& request, const std::string& title) {
  std::vector<ExportFile> files;
  std::string text = title + "\n";
  std::vector<Export> all = {export_deepspeed(request), export_megatron(request), export_alpa(request)};
  if (auto torch = export_torch(request)) all.push_back(std::move(*torch));
  all.push_back(export_accelerate(request));
  if (auto torchft = export_torchft(request)) all.push_back(std::move(*torchft));
  all.push_back(export_environment(request));
  for (const auto& one : all) {
    text += fmt::format("\n{}:\n", one.program);
    for (const auto& reason : one.cannot) text += fmt::format("  cannot: {}\n", reason);
    if (!one.cannot.empty()) continue;
    for (const auto& file : one.files) text += fmt::format("  {}\n", file.name);
    for (const auto& note : one.notes) text += fmt::format("  note: {}\n", note);
    if (request.model.lora) text += fmt::format("  note: {}\n", adapters_note(*request.model.lora));
    files.insert(files.end(), one.files.begin(), one.files.end());
  }
  files.insert(files.begin(), {"README.txt", text});
  return files;
}

}  // namespace slmsim
