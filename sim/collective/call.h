// A collective call on a mesh of GPUs: one or two axes, row by row.
#pragma once

#include <array>
#include <vector>

#include "sim/base/unit.h"
#include "sim/collective/ring.h"

namespace slmsim {

inline constexpr std::size_t kAxes = 2;

// GPUs along each axis.
using MeshShape = std::array<int, kAxes>;

// A set of axes: 1 the first, 2 the second, 3 both. Collectives over both axes join the whole mesh.
using Axes = unsigned;
inline constexpr Axes kAllAxes = 3;
inline bool contains(Axes axes, std::size_t axis) { return ((axes >> axis) & 1u) != 0; }
// The axes with more than one GPU, and the number of GPUs that they span.
Axes within(Axes axes, const MeshShape& shape);
int span(Axes axes, const MeshShape& shape);
// The ranks of each group of GPUs along these axes, in ring order.
std::vector<std::vector<std::size_t>> groups_along(Axes axes, const MeshShape& shape);

struct CollectiveCall {
  Collective collective = Collective::kAllReduce;
  Bytes size;               // of the reduced buffer, or of the data that the GPUs together hold
  Axes axes = kAllAxes;     // one call for each group of GPUs along these axes
  bool all_to_all = false;  // replaces `collective`: every GPU sends an equal part of its data to each other one
  // An all-reduce in three steps: reduce-scatter inside each VM, all-reduce of every part between VMs, all-gather
  // inside each VM.
  bool by_vm = false;
  int pieces = 1;  // of a call by VM: steps of different pieces overlap
};

}  // namespace slmsim
