// How operators and the activations between them are divided over a mesh of GPUs, and which collectives that takes.
//
// A mesh has one or two axes, and an operator is divided along each. After Megatron-LM (arXiv 1909.08053, section
// 3) and Alpa (arXiv 2201.12023, section 4.1): a row-divided operator ends with an all-reduce of its outputs in the
// forward pass, a column-divided product with weights with one of its inputs' gradient in the backward pass.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/unit.h"
#include "sim/cost/roofline.h"
#include "sim/graph/collectives/ring.h"
#include "sim/model/operator.h"

namespace slmsim {

//   kReplicated  every GPU of the axis computes all of it
//   kBatch       every GPU computes its share of the sequences
//   kColumn      every GPU computes its share of the outputs (attention: of the heads; embedding: of the width)
//   kRow         every GPU computes its share of the inner sum (embedding: of the vocabulary); the partial results
//                must be added (all-reduce)
enum class Sharding { kReplicated, kBatch, kColumn, kRow };

inline constexpr std::size_t kAxes = 2;

// Along both axes of a mesh. An axis of one GPU divides nothing and stays kReplicated.
struct Division {
  std::array<Sharding, kAxes> along{};

  constexpr Division(Sharding first = Sharding::kReplicated, Sharding second = Sharding::kReplicated)
      : along{first, second} {}
  bool operator==(const Division&) const = default;
};

// "batch", "column", ..., or "batch x column": for reports.
std::string name_of(const Division& division);

// GPUs along each axis.
using MeshShape = std::array<int, kAxes>;

// A set of axes: 1 the first, 2 the second, 3 both. Collectives over both axes join the whole mesh.
using Axes = unsigned;
inline constexpr Axes kAllAxes = 3;
inline bool contains(Axes axes, std::size_t axis) { return ((axes >> axis) & 1u) != 0; }
// Those axes that have more than one GPU, and how many GPUs they span.
Axes within(Axes axes, const MeshShape& shape);
int span(Axes axes, const MeshShape& shape);
// The axes along which an operator is divided in this way.
Axes axes_of(const Division& division, Sharding sharding);

// How an activation lies on the GPUs of each axis: all of it on each, or parts by sequences or by columns (heads).
enum class Part : std::uint8_t { kWhole, kSequences, kColumns };
using Layout = std::array<Part, kAxes>;
Layout input_layout(const Operator& op, const Division& division);
Layout output_layout(const Operator& op, const Division& division);

// All ways to divide an operator on the mesh: each sequence, column and row count must divide evenly.
std::vector<Division> valid_divisions(const Operator& op, const MeshShape& shape, double sequences);

struct CollectiveCall {
  Collective collective = Collective::kAllReduce;
  Bytes size;               // of the buffer that is reduced, or of what the GPUs together hold
  Axes axes = kAllAxes;     // one call for each group of GPUs along these axes
  bool all_to_all = false;  // in place of `collective`: every GPU sends a part of its part to each other one
  // An all-reduce in three steps: reduce-scatter inside each VM, all-reduce of every part between VMs, all-gather inside.
  bool by_vm = false;
  int pieces = 1;  // of such a one: each goes through the steps on its own, so that steps of different pieces overlap
};

// What the operator itself exchanges for one micro-batch, of which `bytes` are those of one element times the
// sequences. The loss over a divided vocabulary exchanges two small statistics.
std::vector<CollectiveCall> forward_collectives(const Operator& op, const Division& division, const MeshShape& shape,
                                                double sequences, double element_bytes);
std::vector<CollectiveCall> backward_collectives(const Operator& op, const Division& division, const MeshShape& shape,
                                                 double sequences, double element_bytes);

// What brings an activation of `size` bytes from one layout into another. Cutting is free.
std::vector<CollectiveCall> resharding(Bytes size, const Layout& from, const Layout& to, const MeshShape& shape);

// How Megatron-LM divides an operator over tensor-parallel GPUs (arXiv 1909.08053, section 3): products into a block by
// columns and out of it by rows, attention by heads, embedding and head by the vocabulary; norms and residuals not at all.
Sharding tensor_sharding(const Operator& op);

// Into how many parts the weights are divided.
int weight_parts(const Division& division, const MeshShape& shape);

// Whether embedding and tied head hold the same part of their common table along an axis.
bool same_table(Sharding embedding, Sharding head);

}  // namespace slmsim
