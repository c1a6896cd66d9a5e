// What one GPU computes for each layer: for lowerings that follow layers and not operators.
#pragma once

#include <string>
#include <vector>

#include "sim/lower/host_queue.h"
#include "sim/plan/plan.h"

namespace slmsim {

struct LayerWork {
  Seconds forward, backward;            // backward with what it computes anew
  Flops forward_work, backward_work;    // matrix products, likewise
  Seconds column_weights;               // of backward: gradients of weights of products divided by columns
  BoundTime bound;                      // of these three
  Seconds host_forward, host_backward;  // to launch these, likewise
  TimeBasis basis;                      // on what both times rest, without what is computed anew
  double parameters = 0;                // of the undivided layer, trained
  double frozen = 0;                    // likewise, those that are not
};

// What a GPU does of it, with what the host needs meanwhile.
HostQueue::Stretch forward_of(const LayerWork& work);
HostQueue::Stretch backward_of(const LayerWork& work);

// Whether the host needs longer than the GPU for some unit.
bool host_binds(const std::vector<LayerWork>& units);

// How Megatron-LM divides a layer (arXiv 1909.08053, section 3): products by columns and rows, attention by heads,
// embedding and head by the vocabulary; norms and residuals on every GPU, or by tokens with sequence parallelism.
struct TensorDivision {
  int tensor = 1;
  bool sequence_parallel = false;
  Recompute recompute = Recompute::kNone;
};

// "embedding", "L0", "L1", ..., "head".
std::string unit_text(std::size_t unit, std::size_t units);

// The embedding, the layers, and final norm, head and loss; `sequences` of one micro-batch on this GPU.
std::vector<LayerWork> layer_work(const OperatorGraph& operators, const TensorDivision& division, double sequences,
                                  const Gpu& gpu, const Scenario& scenario);
// The same of each GPU of a stage, undivided and with its share of the sequences; of equal ones once.
std::vector<std::vector<LayerWork>> layer_work_of_ranks(const OperatorGraph& operators, const Stage& stage,
                                                        Recompute recompute, double sequences,
                                                        const Scenario& scenario);

}  // namespace slmsim
