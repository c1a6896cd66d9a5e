// What replicas of PyTorch and DeepSpeed, and ranks of Megatron-LM, must hold: on GPUs, in host memory and on drives.
//
// Mixed-precision Adam as their optimizers keep it (ZeRO, arXiv 1910.02054, section 3.1; megatron/optimizer/optimizer.py;
// deepspeed/runtime/zero/stage_1_and_2.py): fp16 weights 2 and gradients 2 bytes per parameter, fp32 master 4, moments 8,
// and at the step an fp32 copy of the gradients 4, which Megatron-LM's optimizer keeps all the time. DDP reduces copies of
// the gradients in its buckets, 2 bytes per parameter.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/memory.h"

namespace slmsim {

// Takes what the GPU would hold without a division of states, with its activations, and divides it as the plan has it.
void hold_as_replica(DeviceMemory& memory, const Plan& plan, double parameters, const Scenario& scenario);
// All of a GPU's memory but limit and framework; `rank` of the first stage's mesh and its place in the pipeline.
void hold_as_megatron(DeviceMemory& memory, const Plan& plan, int pipeline_stage, const OperatorGraph& operators,
                      const Scenario& scenario);

// Host memory of a socket, or a volume of drives.
struct StoreMemory {
  std::string name;  // "node0/dram0", "node0/scratch"
  bool drive = false;
  Bytes used, limit;

  bool fits() const { return used <= limit; }
};

// Of every memory and volume that the plan's VMs describe; empty where they describe none.
std::vector<StoreMemory> stores_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
