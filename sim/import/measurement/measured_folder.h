// A profile from the folder that calibrate/run_on_gpu.sh fills: gpu.yaml, as slmsim-calibrate writes it, attention from
// flash.csv and the host's speed from host.csv, both timed in PyTorch. The median of each time is kept, without its spread.
#pragma once

#include <filesystem>
#include <string>

namespace slmsim {

// The text of the profile. Throws InputError with all errors in both files.
std::string profile_of_folder(const std::filesystem::path& folder, const std::string& name, const std::string& command);

}  // namespace slmsim
