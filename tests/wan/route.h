// The simulator's route for an emulated path: what a user would state of the conditions, nothing fitted.
//
// Enters: a Case and the round trip that a ping measured. Leaves: a Route over link 0, and the share of the path's rate
// that payload gets.
#pragma once

#include "sim/platform/network.h"
#include "tests/wan/transfer.h"

namespace slmsim::wan {

Route route_of(const Case& what, double round_trip);  // s

double payload_share(int mtu);
// Where as much goes back, acknowledgements share the path with the payload.
double payload_share_both_ways(int mtu);

}  // namespace slmsim::wan
