// Time of an operator on a GPU: by the GPU's measured profile (sim/compute/profile_time.h), or, for kernels that it lacks,
// by the data sheet: products by sim/compute/product.h, other kernels by the software stack (sim/compute/software.h). An
// operator without stated kernels moves its inputs and outputs once,
//
//   time = max(FLOPs / fp32 peak, bytes / (memory efficiency * bandwidth)) + launch
#pragma once

#include "sim/compute/operator.h"
#include "sim/compute/software.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// The part of an operator that one GPU computes.
struct Share {
  int columns = 1;       // number of GPUs over which the outputs are divided (attention: the heads)
  int rows = 1;          // number of GPUs over which the inner sum is divided
  double sequences = 1;  // per micro-batch on this GPU
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

}  // namespace slmsim
