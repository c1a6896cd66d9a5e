// How long an operator takes on a GPU: by the GPU's measured profile (sim/cost/profile_time.h), else, and where the profile
// holds no kernel of its class, the roofline of its data sheet.
//
//   time = max(FLOPs / (efficiency * waves * peak), bytes / (memory efficiency * bandwidth)) + launch
//
// `waves` is wave quantisation: a matrix product is cut into tiles, the tiles are dealt to the
// multiprocessors in waves, and the last wave runs as long as a full one (NVIDIA, Matrix Multiplication
// Background User's Guide, DU-09799-001). So small products are slower per FLOP.
#pragma once

#include <map>
#include <string>

#include "sim/model/operator_graph.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// What a software stack reaches of the data sheet's rates.
struct Efficiency {
  // Share of the peak that a large matrix product reaches; by architecture, since a stack's kernels may suit
  // one and not another.
  std::map<std::string, double> matrix;
  double memory = 0;  // share of the memory bandwidth that elementwise kernels reach
  Seconds launch;     // fixed cost of one kernel

  double matrix_of(const Gpu& gpu) const { return matrix.at(gpu.architecture); }

  bool operator==(const Efficiency&) const = default;
};

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

struct OperatorTime {
  Seconds forward;
  Seconds backward;
  TimeBasis basis;  // of both together
};

// Time of the part of `op` that one GPU computes.
OperatorTime operator_time(const Operator& op, const Share& share, const Gpu& gpu, Precision precision,
                           const Efficiency& efficiency);

// A bound for planners: no part of `op`, however it is divided, takes less than its share of this, which is of one sequence
// forward and backward.
OperatorTime least_operator_time(const Operator& op, const Gpu& gpu, Precision precision, const Efficiency& efficiency);

// Time of Adam on `parameters` parameters of this GPU: it reads gradient, fp32 master and both moments, and
// writes master, moments and the weights in training precision; memory bandwidth bounds it.
Seconds adam_time(double parameters, const Gpu& gpu, Precision precision, Precision gradient_precision,
                  const Efficiency& efficiency, TimeBasis* basis = nullptr);

// Share of the multiprocessors busy on average over the waves of `batch` products with an m x n result.
double wave_efficiency(const MatrixShape& shape, int multiprocessors);

}  // namespace slmsim
