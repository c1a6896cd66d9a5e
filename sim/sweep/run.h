// Runs a sweep: workers predict points, a journal keeps their rows, and the result is written from the journal.
#pragma once

#include <functional>
#include <string>

#include "sim/sweep/result.h"
#include "sim/sweep/sweep.h"

namespace slmsim {

struct SweepOptions {
  std::filesystem::path output;  // FILE or FILE.csv
  std::size_t jobs = 1;          // worker processes
  Shard shard;
  bool restart = false;
  std::string version;  // the program's
  // Called as points arrive: points done, their total, and those left by an earlier run.
  std::function<void(std::uint64_t done, std::uint64_t all, std::uint64_t before)> progress;
  std::function<bool()> stop;  // called now and then
};

struct SweepOutcome {
  bool complete = false;  // false: stopped; the journal stays
  std::uint64_t done = 0, all = 0;
  ResultFiles files;
  StatusCounts rows;  // of a complete sweep that is not a part
};

// With `ranks`, this process is one of several that an MPI launcher started: rank 0 distributes points and writes, the others
// predict; their outcome is empty. Throws InputError where files cannot be written or belong to another sweep.
SweepOutcome run_sweep(Sweep& sweep, const SweepOptions& options);

}  // namespace slmsim
