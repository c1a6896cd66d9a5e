// Changes that a user could make to speed up a technique, as overrides of the scenario.
#pragma once

#include <vector>

#include "sim/predict/predict.h"

namespace slmsim {

// For a prediction that runs: kernel settings of its VMs, NCCL's settings, a compiler or flash attention where the stack has
// them, the number of micro-batches.
std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group);

// The group with its VMs in another order, which rings and pipelines follow: every order of up to four VMs; for more, the
// reverse and each swap of two neighbours.
std::vector<Group> other_orders(const Platform& platform, const Group& group);

}  // namespace slmsim
