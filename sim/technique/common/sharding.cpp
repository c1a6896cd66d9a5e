#include "sim/technique/common/sharding.h"

#include <cmath>

namespace slmsim {
namespace {

const char* word(Sharding sharding) {
  switch (sharding) {
    case Sharding::kReplicated:
      return "replicated";
    case Sharding::kBatch:
      return "batch";
    case Sharding::kColumn:
      return "column";
    case Sharding::kRow:
      return "row";
  }
  return "";
}

// Number of GPUs over which a tensor of this layout is divided along axes other than these.
int parts_outside(Axes axes, const Layout& layout, const MeshShape& shape) {
  int parts = 1;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (!contains(axes, a) && layout[a] != Part::kWhole) parts *= shape[a];
  }
  return parts;
}

CollectiveCall all_reduce(Bytes tensor, Axes axes, const Layout& layout, const MeshShape& shape) {
  return {Collective::kAllReduce, tensor / static_cast<double>(parts_outside(axes, layout, shape)), axes};
}

}  // namespace

std::string name_of(const Division& division) {
  const std::string first = word(division.along[0]);
  return division.along[1] == Sharding::kReplicated ? first : first + " x " + word(division.along[1]);
}

Axes axes_of(const Division& division, Sharding sharding) {
  Axes axes = 0;
  for (std::size_t a = 0; a < kAxes; ++a) axes |= division.along[a] == sharding ? 1u << a : 0u;
  return axes;
}

Axes axes_gathered(const Division& needed, const MeshShape& shape) {
  return within(kAllAxes & ~axes_of(needed, Sharding::kBatch), shape);
}

Layout input_layout(const Operator& op, const Division& division) {
  Layout layout{};
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Sharding s = division.along[a];
    const bool columns = s == Sharding::kRow || (s == Sharding::kColumn && !op.has_weights());
    layout[a] = s == Sharding::kBatch ? Part::kSequences : columns ? Part::kColumns : Part::kWhole;
  }
  return layout;
}

Layout output_layout(const Operator&, const Division& division) {
  Layout layout{};
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Sharding s = division.along[a];
    layout[a] = s == Sharding::kBatch ? Part::kSequences : s == Sharding::kColumn ? Part::kColumns : Part::kWhole;
  }
  return layout;
}

std::vector<Division> valid_divisions(const Operator& op, const MeshShape& shape, double sequences) {
  constexpr std::array kAll = {Sharding::kReplicated, Sharding::kBatch, Sharding::kColumn, Sharding::kRow};
  std::vector<Division> valid;
  for (const Sharding first : kAll) {
    for (const Sharding second : kAll) {
      const Division division(first, second);
      const Axes divided = kAllAxes & ~axes_of(division, Sharding::kReplicated);
      if (within(divided, shape) != divided) continue;
      const int batch = span(axes_of(division, Sharding::kBatch), shape);
      const int columns = span(axes_of(division, Sharding::kColumn), shape);
      const int rows = span(axes_of(division, Sharding::kRow), shape);
      if (std::fmod(sequences, batch) != 0) continue;
      if (columns > 1 && (op.columns == 0 || op.columns % columns != 0)) continue;
      if (rows > 1 && (op.rows == 0 || op.rows % rows != 0)) continue;
      valid.push_back(division);
    }
  }
  return valid;
}

std::vector<CollectiveCall> forward_collectives(const Operator& op, const Division& division, const MeshShape& shape,
                                                double sequences, double element_bytes) {
  std::vector<CollectiveCall> calls;
  if (const Axes rows = within(axes_of(division, Sharding::kRow), shape)) {
    calls.push_back(
        all_reduce(Bytes{op.outputs * sequences * element_bytes}, rows, output_layout(op, division), shape));
  }
  // A softmax over a divided vocabulary needs each token's maximum, then the sum and the target's logit, over all GPUs
  // (Megatron-LM's vocabulary-parallel cross entropy); fp32.
  const Axes columns = within(axes_of(division, Sharding::kColumn), shape);
  if (op.kind == OperatorKind::kLoss && columns != 0) {
    for (const double bytes : {4.0, 8.0})
      calls.push_back(all_reduce(Bytes{bytes * op.tokens * sequences}, columns, output_layout(op, division), shape));
  }
  return calls;
}

std::vector<CollectiveCall> backward_collectives(const Operator& op, const Division& division, const MeshShape& shape,
                                                 double sequences, double element_bytes) {
  const Axes columns = within(axes_of(division, Sharding::kColumn), shape);
  // An embedding has no gradient of its inputs.
  if (columns == 0 || !op.has_weights() || op.kind == OperatorKind::kEmbedding) return {};
  return {all_reduce(Bytes{op.inputs * sequences * element_bytes}, columns, input_layout(op, division), shape)};
}

std::vector<CollectiveCall> resharding(Bytes size, const Layout& from, const Layout& to, const MeshShape& shape) {
  std::vector<CollectiveCall> calls;
  Axes gathered = 0;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (shape[a] < 2 || from[a] == to[a] || from[a] == Part::kWhole) continue;
    const Axes axis = 1u << a;
    if (to[a] == Part::kWhole) {
      gathered |= axis;
    } else {
      const int parts = parts_outside(axis, to, shape);
      calls.push_back({Collective::kAllGather, size / static_cast<double>(parts), axis, true});
    }
  }
  // Cuts along other axes come first, so that less is gathered.
  if (gathered != 0) {
    const int parts = parts_outside(gathered, to, shape);
    calls.push_back({Collective::kAllGather, size / static_cast<double>(parts), gathered});
  }
  return calls;
}

Sharding tensor_sharding(const Operator& op) {
  if (op.columns == 0 || op.kind == OperatorKind::kResidual) return Sharding::kReplicated;
  const bool rows = op.role == Role::kEmbedding || op.role == Role::kProjection || op.role == Role::kMlpDown;
  return rows ? Sharding::kRow : Sharding::kColumn;
}

int weight_parts(const Division& division, const MeshShape& shape) {
  return span(axes_of(division, Sharding::kColumn) | axes_of(division, Sharding::kRow), shape);
}

bool same_table(Sharding embedding, Sharding head) {
  // The head is the table transposed: rows of the table (the vocabulary) are its columns.
  const auto crossed = [](Sharding s) {
    return s == Sharding::kColumn ? Sharding::kRow : s == Sharding::kRow ? Sharding::kColumn : Sharding::kReplicated;
  };
  const auto own = [](Sharding s) { return s == Sharding::kBatch ? Sharding::kReplicated : s; };
  return crossed(embedding) == own(head);
}

}  // namespace slmsim
