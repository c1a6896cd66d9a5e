// Replicas that train independently for several optimizer steps and then exchange: rounds of local SGD (Stich, ICLR
// 2019, arXiv 1805.09767, algorithm 1), DiLoCo (arXiv 2311.08105, algorithm 1) and Streaming DiLoCo (arXiv 2501.18512,
// algorithm 2).
//
// A round has H inner steps. The model is cut into P fragments; fragment p's exchange ends, and its update is made,
// after step
//
//   e_p = floor((p + 1) H / P)
//
// and begins `delay` steps earlier. Each fragment is thus exchanged once per round, at even distances, and the last
// one's update ends the round. (The papers start counting elsewhere in the cycle; the cycle is the same.)
#pragma once

#include <string>
#include <vector>

#include "sim/compute/compression.h"
#include "sim/compute/operator.h"

namespace slmsim {

inline constexpr double kFp32Bytes = 4;  // of a parameter of the outer optimizer

// The GPUs of one replica: inside it gradients are summed at every step.
enum class ReplicaOf { kGpu, kVm, kSite };
const std::vector<std::string>& replica_of_names();  // "gpu", "vm", "site"

// The use of the exchanged data: parameters are averaged, or differences to the round's start move the outer parameters
// by SGD with Nesterov's momentum.
enum class OuterUpdate { kAverage, kNesterov };

// The summation: NCCL's all-reduce, or the ranks themselves, each for a share (sim/collective/peers.h).
enum class SumBy { kAuto, kNccl, kShares };
const std::vector<std::string>& sum_by_names();  // "auto", "nccl", "shares"

struct RoundPlan {
  ReplicaOf replica = ReplicaOf::kGpu;
  int gpus = 1;  // of each replica; the plan's mesh lists the GPUs of one replica after another
  OuterUpdate update = OuterUpdate::kAverage;
  ExchangeFormat format = ExchangeFormat::kFp32;
  SumBy sum = SumBy::kNccl;
  bool outer_on_host = false;  // outer parameters and momentum
  int fragments = 1, delay = 0;
  Bytes bucket;  // of gradients summed together inside a replica

  bool operator==(const RoundPlan&) const = default;
};

// Parameters of each fragment: layers in turn (the strided pattern of arXiv 2501.18512, figure 2), the embedding in the
// first, norm and head in the last.
std::vector<double> fragment_parameters(const OperatorGraph& operators, int fragments);

// The inner steps, counted from 1, after which each fragment's exchange begins and its update is made. In a round
// shorter than the delays, exchanges begin as early as possible.
struct FragmentSteps {
  int begin = 0, end = 0;
};
std::vector<FragmentSteps> fragment_steps(int steps, int fragments, int delay);
// Steps after this one up to the one after which the next exchange begins. No exchange is under way.
int steps_alone(const std::vector<FragmentSteps>& when, int step);

}  // namespace slmsim
