// One stage's work on one micro-batch: stretches of computation between the collectives of its division
// (sim/technique/common/sharding.h).
#pragma once

#include <optional>
#include <vector>

#include "sim/technique/common/plan.h"

namespace slmsim {

struct Segment {
  std::vector<Seconds> time;  // per GPU of the stage's mesh
  std::vector<Flops> work;    // likewise: its matrix products
  Seconds host;               // time to launch its kernels, on each GPU's host
  std::optional<CollectiveCall> then;
  int first_layer = 0, last_layer = 0;  // for labels
};

struct StageProgram {
  std::vector<Segment> forward, backward;
  Segment weights;               // omitted from `backward` if the gradients of weights are computed separately
  std::vector<TimeBasis> basis;  // per GPU: basis of the times, without recomputation
};

// `sequences` of one micro-batch, over all GPUs of the stage. `summed`: as in Share.
StageProgram stage_program(const OperatorGraph& operators, const Stage& stage, double sequences, Recompute recompute,
                           const Scenario& scenario, double summed = 0, bool weights_apart = false);

// Marks the devices of a mesh whose host needs longer than the GPU for some stretch.
void mark_binding_hosts(const StageProgram& program, const std::vector<int>& mesh, std::vector<bool>& binds);

}  // namespace slmsim
