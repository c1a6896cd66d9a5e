// What each GPU must hold under a plan, by parts, and whether it fits.
//
// Mixed-precision Adam (ZeRO, arXiv 1910.02054, section 3.1): weights 2, fp32 master 4, moments 8 and
// gradients 2 bytes per parameter; ZeRO-2 divides all but the weights. Activations after Korthikanti et al.
// (arXiv 2205.05198).
#pragma once

#include <vector>

#include "sim/plan/plan.h"

namespace slmsim {

struct DeviceMemory {
  int device = 0;
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

// Of one parameter that is held, trained and not divided: weights, gradient and optimizer's state.
double state_bytes(const Training& training);

// One entry per GPU of the plan, in the order of stages and meshes.
std::vector<DeviceMemory> memory_of(const Plan& plan, const OperatorGraph& operators, const Scenario& scenario);

}  // namespace slmsim
