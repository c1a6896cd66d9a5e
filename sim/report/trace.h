// One iteration as a Chrome trace (JSON of the "Trace Event Format"), for chrome://tracing and
// ui.perfetto.dev.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/platform/platform.h"
#include "sim/predict/result.h"

namespace slmsim {

// One iteration. A `timeline` with recorded flows shows the links as well.
struct TracedIteration {
  const TaskGraph& graph;
  const Timeline& timeline;
  const Platform& platform;
  std::string title;         // "gpt2m: Data on gat"
  std::string assumed = {};  // unmeasured inputs, in one line
};

// One track per GPU stream, one per connection, one for each kind of work between a GPU's process, its host and its drives, and
// one counter per link; times in microseconds, to the nanosecond. An event's category is its TaskClass. Transfers of one
// connection run one after the other, so a track's events do not overlap; a transfer ends here when its last byte leaves.
// Arrows lead from a computation to the transfer of its result, and from a transfer to the computation that waited for it;
// where that also waited for another GPU's result, from the later one. A link whose rate changes often is shown by averages
// over short, equal times. The track "iteration" is as long as the iteration.
std::string to_trace(const TracedIteration& traced);

// A label in reading order: "fwd mb2 L3" becomes "fwd L3 mb2".
std::string task_name(const std::string& label);

// The pick for the first model, or the first that runs where there is none; nothing where nothing runs.
const Prediction* to_be_traced(const RunResult& result);

// As a Chrome/Perfetto trace; `prediction` must run and be one of the result's.
std::string trace_of(const RunResult& result, const Prediction& prediction);

}  // namespace slmsim
