// The part of a collective that runs in a rank's process: Gloo.
//
// Enters: what to run, as which rank, and a folder through which the ranks find each other. Leaves: the runs' ends, in
// memory that all ranks share.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/wan/collective_table.h"

namespace slmsim::wan {

inline constexpr int kMostRanks = 16;
inline constexpr int kRuns = 2;  // on new connections, and again

// Shared by all ranks' processes and the one that started them.
struct Meeting {
  std::atomic<int> arrived[kRuns + 1];     // at the start of each run; the last: whoever started them is ready
  std::atomic<std::int64_t> start[kRuns];  // ns, CLOCK_MONOTONIC
  std::atomic<std::int64_t> finish[kRuns][kMostRanks];
  std::atomic<bool> failed;
  char reason[256];
};

// ns, CLOCK_MONOTONIC.
std::int64_t now_ns();

// Does what rank `rank` does. Throws std::runtime_error.
void run_rank(const CollectiveCase& what, int rank, const std::string& address, const std::string& folder,
              Meeting& meeting);

}  // namespace slmsim::wan
