// A verb that the ranks of an MPI job run together.
#pragma once

#include <functional>

#include "sim/base/error.h"
#include "sim/cli/command.h"
#include "sim/crew/launch.h"

namespace slmsim {

// Errors in files that all ranks read are printed by the first only.
inline int run_as_rank(const std::function<int(const Launch&)>& run) {
  const Launch launch = launch_of_environment();
  if (launch.rank == 0) return run(launch);
  try {
    return run(launch);
  } catch (const InputError&) {
    return kBadInput;
  }
}

}  // namespace slmsim
