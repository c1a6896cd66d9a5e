// Which GPU of platforms/gpus a name stands for: as `slmsim list gpus` prints it, as its title has it, as NVIDIA's driver calls it
// ("Tesla T4", "NVIDIA A100-SXM4-40GB"), or as FABRIC does ("GPU_TeslaT4").
#pragma once

#include <string>
#include <vector>

namespace slmsim {

// Empty where it is none.
std::string gpu_called(const std::string& text);

// All names, those of folders near the current one first.
const std::vector<std::string>& gpu_list();

// Its full name: "NVIDIA GeForce RTX 3090"; empty where there is no such GPU.
std::string gpu_title(const std::string& name);

}  // namespace slmsim
