// An iteration of many micro-batches, extrapolated from a few: times, breakdown, and use of links.
//
// Once a pipeline runs full (at once where there is none), each further micro-batch repeats the one before it, only later, so
// the time of an iteration is linear in their number. This is checked, because filling takes long where one stage is slightly
// slower than another. Iterations of m and m + 1 micro-batches are simulated, with m at least twice the pipeline's depth. Where
// every task of the second, except those of the first micro-batches, begins and ends later than its counterpart in the first by
// one and the same time, so does everything that follows. With chunks (interleaved pipelines), rounds of one micro-batch per
// stage take the place of micro-batches.
//
// TCP's windows can break this: the window that a connection finds after a pause depends on the length of the pause. So each
// micro-batch must use every connection with a window, no connection may lose segments, and in iterations before the steady one,
// whose windows still grow, a further micro-batch must take as long as in the steady one, also with m + 2. Where connections lose
// segments in each micro-batch, these are alike in their mean only: the first ones of a first iteration lead to it, and the
// next ones give it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/predict/iterations.h"
#include "sim/predict/measure.h"
#include "sim/technique/common/lower.h"

namespace slmsim {

// The first few of an iteration's micro-batches. Two such samples, one a round longer than the other, show what a round adds.
struct FewBatches {
  Lowered lowered;
  // Tasks of each device's stream, of each host and of each connection, in their order.
  std::vector<std::vector<TaskId>> lines;

  const TaskGraph& graph() const { return lowered.graph; }
  std::size_t devices() const { return static_cast<std::size_t>(graph().device_count()); }
  std::optional<std::size_t> line_of(TaskId id) const;
  std::span<const std::vector<TaskId>> streams() const { return {lines.data(), devices()}; }
  std::span<const std::vector<TaskId>> connections() const { return std::span(lines).subspan(2 * devices()); }
};

// Equal GPUs are merged, as in the sample before. `micro_batches`: a multiple of micro_batch_round.
FewBatches sample(const LowerRequest& request, int micro_batches, Colouring& alike);

// Number of first micro-batches that may differ from the later ones.
inline constexpr int kFirstOnes = 3;

// An iteration, or a round of steps.
struct Iteration {
  IterationTimes times;
  Breakdown parts;
  std::optional<TimeBasis> basis;
  TrafficUse traffic;  // where requested
};

// nullopt where fewer micro-batches save no work or do not repeat. `alike`: as for lower_alike. `links`: measure link use too.
// Adds the GPUs whose passages do not hold (passages.h) to `apart`.
std::optional<Iteration> simulate_repeating(const LowerRequest& request, Colouring& alike, bool links = false,
                                            std::set<int>* apart = nullptr);

}  // namespace slmsim
