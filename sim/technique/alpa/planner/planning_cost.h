// Costs of collectives and computation for planners that divide operators.
#pragma once

#include <functional>
#include <vector>

#include "sim/platform/network.h"
#include "sim/scenario/scenario.h"
#include "sim/technique/common/sharding.h"

namespace slmsim {

struct ComputationCost {
  double forward = 0, backward = 0;
};

// All in one unit: Alpa's, or seconds of one iteration.
struct PlanningCosts {
  std::function<double(const CollectiveCall&)> collective;                   // in each micro-batch
  std::function<double(Bytes, Axes)> gradients;                              // all-reduced once per iteration
  std::function<ComputationCost(const Operator&, const Division&)> compute;  // in each micro-batch
  std::function<double(double)> update;  // of a number of weights, once per iteration
  double micro_batches = 1;              // factor of the per-micro-batch costs
  bool may_recompute = false;            // may leave a divisible product whole
  bool batch_on_first_axis = false;      // of a mesh with two axes: sequences are divided along the first if possible
};

// Alpa's unitless costs (arXiv 2201.12023; artifact: LogicalDeviceMesh), which are independent of the GPUs' distances.
// Along an axis of n GPUs, for x bytes:
//   all-gather a + b (n-1)/n x + 0.1              all-reduce a + 2 b (n-1)/n x + 0.01
//   reduce-scatter a + b (n-1)/n x + 0.001        all-to-all a + b (n-1)/n^2 x n/2 + 0.001
// with a = (1, 1) and b = (1, 0.1); ShardParallel flattens its mesh to one axis with the larger a and the smaller b.
// Over both axes the costs add up. Computation is free, since every divisible product must be divided
// (allow_recompute_heavy_op = False); sequences go along the first of two axes (force_batch_dim_to_mesh_dim = 0); and
// gradients count as if reduced in every micro-batch (grad_acc_num_micro_batches is disabled).
PlanningCosts alpa_costs(const MeshShape& shape);
double alpa_cost(const CollectiveCall& call, const MeshShape& shape);

// Seconds of an iteration on these GPUs: operators by the roofline on the slowest GPU, collectives by CollectiveTimes.
PlanningCosts time_costs(const Scenario& scenario, const Network& network, const std::vector<int>& mesh,
                         const MeshShape& shape, double sequences, int micro_batches);

}  // namespace slmsim
