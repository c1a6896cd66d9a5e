// How fast a GPU is at a model, for splitting work among unequal ones.
#pragma once

#include <vector>

#include "sim/cost/roofline.h"
#include "sim/planner/few_layers.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Forward and backward through undivided operators, by the roofline: of each of the whole model's, and of all of them.
std::vector<Seconds> operator_times(const FewLayers& layers, const Gpu& gpu, const Scenario& scenario);
Seconds time_of_sequence(const FewLayers& layers, const Gpu& gpu, const Scenario& scenario);

// Of those devices, each GPU that differs from the others once.
std::vector<Gpu> different_gpus(const Platform& platform, const std::vector<int>& devices);

}  // namespace slmsim
