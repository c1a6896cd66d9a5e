// What only a Hugging Face config.json says: what of it cannot be modelled.
//
// Enters: the config as it was read so far. Leaves: errors, one for each thing that this program has no model of.
#pragma once

#include "sim/base/fields.h"
#include "sim/model/transformer.h"

namespace slmsim {

// Mixtures of experts, encoders and the like, by model_type or what else tells of them.
void refuse_unmodelled(const Node& config, Fields& fields);

// Windows that are shorter than the training sequence, and layers that are built in another way.
void read_hugging_face(const Node& config, const FamilyRow& row, const Transformer& model, Fields& fields);

}  // namespace slmsim
