// Bytes per number moved by kernels that copy tensors on the GPU: frameworks copy gradients into contiguous buffers for
// NCCL, and parameters out of them. Some use a stream beside the computation; since both then share the memory, and
// computation slows accordingly, such kernels are on the GPU's own stream here.
#pragma once

namespace slmsim {

// `element` bytes: read, and written to another place or, divided by the number of ranks, to the same one.
inline double copied(double element) { return 2 * element; }
// Conversion between number formats; equal formats need no copy.
inline double converted(double from, double to) { return from == to ? 0 : from + to; }

}  // namespace slmsim
