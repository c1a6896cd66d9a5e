// What a kernel that copies tensors on the GPU reads and writes for each number: frameworks bring gradients to where NCCL takes
// them in one piece, and parameters from where it leaves them. Some do so on a stream beside the computation; since memory then
// serves both, and computation takes as much longer, such kernels are on the GPU's own stream here.
#pragma once

namespace slmsim {

// Of so many bytes: read, and written to another place or, divided by the number of ranks, to the same one.
inline double copied(double element) { return 2 * element; }
// From one number format to another; those of one format stay where they are.
inline double converted(double from, double to) { return from == to ? 0 : from + to; }

}  // namespace slmsim
