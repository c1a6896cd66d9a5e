// Finds the GPU of platforms/gpus for a name: as `slmsim list gpus` prints it, its title, the name in NVIDIA's driver ("Tesla
// T4", "NVIDIA A100-SXM4-40GB"), or FABRIC's ("GPU_TeslaT4").
#pragma once

#include <string>
#include <vector>

namespace slmsim {

// Empty where no GPU has this name.
std::string gpu_called(const std::string& text);

// All names, those of folders near the current one first.
const std::vector<std::string>& gpu_list();

// The full name: "NVIDIA GeForce RTX 3090"; empty where there is no such GPU.
std::string gpu_title(const std::string& name);

}  // namespace slmsim
