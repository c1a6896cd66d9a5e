// Deep models by their first and last layers: all those between them do the same, and are asked about once.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/model/operator_graph.h"

namespace slmsim {

struct FewLayers {
  Transformer model;              // with at most kLayersApart of the layers
  OperatorGraph operators;        // of that
  std::vector<std::size_t> like;  // for each operator of the whole model the one of `operators` that does the same
};

inline constexpr int kLayersApart = 8;

// `operators`: all of the model's.
FewLayers few_layers(const Transformer& model, const OperatorGraph& operators);

}  // namespace slmsim
