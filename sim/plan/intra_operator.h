// How a mesh divides the operators of a stage among its GPUs, chosen by communication cost.
//
// Per block of the model (embedding, each layer, head) two strategies compete: `batch` (each GPU its
// sequences, the gradients all-reduced once) and `tensor` (Megatron's column and row division, arXiv
// 1909.08053, with activations all-reduced for every micro-batch). The cheapest sequence of strategies is
// found by dynamic programming over the chain of blocks, with the cost of resharding activations between
// unlike neighbours.
//
// Costs are Alpa's for a mesh of n devices in one dimension (arXiv 2201.12023, artifact: LogicalDeviceMesh),
// which are unitless and do not know how far apart the GPUs are: a = 1, b = 1;
//   all-gather a + b (n-1)/n x + 0.1, all-reduce a + 2 b (n-1)/n x + 0.01, x in bytes.
#pragma once

#include <vector>

#include "sim/plan/plan.h"

namespace slmsim {

struct IntraOperatorRequest {
  const OperatorGraph& operators;
  std::size_t first = 0, last = 0;  // operators [first, last)
  int gpus = 1;
  double sequences = 1;  // of one micro-batch
  int micro_batches = 1;
  double activation_bytes = 2;  // per element
  double gradient_bytes = 2;
};

double alpa_all_gather_cost(double bytes, int gpus);
double alpa_all_reduce_cost(double bytes, int gpus);

// One sharding per operator of the request. Batch division needs at least one whole sequence per GPU.
std::vector<Sharding> divide_operators(const IntraOperatorRequest& request);

}  // namespace slmsim
