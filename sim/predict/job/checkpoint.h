// Size of a job's checkpoint, and the time to write and read one.
//
// It holds each state once: weights in training precision and the optimizer's state of those that are trained (StateBytes), of
// every replica where replicas diverge, and the state of an outer optimizer. Each GPU writes a share proportional to its
// parameters and optimizer states in GPU memory, as sharded checkpoints do (torch.distributed.checkpoint, Megatron-LM's
// distributed checkpoints): so equal replicas share the writing.
#pragma once

#include <vector>

#include "sim/predict/predict.h"

namespace slmsim {

struct VmBytes {
  int vm = 0;  // index into Platform::vms
  Bytes bytes;
};

// By VM, in their order. The prediction must have a plan.
std::vector<VmBytes> checkpoint_bytes(const Scenario& scenario, const Prediction& prediction,
                                      const OperatorGraph& operators);

struct CheckpointTimes {
  Bytes bytes;    // of all VMs
  Bytes egress;   // the part that leaves its site
  Seconds write;  // until the checkpoint can be read
  Seconds pause;  // time that training waits
  Seconds read;
};

// To a disk or the store each VM writes its bytes at the stated rate. To a site, the VMs of each other site send their bytes
// along the route (sim/platform/wan_route.h), one connection per VM; sites' bytes share a link, and the VMs there write.
// In the background, training waits only for the copy to host memory over each GPU's PCIe. Measured times replace computed
// ones.
CheckpointTimes checkpoint_times(const Scenario& scenario, const CheckpointRules& rules,
                                 const std::vector<VmBytes>& bytes);

}  // namespace slmsim
