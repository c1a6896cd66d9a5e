// What an iteration of many micro-batches takes, told by some of few.
//
// Once a pipeline runs full, or at once where there is none, each further micro-batch does what the one before it did, only
// later, so the time of an iteration is linear in their number. That it has come so far is not taken on trust: with a stage that
// is a little slower than another one it takes long. Iterations of m and m + 1 micro-batches are simulated, m twice the
// pipeline's depth and more. Where every task of the second, but those of the first micro-batches, begins and ends as its
// like did in the first, by one and the same time later, so does all that follows. With chunks (interleaved pipelines) by
// rounds of as many micro-batches as there are stages.
//
// TCP's windows are why it may not: one that a connection finds after a pause hangs on how long that was. So every connection
// with a window must be used by each of the micro-batches, and none may lose segments; and iterations before the steady one,
// whose windows still grow, must take longer by the same with m + 2.
#pragma once

#include <optional>

#include "sim/lower/lower.h"
#include "sim/predict/iterations.h"
#include "sim/predict/measure.h"

namespace slmsim {

// Of an iteration, or of a round of steps.
struct Iteration {
  IterationTimes times;
  Breakdown parts;
  std::optional<TimeBasis> basis;
};

// nullopt where so few micro-batches say no less work, or do not say it.
std::optional<Iteration> simulate_repeating(const LowerRequest& request);

}  // namespace slmsim
