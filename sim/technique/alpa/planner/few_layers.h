// Representation of deep models by their first and last layers: all layers between are equal and are evaluated once.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/compute/operator_graph.h"

namespace slmsim {

struct FewLayers {
  Transformer model;              // with at most kLayersApart of the layers
  OperatorGraph operators;        // of that model
  std::vector<std::size_t> like;  // for each operator of the whole model, the equal one in `operators`
};

inline constexpr int kLayersApart = 8;

// `operators`: all operators of the model.
FewLayers few_layers(const Transformer& model, const OperatorGraph& operators);

}  // namespace slmsim
