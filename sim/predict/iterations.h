// A job's time from a few simulated iterations.
//
// Iterations are equal but for the state in which they find their connections: the first one meets new
// connections, a later one meets what its predecessor left. An iteration is a function of that state, so as
// soon as a state comes back, all further iterations are known. On paths that lose segments no state comes back: once
// every connection that will meet a loss has met one, iterations are simulated until their mean settles within 1/2 % (at
// once where two agree within 1/2 % and no transfers meet), at most 12. A connection that carries too little to lose a
// segment in so many is not waited for.
//
// Where no state came back, iterations go on to differ, by where losses fall or by how connections that share a link happen to
// meet, and nobody knows those to come: `spread` tells how far. Where one came back and transfers share links, it tells what the
// last digit of a figure may do to the order in which they meet.
#pragma once

#include <vector>

#include "sim/engine/simulate.h"

namespace slmsim {

struct SameTimes;

struct IterationTimes {
  std::vector<Seconds> times;   // of iterations 1, 2, ... as simulated
  std::size_t cycle_start = 0;  // after times.size() iterations those from this index on repeat
  bool repeats = false;         // a state came back; else those from cycle_start on stand for all further ones
  // Relative: how far the mean of any other iterations may be from steady(). Half a percent, to which means are taken to have
  // settled, or as much as any of the iterations that it is the mean of, or, where a state came back and transfers meet, as any
  // from the first on that turned up or down; 0 where a state came back and no transfers meet.
  double spread = 0;
  Timeline last;                             // of the last one simulated
  std::vector<ConnectionState> before_last;  // how it found its connections: simulate() with it gives `last` again

  Seconds first() const { return times.front(); }
  Seconds steady() const;             // mean over the cycle
  Seconds total(double count) const;  // of the first `count` iterations
};

// Whether any connection does.
bool loses_segments(const TaskGraph& graph);

// `known`: as InOrder has it.
IterationTimes simulate_iterations(const TaskGraph& graph, const SimulationOptions& options = {},
                                   SameTimes* known = nullptr);

}  // namespace slmsim
