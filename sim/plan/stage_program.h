// One stage's work on one micro-batch: stretches of computation between the collectives that its division
// needs.
//
// A row-divided operator ends with an all-reduce of its outputs in the forward pass, a column-divided product
// with weights ends with an all-reduce of its inputs' gradient in the backward pass (Megatron-LM, arXiv
// 1909.08053, section 3; a loss over a divided vocabulary exchanges two small statistics). Between batch-divided and other operators activations are gathered (forward) or
// their gradients (backward).
#pragma once

#include <optional>
#include <vector>

#include "sim/graph/collectives/ring.h"
#include "sim/plan/plan.h"

namespace slmsim {

struct CollectiveCall {
  Collective collective = Collective::kAllReduce;
  Bytes size;
};

struct Segment {
  std::vector<Seconds> time;  // per GPU of the stage's mesh
  std::optional<CollectiveCall> then;
  int first_layer = 0, last_layer = 0;  // for labels
};

struct StageProgram {
  std::vector<Segment> forward, backward;
};

StageProgram stage_program(const OperatorGraph& operators, const Stage& stage, double sequences,
                           const Scenario& scenario);

}  // namespace slmsim
