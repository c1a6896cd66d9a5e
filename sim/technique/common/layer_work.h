// Work of one GPU per layer, for lowerings by layer and not by operator.
#pragma once

#include <string>
#include <vector>

#include "sim/technique/common/host_queue.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

struct LayerWork {
  Seconds forward, backward;            // backward includes recomputation
  Flops forward_work, backward_work;    // matrix products, likewise
  Seconds column_weights;               // part of backward: gradients of weights of products divided by columns
  BoundTime bound;                      // for these three times
  Seconds host_forward, host_backward;  // time to launch these, likewise
  TimeBasis basis;                      // basis of both times, without recomputation
  double parameters = 0;                // of the undivided layer, trained
  double frozen = 0;                    // likewise, frozen parameters
};

// A GPU's stretch for this work, with the host's time.
HostQueue::Stretch forward_of(const LayerWork& work);
HostQueue::Stretch backward_of(const LayerWork& work);

// Both passes over all units, forward first.
HostQueue::Stretch passes_of(const std::vector<LayerWork>& units);

// Whether the host needs longer than the GPU for some unit.
bool host_binds(const std::vector<LayerWork>& units);

// Megatron-LM's division of a layer (arXiv 1909.08053, section 3): products by columns and rows, attention by heads,
// embedding and head by the vocabulary; norms and residuals on every GPU, or by tokens with sequence parallelism.
struct TensorDivision {
  int tensor = 1;
  bool sequence_parallel = false;
  Recompute recompute = Recompute::kNone;
  TensorEnds ends = TensorEnds::kDivided;
  double summed = 0;  // as in Share
};
// Bytes per parameter to add a micro-batch's gradient to the sum in PyTorch, on average over the plan's micro-batches: its
// AccumulateGrad keeps the first gradient (torch/csrc/autograd/functions/accumulate_grad.h), and for each other
// reads both and writes the sum: 0.49 ms for GPT-2's 124 M in fp32 on an H200 (tests/reference/h200/kernels.csv, with four
// micro-batches), where 0.39 are counted. 0 with XLA, whose products add to the sum.
double summed_bytes(const Plan& plan, const Scenario& scenario);

// The sharding of an operator over tensor-parallel GPUs.
Sharding tensor_sharding(const Operator& op, const TensorDivision& division, int layers);

// "embedding", "L0", "L1", ..., "head".
std::string unit_text(std::size_t unit, std::size_t units);

// Work of the embedding, the layers, and final norm, head and loss; `sequences` of one micro-batch on this GPU.
std::vector<LayerWork> layer_work(const OperatorGraph& operators, const TensorDivision& division, double sequences,
                                  const Gpu& gpu, const Scenario& scenario);
// The same for each GPU of a stage, with its row's share of the sequences; computed once for equal GPUs.
std::vector<std::vector<LayerWork>> layer_work_of_ranks(const OperatorGraph& operators, const Stage& stage,
                                                        const TensorDivision& division, double sequences,
                                                        const Scenario& scenario);

// Bytes per number moved by kernels that copy tensors on the GPU: frameworks copy gradients into contiguous buffers for
// NCCL, and parameters out of them. Some use a stream beside the computation; since both then share the memory, and
// computation slows accordingly, such kernels are on the GPU's own stream here.

// `element` bytes: read, and written to another place or, divided by the number of ranks, to the same one.
inline double copied(double element) { return 2 * element; }
// Conversion between number formats; equal formats need no copy.
inline double converted(double from, double to) { return from == to ? 0 : from + to; }

}  // namespace slmsim
