// Runs a sweep: workers predict points, a journal keeps their rows, and what the journal holds becomes the result.
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
  std::string version;  // of the program
  // Called as points come in: how many are done, of how many, and how many of them an earlier run left.
  std::function<void(std::uint64_t done, std::uint64_t all, std::uint64_t before)> progress;
  std::function<bool()> stop;  // asked every now and then
};

struct SweepOutcome {
  bool complete = false;  // false: stopped; the journal stays
  std::uint64_t done = 0, all = 0;
  ResultFiles files;
  StatusCounts rows;  // of a complete sweep that is no part
};

// With `ranks`, this process is one of that many which an MPI launcher started: rank 0 gives out points and writes, the
// others predict; the outcome of those is empty. Throws InputError where files cannot be written or are not ours.
SweepOutcome run_sweep(Sweep& sweep, const SweepOptions& options);

}  // namespace slmsim
