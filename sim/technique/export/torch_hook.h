// Compression of gradients as a communication hook of PyTorch's DistributedDataParallel (register_comm_hook). What PyTorch
// has of its own is registered; of sums by shares and of the largest gradients a hook is written.
#pragma once

#include <string>

#include "sim/cost/compression.h"

namespace slmsim {

struct Hook {
  std::string lines;  // that register it with `model`; empty: none
  std::string file;   // compress.py, where it has to be written
};
Hook hook_of_torch(const Compression& compression, int warm_up);

}  // namespace slmsim
