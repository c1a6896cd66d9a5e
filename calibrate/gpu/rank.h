// This process's rank from the launcher's environment: torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), Open
// MPI, MPICH and its relatives (Hydra), Slurm.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace slmsim::calibrate {

struct Rank {
  int rank = 0, world = 1;
  int local = 0;        // among the processes of its host
  std::string address;  // of rank 0's host
  int port = 0;         // where rank 0 listens for the others; 0: not given
};

// Looks a variable up: getenv, or a test's map.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// Nothing without a launcher. Throws UsageError where its values contradict each other, or MASTER_ADDR is missing and the ranks
// are not all on one host. The port is MASTER_PORT + 1, because torchrun itself listens on MASTER_PORT.
std::optional<Rank> rank_from(const Environment& environment);

// Sends rank 0's bytes to all others over TCP: each other rank connects to rank 0 (for up to `patience` seconds, because ranks
// start at different times). `bytes` has the same length everywhere. Throws UsageError.
void share_from_first(const Rank& rank, std::string& bytes, double patience);

}  // namespace slmsim::calibrate
