// How long an operator takes on a GPU: by the GPU's measured profile (sim/cost/profile_time.h), else, and where the profile
// does not hold its kernels, by the data sheet: products by sim/cost/product.h, what lies between them by the software
// stack's kernels (sim/cost/software.h). What a stack does not state moves its inputs and outputs once,
//
//   time = max(FLOPs / fp32 peak, bytes / (memory efficiency * bandwidth)) + launch
#pragma once

#include "sim/cost/software.h"
#include "sim/model/operator.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// The part of an operator that one GPU computes.
struct Share {
  int columns = 1;       // over how many GPUs the outputs are divided (attention: the heads)
  int rows = 1;          // over how many GPUs the inner sum is divided
  double sequences = 1;  // that this GPU computes in one micro-batch
};

// On what a time rests: kernels that were measured at just this size, at others near by, or the roofline.
struct TimeBasis {
  Seconds measured, interpolated, roofline;
  TimeBasis& operator+=(const TimeBasis& other);
  friend TimeBasis operator*(const TimeBasis& basis, double factor) {
    return {basis.measured * factor, basis.interpolated * factor, basis.roofline * factor};
  }
  Seconds total() const { return measured + interpolated + roofline; }
};

// Of an operator's times what it would take longer in proportion if the GPU had fewer multiprocessors: that of its products
// and flash attention, as far as memory does not bound them. Of compute and memory, whose squares a product's time is the
// root of the sum of, that is compute's share of the squares (the derivative of the logarithm).
struct BoundTime {
  Seconds forward, backward, weights_gradient;
};

struct OperatorTime {
  Seconds forward;
  Seconds backward;
  TimeBasis basis;           // of both together
  Seconds weights_gradient;  // the part of `backward` that nothing in front of the operator waits for
  BoundTime bound{};
};

// A product of one GPU, by its data sheet. `shape` is what the GPU computes.
Seconds product_time(const MatrixShape& shape, const Gpu& gpu, Precision precision, const Software& software);
// What a stack's kernel takes for so many elements; the launch included.
Seconds part_time(const Moves& moves, double elements, const Gpu& gpu, Precision precision, const Software& software);

// Time of the part of `op` that one GPU computes.
OperatorTime operator_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                           const Software& software);

// A bound for planners: no part of `op`, however it is divided, takes less than its share of this, which is of one sequence
// forward and backward.
OperatorTime least_operator_time(const Operator& op, const Gpu& gpu, Precision precision, const Software& software);

}  // namespace slmsim
