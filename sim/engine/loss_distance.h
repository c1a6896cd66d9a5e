// Where segments are lost: at random, each with the same probability, so that distances from loss to loss are exponential.
//
// Each block of 16 distances holds the means of 16 equal parts of that distribution, in random order: the sum of a block is
// exact, and windows vary and connections wait for each other as with independent distances. Connections from one site to
// another lose together, those of other pairs of sites do not. Each run has the same distances.
#pragma once

#include "sim/platform/network.h"

namespace slmsim {

// Bytes that a connection acknowledges between its loss number `losses` (0: its opening) and the next; infinite without loss. The
// first distance is half to one and a half of the mean: a path that loses hardly anything loses nothing in a few iterations.
double distance_to_loss(const TcpWindow& path, int losses);

}  // namespace slmsim
