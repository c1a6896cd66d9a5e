// The optimizer's update of the weights on a GPU: its state and its time.
//
// State in addition to weights, gradients and fp32 master, in bytes per parameter:
//   adam      8     two moments in fp32 (Kingma and Ba, arXiv 1412.6980)
//   adam8bit  2.03  two moments of a byte, each block of 256 with an fp32 scale (Dettmers et al., arXiv 2110.02861)
//   momentum  4     one, in fp32: SGD with momentum
//   sgd       0
// Time: the bytes read and written once, at the memory's bandwidth. Where a stack states the bytes of its Adam, other
// rules move less by the difference in state, which is read and written.
#pragma once

#include <string>
#include <vector>

#include "sim/compute/roofline.h"

namespace slmsim {

enum class UpdateRule { kAdam, kAdam8bit, kMomentum, kSgd };
// As scenarios write them: "adam", "adam8bit", "momentum", "sgd".
const std::vector<std::string>& update_rule_names();
// Bytes of state per parameter.
double state_of(UpdateRule rule);

// Number formats of weights and gradients in an update. 16-bit weights have an fp32 master.
struct Update {
  Precision weights = Precision::kFp16, gradients = Precision::kFp16;
  UpdateRule rule = UpdateRule::kAdam;
};

// Time for `parameters` parameters on this GPU. `basis`, if given, is extended: measured kernels are Adam's.
Seconds update_time(double parameters, const Gpu& gpu, const Update& update, const Software& software,
                    TimeBasis* basis = nullptr);

// Host time of an optimizer that is a loop over tensors in Python (stacks with adam_kernel adam_single): BertAdam and the AdamW
// of transformers (optimization.py) launch some 14 operators for each. The GPU waits for the host if its own time is less.
inline constexpr double kLoopOperators = 14;
Seconds update_loop_time(double tensors, const Gpu& gpu, const Software& software);

}  // namespace slmsim
