// Divisions of operators and activations over a mesh of GPUs, and the collectives that they need.
//
// A mesh has one or two axes, and an operator is divided along each. After Megatron-LM (arXiv 1909.08053, section
// 3) and Alpa (arXiv 2201.12023, section 4.1): a row-divided operator ends with an all-reduce of its outputs in the
// forward pass, a column-divided product with weights with one of its inputs' gradient in the backward pass.
#pragma once

#include <string>
#include <vector>

#include "sim/base/unit.h"
#include "sim/collective/call.h"
#include "sim/compute/operator.h"
#include "sim/compute/roofline.h"

namespace slmsim {

//   kReplicated  every GPU of the axis computes all of it
//   kBatch       every GPU computes its share of the sequences
//   kColumn      every GPU computes its share of the outputs (attention: of the heads; embedding: of the width)
//   kRow         every GPU computes its share of the inner sum (embedding: of the vocabulary); the partial results
//                must be added (all-reduce)
enum class Sharding { kReplicated, kBatch, kColumn, kRow };

// Along both axes of a mesh. An axis of one GPU divides nothing and stays kReplicated.
struct Division {
  std::array<Sharding, kAxes> along{};

  constexpr Division(Sharding first = Sharding::kReplicated, Sharding second = Sharding::kReplicated)
      : along{first, second} {}
  bool operator==(const Division&) const = default;
};

// "batch", "column", ..., or "batch x column", for reports.
std::string name_of(const Division& division);

// The axes along which an operator has this sharding.
Axes axes_of(const Division& division, Sharding sharding);
// The axes along which an operator needs whole what its GPUs receive in parts.
Axes axes_gathered(const Division& needed, const MeshShape& shape);

// Layout of an activation along each axis: whole on each GPU, or divided by sequences or by columns (heads).
enum class Part : std::uint8_t { kWhole, kSequences, kColumns };
using Layout = std::array<Part, kAxes>;
Layout input_layout(const Operator& op, const Division& division);
Layout output_layout(const Operator& op, const Division& division);

// All valid divisions of an operator on the mesh: sequence, column and row counts must divide evenly.
std::vector<Division> valid_divisions(const Operator& op, const MeshShape& shape, double sequences);

// Collectives of an operator for one micro-batch; `sequences` is its number of sequences. The loss over a divided
// vocabulary exchanges two small statistics.
std::vector<CollectiveCall> forward_collectives(const Operator& op, const Division& division, const MeshShape& shape,
                                                double sequences, double element_bytes);
std::vector<CollectiveCall> backward_collectives(const Operator& op, const Division& division, const MeshShape& shape,
                                                 double sequences, double element_bytes);

// Collectives that convert an activation of `size` bytes from one layout to another. Cutting is free.
std::vector<CollectiveCall> resharding(Bytes size, const Layout& from, const Layout& to, const MeshShape& shape);

// Megatron-LM's division of an operator over tensor-parallel GPUs (arXiv 1909.08053, section 3): products into a block
// by columns and out of it by rows, attention by heads, embedding and head by the vocabulary; norms and residuals
// undivided.
Sharding tensor_sharding(const Operator& op);

// Number of parts into which the weights are divided.
int weight_parts(const Division& division, const MeshShape& shape);

// Whether embedding and tied head hold the same part of their common table along an axis.
bool same_table(Sharding embedding, Sharding head);

}  // namespace slmsim
