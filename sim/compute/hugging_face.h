// Checks of a Hugging Face config.json for features that cannot be modelled.
//
// Enters: the config as read so far. Leaves: one error per unsupported feature.
#pragma once

#include "sim/base/fields.h"
#include "sim/compute/transformer.h"

namespace slmsim {

// Refuses mixtures of experts, encoders and the like, by model_type or by keys that indicate them.
void refuse_unmodelled(const Node& config, Fields& fields);

// Refuses windows shorter than the training sequence, and layers of another structure.
void read_hugging_face(const Node& config, const FamilyRow& row, const Transformer& model, Fields& fields);

}  // namespace slmsim
