// Exchange of gradients between replicas during the backward pass, in buckets as in PyTorch's DistributedDataParallel,
// whole or compressed (sim/compute/compression.h).
//
// Gradients are copied into buckets as they are computed, by kernels that also divide them, and back when all are
// summed (torch/csrc/distributed/c10d/reducer.cpp, mark_variable_ready_dense and finalize_bucket_dense): each of these
// copies reads and writes 2 elements per gradient, on the GPU's stream. With gradient_as_bucket_view they are not
// copied back.
//
// A bucket's encoding is on the GPU's stream, since its hook is called in the backward pass; kernels between and after
// collectives run beside it, on a stream of their own (CUDAFuture::then). Collectives of one bucket follow one another,
// and those of the next bucket come after: all are on NCCL's stream. Buckets are cut to a byte; those of powersgd,
// which works on matrices, end with the tensor that fills them.
#pragma once

#include "sim/technique/replicas/replica_run.h"

namespace slmsim {

class GradientExchange {
 public:
  // Whole gradients if `compression` is none.
  GradientExchange(ReplicaRun& run, Bytes bucket, const Compression& compression);

  // The gradients of a unit are available after these tasks; units come in the order of the backward pass, the
  // embedding's last.
  void add(std::size_t unit, const Tasks& computed);
  // Per rank the task after which the last bucket is summed and decoded; empty before the first bucket.
  const Tasks& reduced() const { return reduced_; }
  // Per rank the task after which all gradients are copied out of their buckets, unless they are stored there.
  Tasks finished();

 private:
  void exchange(double numbers, const Tasks& done);
  void exchange_low_rank();
  template <class Time>
  std::vector<Seconds> on_each(Time time) const;

  ReplicaRun& run_;
  Bytes bucket_;
  Compression compression_;
  std::vector<std::vector<GradientTensors>> tensors_;  // per unit, in order of arrival; for powersgd
  LowRankBucket matrices_;                             // of the incomplete bucket
  Bytes waiting_{0}, added_{0};
  Tasks reduced_;
};

}  // namespace slmsim
