// What each GPU must hold under a plan, by parts, and whether it fits; and what hosts and drives must hold.
//
// How a technique holds its states is its own (Technique::memory): by operators (operator_memory.h), as replicas
// (replica_memory.h), or as Megatron-LM (megatron_memory.h). All count in the elements of the training's precisions.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace slmsim {

// The moment of an iteration at which a GPU holds most. kForward: the forward pass is through, all activations are there and
// no gradient yet. kBackward: the backward pass, gradients beside activations. kStep: activations are gone, and the optimizer
// has copies of its own.
enum class Moment { kForward, kBackward, kStep };
// "end of the forward pass"
const char* name_of(Moment moment);

// At that moment.
struct DeviceMemory {
  int device = 0;
  Moment moment = Moment::kBackward;
  Bytes limit;       // what the framework's pool may take of the device
  Bytes parameters;  // in training precision
  Bytes gradients;
  Bytes optimizer;    // fp32 master and both moments
  Bytes activations;  // of all micro-batches in flight
  Bytes buffers;      // NCCL's channels, the fused gradient buffer, gathered parameters, received activations
  Bytes framework;    // CUDA context and libraries

  Bytes total() const { return parameters + gradients + optimizer + activations + buffers + framework; }
  bool fits() const { return total() <= limit; }
};

// Bytes per parameter of mixed-precision training (ZeRO, arXiv 1910.02054, section 3.1): in fp16 weights 2, gradients 2,
// fp32 master 4, Adam's moments 8 (others: sim/cost/optimizer.h), and a copy of the gradients in fp32 where an optimizer
// makes one, 4. In fp32 there are no copies.
struct StateBytes {
  double weight = 0, gradient = 0, master = 0, moments = 0, gradient_copy = 0;

  explicit StateBytes(const Training& training);
  double optimizer() const { return master + moments; }
  // Of a parameter that is held, trained and not divided.
  double all() const { return weight + gradient + optimizer(); }
};

// The one that needs more; the first of equals.
const DeviceMemory& larger_of(const DeviceMemory& a, const DeviceMemory& b);

// Empty but for the limit and the framework.
DeviceMemory empty_memory(int device, const Scenario& scenario);

// One entry per GPU of the plan, in the order of stages and meshes.
std::vector<DeviceMemory> memory_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

// The GPU that needs most of what it has; nullptr where there is none.
const DeviceMemory* fullest(const std::vector<DeviceMemory>& memory);

// Host memory of a socket, or a volume of drives.
struct Store {
  std::string name;  // "node0/dram0", "node0/scratch"
  bool drive = false;
  Bytes used, limit;

  bool fits() const { return used <= limit; }
};

// What a rank keeps in its host's memory and on its volume of drives, beside what its process takes.
struct StoreMemory {
  Bytes host, drive;
};

// Of every memory and volume that the plan's VMs describe; empty where they describe none.
std::vector<Store> stores_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

// Whether each GPU of the plan, its hosts' memory and its drives hold what they must.
bool fits(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
