// Copies between host and GPU, on the GPU, and between GPUs.
#pragma once

#include <vector>

#include "calibrate/cuda/device.h"
#include "calibrate/gpu/runner.h"

namespace slmsim::calibrate {

// Host to device and back from pinned and pageable memory, and device to device: 4 kB to 1 GB.
std::vector<Unit> copy_units(const Device& device, const Rules& rules);
// From this GPU to each other GPU of the host, directly where the hardware allows it; nothing with one GPU.
std::vector<Unit> peer_units(const Device& device, const Rules& rules);
// An empty kernel: in a row of launches, waited for, and in a CUDA graph of many; and the host's own time for a launch (filling
// at most a driver queue, of about 1000) and for a graph's.
std::vector<Unit> launch_units(const Device& device, const Rules& rules);

}  // namespace slmsim::calibrate
