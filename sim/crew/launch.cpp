#include "sim/crew/launch.h"

#include <cstdlib>
#include <utility>

namespace slmsim {

Launch launch_of_environment() {
  // Open MPI; MPICH and Slurm's PMI.
  for (const auto& [size, rank] :
       {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}}) {
    const char *ranks = std::getenv(size), *mine = std::getenv(rank);
    if (ranks && mine) return {std::atoi(ranks), std::atoi(mine)};
  }
  return {};
}

}  // namespace slmsim
