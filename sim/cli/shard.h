// --shard i/n: a part of a sweep or of a search, for machines without a connection to each other.
#pragma once

#include <string>

#include "sim/crew/journal.h"

namespace slmsim {

// "2/8"; an empty text is the whole. Throws InputError.
Shard parse_shard(const std::string& text);

}  // namespace slmsim
