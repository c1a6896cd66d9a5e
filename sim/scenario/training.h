// The length and content of a training, in the terms of a scenario: sequences or tokens, epochs or one length.
#pragma once

#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Reads a scenario's `training`. Tokens are converted to sequences by the models' sequence length, which must be equal
// where tokens are stated. Techniques are not read.
Training read_training(Fields& fields, const std::vector<Transformer>& models, Reading& reading);

// Removes the statements of a scenario that `path` ("training.tokens") replaces when an override or an extending file
// states the job's length or the batch in another way.
void yield_to(Node& scenario, const std::string& path);

}  // namespace slmsim
