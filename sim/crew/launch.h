// What an MPI launcher started: as its environment says, before MPI begins.
#pragma once

namespace slmsim {

// How many ranks there are, 1 without a launcher, and which of them this is.
struct Launch {
  int ranks = 1, rank = 0;
};
Launch launch_of_environment();

}  // namespace slmsim
