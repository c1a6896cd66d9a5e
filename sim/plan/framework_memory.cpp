#include "sim/plan/framework_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/plan/nccl_rules.h"
#include "sim/plan/replica_run.h"

namespace slmsim {
namespace {

constexpr double kMaster = 4, kMoments = 8, kFp32Gradients = 4;  // bytes per parameter
constexpr double kHalf = 2;
// What a rank keeps in host memory beside the states: Python, CUDA's host side, the data loader.
constexpr Bytes kHostFramework{5e9};
// Groups that Infinity has in host memory at once: read, updated, written, and one to spare (DeepSpeed's buffer_count).
constexpr double kSwapBuffers = 4;

Bytes nccl_buffers(const Plan& plan, const Scenario& scenario) {
  std::vector<int> devices;
  for (const auto& stage : plan.stages) devices.insert(devices.end(), stage.mesh.begin(), stage.mesh.end());
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return nccl_buffers(scenario.nccl, nccl_view(scenario.platform, devices));
}

}  // namespace

void hold_as_replica(DeviceMemory& m, const Plan& plan, double parameters, const Scenario& scenario) {
  const ReplicaPlan& replicas = *plan.replicas;
  const Stack& stack = scenario.stack;
  const double part = parameters / static_cast<double>(plan.stages.front().mesh.size());
  const bool on_gpu = replicas.optimizer == StatePlace::kGpu;
  m.parameters = Bytes{kHalf * (replicas.stage == 3 ? part : parameters)};
  if (replicas.parameters == StatePlace::kDrive) m.parameters = Bytes{0};
  m.gradients = Bytes{kHalf * (replicas.stage < 2 ? parameters : part)};
  if (!on_gpu && replicas.stage >= 2) m.gradients = Bytes{0};  // they leave bucket by bucket
  Bytes while_stepping{0}, while_passing{0};
  if (replicas.stage == 0) {
    m.optimizer = Bytes{parameters * (kMaster + kMoments + kFp32Gradients)};
    while_passing = Bytes{parameters * kHalf};  // the buckets are kept
    while_stepping = while_passing;
  } else {
    m.optimizer = Bytes{on_gpu ? part * (kMaster + kMoments) : 0.0};
    if (on_gpu) while_stepping = Bytes{part * kFp32Gradients};
    const Bytes all{parameters * kHalf};
    // One bucket is filled while the other is reduced; a bucket is never more than all there is.
    while_passing = std::min(stack.reduce_bucket, all) * 2.0;
    if (replicas.stage == 3)
      while_passing += Bytes{kHalf * std::min(stack.live_parameters, parameters)};
    else
      while_stepping += std::min(stack.gather_bucket, all);
  }
  // Activations are gone when the optimizer steps.
  m.buffers =
      nccl_buffers(plan, scenario) + while_passing + std::max(Bytes{0}, while_stepping - while_passing - m.activations);
}

void hold_as_megatron(DeviceMemory& m, const Plan& plan, int pipeline_stage, const OperatorGraph& operators,
                      const Scenario& scenario) {
  const MegatronOptions& o = *plan.megatron;
  const double sequences = static_cast<double>(scenario.training.batch) / (o.data * plan.micro_batches);
  const double tensor = o.tensor, spread = o.sequence_parallel ? tensor : 1;
  const int layers = operators[boost::num_vertices(operators) - 1].layer;
  const double input = operators[0].outputs * sequences * kHalf;  // of a layer, bytes
  const bool selective = *o.recompute == Recompute::kSelective;
  double parameters = 0, kept = 0, largest = 0, ends = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (static_cast<int>(s) % o.pipeline != pipeline_stage) continue;
    const Stage& stage = plan.stages[s];
    std::map<int, double> by_layer;
    for (std::size_t v = stage.first; v < stage.last; ++v) {
      const Operator& op = operators[v];
      parameters += op.parameters;
      const bool core = op.kind == OperatorKind::kSoftmax || (op.kind == OperatorKind::kMatrix && !op.has_weights());
      const double saved = (op.saved_elements * kHalf + op.saved_bytes) * sequences;
      // Korthikanti et al. (arXiv 2205.05198, table 2): inputs of divided products, norms and dropouts are whole.
      const bool whole = op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kResidual || op.name == "qkv" ||
                         op.name == "mlp up";
      const bool inside = op.layer >= 0 && op.layer < layers;
      const double bytes = saved / (whole ? spread : tensor);
      if (!inside)
        ends += bytes;
      else
        by_layer[op.layer] += selective && core ? 0.0 : bytes;
      // From Q, K and V the core is computed anew (section 5).
      if (inside && selective && op.name == "qkv") by_layer[op.layer] += op.outputs * sequences * kHalf / tensor;
    }
    if (s > 0 && s + 1 == plan.stages.size() && stage.last > 0)  // the last stage's copy of a tied embedding
      parameters += tied_parameters(operators);
    for (const auto& [layer, bytes] : by_layer) {
      kept += *o.recompute == Recompute::kFull ? input / spread : bytes;
      if (*o.recompute == Recompute::kFull) largest = std::max(largest, bytes);
    }
  }
  parameters /= tensor;
  const double stages = o.pipeline, first = o.pipeline - pipeline_stage;
  // Micro-batches under way: those of 1F1B, and with chunks (p - 1) / (p v) more (arXiv 2205.05198, section 4.2.3).
  const double most = plan.micro_batches;
  const double in_flight =
      o.chunks == 1 ? std::min(most, first) : std::min(most, stages * (1 + (stages - 1) / (stages * o.chunks)));
  m.parameters = Bytes{parameters * kHalf};
  m.gradients = Bytes{parameters * kHalf};
  m.optimizer = Bytes{parameters * (kMaster + kMoments + kFp32Gradients)};
  // Logits are gone when layers are computed anew.
  m.activations = Bytes{kept * in_flight + std::max(largest, ends)};
  m.buffers = nccl_buffers(plan, scenario) + Bytes{o.data > 1 ? parameters * kHalf : 0.0};
}

std::vector<StoreMemory> stores_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario) {
  std::vector<StoreMemory> out;
  const Platform& platform = scenario.platform;
  const double parameters = parameter_count(operators);
  std::set<int> vms, gpus;
  for (const auto& stage : plan.stages) {
    for (const int device : stage.mesh) {
      gpus.insert(device);
      vms.insert(platform.devices[static_cast<std::size_t>(device)].vm);
    }
  }
  const double part = parameters / static_cast<double>(gpus.size());
  double host = 0, drive = 0;  // bytes per rank
  if (plan.replicas && plan.replicas->optimizer != StatePlace::kGpu) {
    host = part * kFp32Gradients;
    const double states = part * (kMaster + kMoments);
    const bool parameters_too = plan.replicas->parameters == StatePlace::kDrive;
    if (plan.replicas->optimizer == StatePlace::kHost) {
      host += states + (plan.replicas->stage == 3 ? part * kHalf : 0.0);
    } else {
      drive = states + (parameters_too ? part * kHalf : 0.0);
      host += kSwapBuffers * std::min(part, scenario.stack.sub_group) * (kMaster + kMoments + kFp32Gradients);
    }
  }
  const Network network(platform);
  for (const int vm : vms) {
    const NodeInside& inside = platform.vms[static_cast<std::size_t>(vm)].type.inside;
    const std::string& name = platform.vms[static_cast<std::size_t>(vm)].name;
    for (const int memory : inside.of_kind(PartKind::kMemory)) {
      StoreMemory store{name + "/" + inside.parts[static_cast<std::size_t>(memory)].name,
                        false,
                        {},
                        inside.parts[static_cast<std::size_t>(memory)].capacity};
      for (const int gpu : gpus) {
        const bool here = platform.devices[static_cast<std::size_t>(gpu)].vm == vm &&
                          network.nearest(gpu, PartKind::kMemory) == memory;
        if (here) store.used += Bytes{host} + kHostFramework;
      }
      out.push_back(std::move(store));
    }
    for (const Volume& volume : inside.volumes) {
      StoreMemory store{name + "/" + volume.name, true, {}, {}};
      for (const int part_index : volume.drives)
        store.limit += inside.parts[static_cast<std::size_t>(part_index)].capacity;
      for (const int gpu : gpus) {
        if (volume_of(platform, gpu) == &volume) store.used += Bytes{drive};
      }
      out.push_back(std::move(store));
    }
  }
  return out;
}

}  // namespace slmsim
