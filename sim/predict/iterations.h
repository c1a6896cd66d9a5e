// A job's time from a few simulated iterations.
//
// Iterations differ only in the state in which they find their connections: the first one meets new connections, a later one
// those that its predecessor left. An iteration is a function of that state, so once a state comes back, all further iterations
// are known. On paths that lose segments no state comes back: once every connection that will meet a loss has met some,
// iterations are simulated until each has met 24 more, at most 240. Those after the first are of the graph's contraction
// (sim/engine/contraction.h); of a graph that has none and more than 1000 tasks, at most 40 are unlike the one before. A
// connection that carries too little to lose a segment in these iterations, or a tenth of what another loses, is not waited for;
// where none loses, they end once their mean settles within 1/2 % (at once where two agree within 1/2 % and no transfers meet),
// at most 12.
//
// Where no state came back, iterations keep differing, by where losses fall or by how connections that share a link happen to
// meet; `spread` bounds the difference. Where a state came back and transfers share links, `spread` is the effect that the last
// digit of a figure may have on the order in which they meet.
#pragma once

#include <span>
#include <vector>

#include "sim/engine/simulate.h"

namespace slmsim {

struct IterationTimes {
  std::vector<Seconds> times;   // of iterations 1, 2, ..., simulated
  std::size_t cycle_start = 0;  // after times.size() iterations, those from this index on repeat
  bool repeats = false;         // a state came back; else the iterations from cycle_start on stand for all further ones
  // Relative: how far the mean of many other iterations may be from steady(). With losses twice the standard error of that mean,
  // at least half a percent; where a state came back and transfers meet, the distance of the farthest iteration from the first
  // turn up or down on; 0 where a state came back and no transfers meet.
  double spread = 0;
  // The last simulated iteration; on lossy paths the one nearest to steady(), with the last one's connections.
  Timeline last;
  std::vector<ConnectionState> before_last;  // state before `last`: simulate() with it gives `last` again

  Seconds first() const { return times.front(); }
  Seconds steady() const;             // mean over the cycle
  Seconds total(double count) const;  // of the first `count` iterations
};

// Twice the standard error of the mean of these times, relative to that mean: by means of kPartsOfMean parts of them, since
// iterations after a loss are like each other (batch means; Law, Simulation Modeling and Analysis, section 9.5).
double error_of_mean(std::span<const Seconds> times);
inline constexpr std::size_t kPartsOfMean = 8;

// Expected losses of each connection in an iteration.
std::vector<double> losses_of_connections(const TaskGraph& graph);
// Whether any connection loses segments.
bool loses_segments(const TaskGraph& graph);

IterationTimes simulate_iterations(const TaskGraph& graph, const SimulationOptions& options = {});

}  // namespace slmsim
