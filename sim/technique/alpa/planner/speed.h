// Speed of a GPU on a model, for splitting work among unequal GPUs.
#pragma once

#include <vector>

#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Forward and backward time through undivided operators, by the roofline: of each operator, and in total.
std::vector<Seconds> operator_times(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario);
Seconds time_of_sequence(const OperatorGraph& operators, const Gpu& gpu, const Scenario& scenario);

// The distinct GPUs of these devices.
std::vector<Gpu> different_gpus(const Platform& platform, const std::vector<int>& devices);

}  // namespace slmsim
