// Speed of a GPU on a model, for splitting work among unequal GPUs; deep models are represented by few layers.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Representation of deep models by their first and last layers: all layers between are equal and are evaluated once.
struct FewLayers {
  Transformer model;              // with at most kLayersApart of the layers
  OperatorGraph operators;        // of that model
  std::vector<std::size_t> like;  // for each operator of the whole model, the equal one in `operators`
};

inline constexpr int kLayersApart = 8;

// `operators`: all operators of the model.
FewLayers few_layers(const Transformer& model, const OperatorGraph& operators);

// Forward and backward time through undivided operators, by the roofline: of each operator of the whole model, and in
// total.
std::vector<Seconds> operator_times(const FewLayers& layers, const Gpu& gpu, const Scenario& scenario);
Seconds time_of_sequence(const FewLayers& layers, const Gpu& gpu, const Scenario& scenario);

// The distinct GPUs of these devices.
std::vector<Gpu> different_gpus(const Platform& platform, const std::vector<int>& devices);

}  // namespace slmsim
