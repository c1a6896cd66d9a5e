// An iteration of Megatron-LM: 1F1B, or interleaved 1F1B where GPUs hold several chunks of layers (arXiv 2104.04473,
// section 2.2). Tensor-parallel collectives block their GPUs' streams, two per layer and pass; gradients of replicas
// are all-reduced after the last backward pass, or scattered with a distributed optimizer. In the backward pass the
// collective of an input's gradient overlaps with the gradient of the weights, where the plan says so.
#pragma once

#include "sim/technique/common/lower.h"

namespace slmsim {

Lowered lower_megatron(const LowerRequest& request);

}  // namespace slmsim
