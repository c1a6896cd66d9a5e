// How large a job's checkpoint is, and how long writing and reading one takes.
//
// It holds each state once: weights in training precision, and the optimizer's state (StateBytes), of replicas that go their own
// way each one's, and what an outer optimizer keeps. Each GPU writes a share of it like its share of all parameters and
// optimizer states in the GPUs' memory, as sharded checkpoints do (torch.distributed.checkpoint, Megatron-LM's distributed
// checkpoints): so equal replicas share the writing.
#pragma once

#include <vector>

#include "sim/predict/predict.h"

namespace slmsim {

struct VmBytes {
  int vm = 0;  // index into Platform::vms
  Bytes bytes;
};

// By VM, in their order. Of a prediction that has a plan.
std::vector<VmBytes> checkpoint_bytes(const Scenario& scenario, const Prediction& prediction, double parameters);

struct CheckpointTimes {
  Bytes bytes;    // of all VMs
  Bytes egress;   // of that what leaves its site
  Seconds write;  // until it can be read
  Seconds pause;  // by which training waits
  Seconds read;
};

// To a disk or the store each VM writes its bytes at the stated rate; to a site the bytes of all VMs of another site pass their
// way (sim/platform/site_way.h) by one connection of each VM, several sites' bytes share a link, and the VMs there write. In
// the background training waits for the copy to host memory only, over each GPU's PCIe. What was measured holds in place of
// it.
CheckpointTimes checkpoint_times(const Scenario& scenario, const CheckpointRules& rules,
                                 const std::vector<VmBytes>& bytes);

}  // namespace slmsim
