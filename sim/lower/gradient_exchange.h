// How replicas exchange gradients while the backward pass goes on, in buckets as PyTorch's DistributedDataParallel does, whole
// or compressed (sim/cost/compression.h).
//
// Gradients are copied into buckets as they come, by kernels that divide them too, and back when all are summed
// (torch/csrc/distributed/c10d/reducer.cpp, mark_variable_ready_dense and finalize_bucket_dense): what is read and written is 2
// and 2 elements of a gradient, on the GPU's stream. With gradient_as_bucket_view they are not copied back.
//
// A bucket's encoding is on the GPU's stream, since its hook is called in the backward pass; what comes between and behind
// collectives runs beside it, on a stream of its own (CUDAFuture::then). Collectives of one bucket follow one another, and
// those of the next come behind: all are on NCCL's stream. Buckets are cut to a byte; those of powersgd, which works on
// matrices, end with the tensor that fills them.
#pragma once

#include "sim/lower/replica_run.h"

namespace slmsim {

class GradientExchange {
 public:
  // Whole gradients where `compression` is none.
  GradientExchange(ReplicaRun& run, Bytes bucket, const Compression& compression);

  // The gradients of a unit are there after these tasks; units come in the order of the backward pass, the embedding's last.
  void add(std::size_t unit, const Tasks& computed);
  // Per rank the task after which the last bucket is summed and decoded; nothing before the first.
  const Tasks& reduced() const { return reduced_; }
  // Per rank the task after which all gradients are out of their buckets again, where they do not lie in them.
  Tasks finished();

 private:
  void exchange(double numbers, const Tasks& done);
  void exchange_low_rank();
  template <class Time>
  std::vector<Seconds> on_each(Time time) const;

  ReplicaRun& run_;
  Bytes bucket_;
  Compression compression_;
  std::vector<std::vector<GradientTensors>> tensors_;  // of each unit, in the order in which they come; of powersgd
  LowRankBucket matrices_;                             // of a bucket that is not full
  Bytes waiting_{0}, added_{0};
  Tasks reduced_;
};

}  // namespace slmsim
