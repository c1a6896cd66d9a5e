// What is trained and for how long, in the terms in which people state it: sequences or tokens, epochs or one length.
#pragma once

#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// Of a scenario's `training`. Tokens become sequences by the models' length of sequences, which must be one where tokens
// are stated. Reads no technique.
Training read_training(Fields& fields, const std::vector<Transformer>& models, Reading& reading);

// Takes out of a scenario what another statement of the same replaces: `path` ("training.tokens") is laid upon it by an
// override or by a file that extends it, and states the job's length or the batch in another way.
void yield_to(Node& scenario, const std::string& path);

}  // namespace slmsim
