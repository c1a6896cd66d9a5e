// Memory of one GPU of a stage: parameters and, per micro-batch, activations.
#pragma once

#include "sim/technique/common/plan.h"

namespace slmsim {

// The part of operator `first + index` that GPU `rank` of the stage computes in one micro-batch of `sequences`.
Share share_of(const Stage& stage, std::size_t index, std::size_t rank, double sequences);

// Weight elements of an operator that the stage must hold; a tied head shares its embedding's.
double held_weights(const OperatorGraph& operators, const Stage& stage, std::size_t index);

struct HeldParameters {
  double all = 0;  // on each GPU of the stage
  // The part of these held equally by all GPUs along the axes with different sequences: their gradients must be
  // summed.
  std::array<double, kAllAxes + 1> shared_along{};

  double shared() const { return shared_along[1] + shared_along[2] + shared_along[kAllAxes]; }
};
HeldParameters held_parameters(const OperatorGraph& operators, const Stage& stage);

// The parameters that the optimizer of one GPU updates.
double updated_parameters(const Plan& plan, const Stage& stage, const HeldParameters& held);

// NCCL's buffers of a rank in these groups of GPUs, each a communicator (the same GPUs again belong to the same one), and of
// messages to the neighbours of its pipeline stage, over two channels each way.
Bytes nccl_of_groups(const std::vector<std::vector<int>>& groups, int stage, int stages, const Scenario& scenario);

// The attention kernel on these GPUs; with different kernels, the one that keeps most memory.
AttentionKernel attention_on_all(const std::vector<int>& devices, const Scenario& scenario);

// Bytes that this part of an operator keeps for the backward pass of one micro-batch; `token_parts`: Stage's, where the
// operator is otherwise whole.
double kept_activations(const Operator& op, const Share& share, Precision precision, AttentionKernel attention,
                        const Software& software, int token_parts = 1);

// Bytes that operator `first + index` keeps for the backward pass of one micro-batch on GPU `rank`. With recomputation:
// until the backward pass reaches the operator's layer, and without the layer's input.
double kept_activations(const OperatorGraph& operators, const Stage& stage, std::size_t index, std::size_t rank,
                        double sequences, const Scenario& scenario, Recompute recompute = Recompute::kNone);

}  // namespace slmsim
