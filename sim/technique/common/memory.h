// Memory of each GPU under a plan, by component, with its limit; and memory of hosts and drives.
//
// Each technique stores its states in its own way (Technique::memory): by operators (operators.h), as replicas
// (replicas.h), or as Megatron-LM (megatron.h). Element sizes are those of the training's precisions.
#pragma once

#include <string>
#include <vector>

#include "sim/technique/common/plan.h"

namespace slmsim {

// The moment of an iteration with a GPU's peak memory. kForward: the end of the forward pass, with all activations and
// no gradient. kBackward: the backward pass, with gradients and activations. kStep: activations are freed, and the
// optimizer has its own copies.
enum class Moment { kForward, kBackward, kStep };
// "end of the forward pass"
const char* name_of(Moment moment);

// Memory at that moment.
struct DeviceMemory {
  int device = 0;
  Moment moment = Moment::kBackward;
  Bytes limit;       // of the framework's pool on the device
  Bytes parameters;  // in training precision
  Bytes gradients;
  Bytes optimizer;    // fp32 master and both moments
  Bytes activations;  // of all micro-batches in flight
  Bytes buffers;      // NCCL's channels, the fused gradient buffer, gathered parameters, received activations
  Bytes framework;    // CUDA context and libraries
  Bytes nccl;         // part of `buffers` that NCCL allocates by itself
  // Part of `buffers` that is free but not yet usable: tensors that a collective's stream may still read
  // (CUDACachingAllocator, record_stream). Before the allocator gives up, it waits for that stream and uses them.
  Bytes held;
  Bytes edge;  // total above which a caching allocator often frees and retries; `limit` where memory is one pool

  Bytes total() const { return parameters + gradients + optimizer + activations + buffers + framework; }
  // Bytes that must be in memory at once.
  Bytes needed() const { return total() - held; }
  // As torch.cuda.max_memory_allocated and max_memory_reserved count, without fragments.
  Bytes reserved() const { return total() - framework - nccl; }
  Bytes allocated() const { return reserved() - held; }
  bool fits() const { return needed() <= limit; }
  bool at_edge() const { return fits() && total() > edge; }
};

struct MemoryPart {
  const char* name;
  Bytes DeviceMemory::*bytes;
};
// The parts of a total.
inline constexpr MemoryPart kMemoryParts[] = {
    {"parameters", &DeviceMemory::parameters}, {"gradients", &DeviceMemory::gradients},
    {"optimizer", &DeviceMemory::optimizer},   {"activations", &DeviceMemory::activations},
    {"buffers", &DeviceMemory::buffers},       {"framework", &DeviceMemory::framework}};

// Share of a GPU's memory above which PyTorch's allocator may free and retry, so that a run may be slower. The order of
// candidates counts such a prediction as if it took kEdgeSlowdown times as long: a margin, not a measured figure.
inline constexpr double kEdgeShare = 0.9, kEdgeSlowdown = 2;

// Bytes per parameter of mixed-precision training (ZeRO, arXiv 1910.02054, section 3.1): in fp16 weights 2, gradients
// 2, fp32 master 4, Adam's moments 8 (others: sim/compute/roofline.h), and 4 for an fp32 copy of the gradients, if the
// optimizer makes one. In fp32 there are no copies.
struct StateBytes {
  double weight = 0, gradient = 0, master = 0, moments = 0, gradient_copy = 0;

  explicit StateBytes(const Training& training);
  double optimizer() const { return master + moments; }
  // Bytes of a parameter that is held, trained and not divided.
  double all() const { return weight + gradient + optimizer(); }
};

// The larger total; the first of equals.
const DeviceMemory& larger_of(const DeviceMemory& a, const DeviceMemory& b);

// Limit and framework only.
DeviceMemory empty_memory(int device, const Scenario& scenario);

// One entry per GPU of the plan, in the order of stages and meshes.
std::vector<DeviceMemory> memory_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

// The GPU with the highest use relative to its limit; nullptr where there is none.
const DeviceMemory* fullest(const std::vector<DeviceMemory>& memory);

// Host memory of a socket, or a volume of drives.
struct Store {
  std::string name;  // "node0/dram0", "node0/scratch"
  bool drive = false;
  Bytes used, limit;

  bool fits() const { return used <= limit; }
};

// Memory of a rank in its host and on its volume of drives, in addition to its process.
struct StoreMemory {
  Bytes host, drive;
};

// Every memory and volume that the plan's VMs describe; empty where they describe none.
std::vector<Store> stores_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

// Whether the plan fits each GPU, host memory and drive.
bool fits(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
