// One iteration as a Chrome trace (JSON of the "Trace Event Format"), for chrome://tracing and
// ui.perfetto.dev.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/platform/platform.h"

namespace slmsim {

// What happened in one iteration. `timeline` with recorded flows shows the links as well.
struct TracedIteration {
  const TaskGraph& graph;
  const Timeline& timeline;
  const Platform& platform;
  std::string title;         // "gpt2m: Data on gat"
  std::string assumed = {};  // what it rests on, in one line
};

// One track per GPU stream, one per connection, one for each thing that a GPU's process does with its host and its drives,
// and one counter per link; times in microseconds, to the nanosecond. An event's category is its TaskClass. Transfers of
// one connection run one after the other, so that a track's events do not overlap; a transfer ends here when its last byte
// leaves. Arrows lead from a computation to the transfer of its result and from a transfer to the computation that waited
// for it, also where another GPU's result had to be there too: then from what came last. A link whose rate changes often is shown by averages over short, equal times. The track "iteration"
// is as long as the iteration.
std::string to_trace(const TracedIteration& traced);

// A label as people say it: "fwd mb2 L3" reads "fwd L3 mb2".
std::string task_name(const std::string& label);

}  // namespace slmsim
