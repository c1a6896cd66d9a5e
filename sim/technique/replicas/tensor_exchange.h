// Exchanges of tensor parallelism by PyTorch's DTensor, around embedding, blocks of layers and head.
//
// Products into a block are divided by columns, products out of it by rows (sharding.h). With sequence parallelism a
// block's input is gathered before it and its sum is scattered after it; the backward pass scatters the gradient of each
// gathered tensor and gathers that of each scattered one. Otherwise sums are all-reduced, in the backward pass those of
// the inputs' gradients.
//
//   torchtitan, models/llama3/parallelize.py      PrepareModuleInput gathers once for the products of a block: four
//                                                 exchanges per layer and pass; the loss is over a divided vocabulary
//   KempnerForge, distributed/tensor_parallel.py  each product into a block gathers its input: seven exchanges with a
//                                                 gated MLP; logits are gathered
//
// Gathered inputs are kept for the weights' gradients, and no exchange overlaps with computation. Recomputation of whole
// layers repeats the exchanges up to the last scatter, which no kept tensor needs; recomputation by operators keeps the
// scattered sums (torchtitan, _save_list). Tokens are not the outermost dimension: a gathered tensor is put together from
// its parts by a copy, and cut for a scatter likewise (torch/distributed/_functional_collectives.py).
#pragma once

#include <vector>

#include "sim/collective/call.h"
#include "sim/technique/common/plan.h"

namespace slmsim {

struct TensorExchange {
  Collective collective = Collective::kAllReduce;
  Bytes size;
  bool copies = false;
};

// Equal parts of a unit's computation, with the exchanges around each.
struct TensorBlock {
  std::vector<TensorExchange> before, after;
};

// Bytes of a micro-batch on a group of tensor-parallel GPUs, and the number of products into an MLP.
struct TensorSizes {
  Bytes stream, logits;  // a layer's input; the head's outputs
  int up = 1;
};

// `element`: bytes of one number of each sequence.
TensorSizes tensor_sizes(const OperatorGraph& operators, Bytes element);

enum class UnitKind { kEmbedding, kLayer, kHead };
// In the order of the pass; a backward pass begins with recomputation.
std::vector<TensorBlock> tensor_blocks(const TensorPlan& plan, const TensorSizes& sizes, UnitKind kind, bool forward,
                                       Recompute recompute);

}  // namespace slmsim
