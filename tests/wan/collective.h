// One of Gloo's collectives over an emulated wide-area path: every rank a process in one of two hosts.
//
// Enters: a case. Leaves: how long it took on new connections and again on the same ones, by a clock that all ranks
// share; every rank's result is checked. Needs libgloo, Linux, root and /dev/net/tun.
#pragma once

#include <cstdint>
#include <utility>

#include "tests/wan/collective_table.h"

namespace slmsim::wan {

struct ColdAndWarm {
  CollectiveSample cold, warm;
  double path_rtt = 0;  // s, least that a ping of one byte took
};

// Throws std::runtime_error with a rank's reason if one failed or its result was wrong.
ColdAndWarm collective(const CollectiveCase& what, std::uint64_t seed);

}  // namespace slmsim::wan
