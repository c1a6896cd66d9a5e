// Time of an operator on a GPU: by the GPU's measured profile (below), or, for kernels that it lacks,
// by the data sheet: products by sim/compute/kernel.h, other kernels by the software stack (sim/compute/software.h). An
// operator without stated kernels moves its inputs and outputs once,
//
//   time = max(FLOPs / fp32 peak, bytes / (memory efficiency * bandwidth)) + launch
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/compute/kernel.h"
#include "sim/compute/operator.h"
#include "sim/compute/software.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// The part of an operator that one GPU computes.
struct Share {
  int columns = 1;       // number of GPUs over which the outputs are divided (attention: the heads)
  int rows = 1;          // number of GPUs over which the inner sum is divided
  double sequences = 1;  // per micro-batch on this GPU
  double summed = 0;     // bytes moved per parameter to add its gradient to those of other micro-batches
};

// The basis of a time: kernels measured at exactly this size, interpolated between sizes, or by the roofline.
struct TimeBasis {
  Seconds measured, interpolated, roofline;
  TimeBasis& operator+=(const TimeBasis& other);
  friend TimeBasis operator*(const TimeBasis& basis, double factor) {
    return {basis.measured * factor, basis.interpolated * factor, basis.roofline * factor};
  }
  Seconds total() const { return measured + interpolated + roofline; }
};

// The part of an operator's times that scales inversely with the number of multiprocessors: that of its products and
// flash attention, as far as memory does not bound them. A product's time is the root of the sum of the squares of
// compute and memory; the part is compute's share of these squares (the derivative of the logarithm).
struct BoundTime {
  Seconds forward, backward, weights_gradient;
};

struct OperatorTime {
  Seconds forward;
  Seconds backward;
  TimeBasis basis;           // of both together
  Seconds weights_gradient;  // part of `backward` on which no earlier operator depends
  BoundTime bound{};
};

// Time of a product on one GPU by the data sheet. `shape` is the GPU's part.
Seconds product_time(const MatrixShape& shape, const Gpu& gpu, Precision precision, const Software& software);
// Time of a stack's kernel over `elements` elements, including the launch.
Seconds part_time(const MemoryTraffic& moves, double elements, const Gpu& gpu, Precision precision,
                  const Software& software);

// Time of the part of `op` that one GPU computes.
OperatorTime operator_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                           const Software& software);

// A lower bound for planners: any part of `op`, however divided, takes at least its share of this time, which is for
// one sequence forward and backward.
OperatorTime least_operator_time(const Operator& op, const Gpu& gpu, Precision precision, const Software& software);

// A kernel's time on a GPU with a measured profile.
//
// The ratio of a time to the data sheet's (sim/platform/gpu.h) is interpolated: its logarithm, over the
// logarithms of the kernel's sizes, by a linear fit weighted by 1 / distance^4 (moving least squares, Lancaster and
// Salkauskas, Math. Comp. 37 (1981)), which passes through every measured point. Where the nearest measured point is
// farther than a factor of four, summed over the sizes, the roofline replaces interpolation, scaled by
// KernelTable::usual_ratio. Products are interpolated among those with the same row alignment (sim/compute/kernel.h).

// The ratio at one set of sizes, from samples added one by one. Thinning a profile adds the kept samples only.
class RatioFit {
 public:
  explicit RatioFit(const KernelSizes& target) : target_(target) {}
  void add(const KernelSample& sample);
  // The logarithm of the ratio; nothing where no sample was near enough.
  std::optional<double> ratio() const;

 private:
  KernelSizes target_;
  // Sums over the samples for the normal equations of a constant and four slopes.
  std::array<double, 25> squares_{};
  std::array<double, 5> products_{};
  double nearest_ = std::numeric_limits<double>::infinity();
};

struct ProfileTime {
  Seconds time;
  TimeBasis basis;
};

// Slowdown of a product by the alignment of its rows; 1 for other kernels. Products of equal cost are interpolated
// among each other.
double alignment_cost(const Gpu& gpu, Precision precision, const KernelShape& kernel);

// Whether the GPU's profile holds times of this kernel in this precision.
bool was_timed(const Gpu& gpu, Precision precision, const std::string& kernel);

// Requires that the GPU's table knows the kernel's class.
ProfileTime profile_time(const Gpu& gpu, Precision asked, const KernelShape& kernel);

// The optimizer's update of the weights on a GPU: its state and its time.
//
// State in addition to weights, gradients and fp32 master, in bytes per parameter:
//   adam      8     two moments in fp32 (Kingma and Ba, arXiv 1412.6980)
//   adam8bit  2.03  two moments of a byte, each block of 256 with an fp32 scale (Dettmers et al., arXiv 2110.02861)
//   adam16bit 4     two moments in the 16 bits of the weights, without an fp32 master: PyTorch's AdamW of a model in bf16
//   momentum  4     one, in fp32: SGD with momentum
//   sgd       0
// Time: the bytes read and written once, at the memory's bandwidth. Where a stack states the bytes of its Adam, other
// rules move less by the difference in state, which is read and written.

enum class UpdateRule { kAdam, kAdam8bit, kAdam16bit, kMomentum, kSgd };
// As scenarios write them: "adam", "adam8bit", "adam16bit", "momentum", "sgd".
const std::vector<std::string>& update_rule_names();
// Bytes of state per parameter.
double state_of(UpdateRule rule);

// Number formats of weights and gradients in an update. 16-bit weights have an fp32 master, but with adam16bit.
struct Update {
  Precision weights = Precision::kFp16, gradients = Precision::kFp16;
  UpdateRule rule = UpdateRule::kAdam;

  bool has_master() const { return element_bytes(weights) < 4 && rule != UpdateRule::kAdam16bit; }
  // Whether it is PyTorch's Adam, in either format.
  bool is_adam() const { return rule == UpdateRule::kAdam || rule == UpdateRule::kAdam16bit; }
  // Bytes per parameter of the copy of the weights that the optimizer updates.
  double element() const { return rule == UpdateRule::kAdam16bit ? element_bytes(weights) : 4; }
};

// Time for `parameters` parameters on this GPU. `basis`, if given, is extended: measured kernels are Adam's.
Seconds update_time(double parameters, const Gpu& gpu, const Update& update, const Software& software,
                    TimeBasis* basis = nullptr);

// Host time of an optimizer that is a loop over tensors in Python (stacks with adam_kernel adam_single): BertAdam and the AdamW
// of transformers (optimization.py) launch some 14 operators for each. The GPU waits for the host if its own time is less.
inline constexpr double kLoopOperators = 14;
Seconds update_loop_time(double tensors, const Gpu& gpu, const Software& software);

}  // namespace slmsim
