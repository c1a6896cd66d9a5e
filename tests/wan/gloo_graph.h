// Gloo's collectives on the simulator: the task graph of what each rank sends and waits for.
//
// Enters: a case and what the path and the machine's loopback are like. Leaves: when the ranks end, and when the bytes
// had crossed the wide-area path. All-reduce and all-gather are sim/graph's Ring with Gloo's rules; reduce-scatter by
// halving and doubling and the send are written here. The costs of Gloo's protocol follow from its sources
// (commit 5b14351, the version that Debian packs): a send of an "unbound" buffer waits for the receiver's word that it
// waits for it (tcp/pair.cc); one of a "bound" buffer (reduce_scatter.h) does not, but fixes the socket's send buffer.
#pragma once

#include <array>
#include <vector>

#include "sim/base/unit.h"
#include "tests/wan/collective_table.h"

namespace slmsim::wan {

// Between two processes of a host.
struct Loopback {
  Seconds latency;
  BytesPerSecond rate;
};

// From the rows of `localsend`, which must be there: four bytes take a word and a message, the largest size the rate.
Loopback loopback_of(const std::vector<CollectiveRow>& rows);

// A cold row's first run, or a warm one's second; seconds from that run's start.
struct Prediction {
  double seconds = 0, first_rank = 0;
  std::array<double, kShares.size()> forward{}, backward{};
};

Prediction predict(const CollectiveRow& row, const Loopback& loopback);

}  // namespace slmsim::wan
