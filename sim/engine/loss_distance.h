// Where segments are lost: at random, each with the same probability, so that distances from loss to loss are exponential.
//
// Distances are the means of equal parts of that distribution, each once in every so many losses, in a random order: their sum
// is exact, and windows vary and connections wait for each other as with independent ones. Connections of one way between two
// sites lose together, those of different ways do not. Each run has the same distances.
#pragma once

#include "sim/platform/network.h"

namespace slmsim {

// Acknowledged bytes of a connection from its last loss to the next, after so many; infinite without loss. The first distance is
// half to one and a half of the mean: a path that loses hardly anything loses nothing in a few iterations.
double distance_to_loss(const TcpWindow& path, int losses);

}  // namespace slmsim
