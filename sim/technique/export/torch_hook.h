// Compression of gradients as a communication hook of PyTorch's DistributedDataParallel (register_comm_hook). PyTorch's
// own hooks are registered; for sums by shares and for the largest gradients a hook is generated.
#pragma once

#include <string>

#include "sim/compute/compression.h"

namespace slmsim {

struct Hook {
  std::string lines;  // register it with `model`; empty: none
  std::string file;   // compress.py, if it is generated
};
Hook hook_of_torch(const Compression& compression, int warm_up);

}  // namespace slmsim
