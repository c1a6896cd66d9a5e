// What updates the weights on a GPU: the state it keeps beside them, and how long it takes.
//
// State beside weights, gradients and fp32 master, in bytes per parameter:
//   adam      8     two moments in fp32 (Kingma and Ba, arXiv 1412.6980)
//   adam8bit  2.03  two moments of a byte, each block of 256 with an fp32 scale (Dettmers et al., arXiv 2110.02861)
//   momentum  4     one, in fp32: SGD with momentum
//   sgd       0
// Time: what is read and written once, at the memory's bandwidth. Where a stack states what its Adam moves, others move as
// much less as their state is smaller, which is read and written.
#pragma once

#include <string>
#include <vector>

#include "sim/cost/roofline.h"

namespace slmsim {

enum class UpdateRule { kAdam, kAdam8bit, kMomentum, kSgd };
// As scenarios write them: "adam", "adam8bit", "momentum", "sgd".
const std::vector<std::string>& update_rule_names();
// Bytes of state per parameter.
double state_of(UpdateRule rule);

// What an update meets: number formats of weights and gradients. 16-bit weights have an fp32 master.
struct Update {
  Precision weights = Precision::kFp16, gradients = Precision::kFp16;
  UpdateRule rule = UpdateRule::kAdam;
};

// Of `parameters` parameters on this GPU. `basis`, if given, grows by what the time rests on: measured kernels are Adam's.
Seconds update_time(double parameters, const Gpu& gpu, const Update& update, const Software& software,
                    TimeBasis* basis = nullptr);

}  // namespace slmsim
