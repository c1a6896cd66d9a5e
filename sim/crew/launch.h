// The MPI launcher's environment, read before MPI begins.
#pragma once

namespace slmsim {

// The number of ranks, 1 without a launcher, and this process's rank.
struct Launch {
  int ranks = 1, rank = 0;
};
Launch launch_of_environment();

}  // namespace slmsim
