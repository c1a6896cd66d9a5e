// Replicas that go their own way for several optimizer steps and then exchange: what a round is, of local SGD (Stich, ICLR
// 2019, arXiv 1805.09767, algorithm 1), DiLoCo (arXiv 2311.08105, algorithm 1) and Streaming DiLoCo (arXiv 2501.18512,
// algorithm 2).
//
// A round has H inner steps. The model is cut into P fragments; fragment p's exchange is over, and its update made, after
// step
//
//   e_p = floor((p + 1) H / P)
//
// and begins `delay` steps before: so each fragment is exchanged once in a round, they follow one another at even distances,
// and the last one's update ends the round. (The papers begin counting elsewhere in the cycle; the cycle is the same.)
#pragma once

#include <string>
#include <vector>

#include "sim/cost/exchange_format.h"
#include "sim/model/operator.h"

namespace slmsim {

// The GPUs that make one replica: inside it gradients are summed at every step.
enum class ReplicaOf { kGpu, kVm, kSite };
const std::vector<std::string>& replica_of_names();  // "gpu", "vm", "site"

// What becomes of what was exchanged: parameters are averaged, or differences to the round's start move the outer
// parameters by SGD with Nesterov's momentum.
enum class OuterUpdate { kAverage, kNesterov };

// Who adds up: NCCL's all-reduce, or the ranks themselves, each a share (nccl/share_sum.h).
enum class SumBy { kAuto, kNccl, kShares };
const std::vector<std::string>& sum_by_names();  // "auto", "nccl", "shares"

struct RoundPlan {
  ReplicaOf replica = ReplicaOf::kGpu;
  int gpus = 1;  // of each replica; in the plan's mesh a replica's GPUs follow one another
  OuterUpdate update = OuterUpdate::kAverage;
  ExchangeFormat format = ExchangeFormat::kFp32;
  SumBy sum = SumBy::kNccl;
  bool outer_on_host = false;  // outer parameters and momentum
  int fragments = 1, delay = 0;
  Bytes bucket;  // of gradients that are summed together inside a replica

  bool operator==(const RoundPlan&) const = default;
};

// Parameters of each fragment: layers in turn (the strided pattern of arXiv 2501.18512, figure 2), the embedding with the
// first, norm and head with the last.
std::vector<double> fragment_parameters(const OperatorGraph& operators, int fragments);

// The inner steps, counted from 1, after which each fragment's exchange begins and its update is made. Of a round that is
// too short for its delays they begin as early as they can.
struct FragmentSteps {
  int begin = 0, end = 0;
};
std::vector<FragmentSteps> fragment_steps(int steps, int fragments, int delay);

}  // namespace slmsim
