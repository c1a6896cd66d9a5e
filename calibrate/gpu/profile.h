// The result: a GPU's profile (YAML, schema slmsim/gpu-profile/1), for use in a file of platforms/gpus.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibrate/gpu/kernel.h"
#include "calibrate/gpu/loop.h"

namespace slmsim::calibrate {

// One line each; the measured value is the time of one launch in a row of launches.
std::string kernel_line(const Kernel& kernel, const Measurement& measured, double error);
// `kind`: host-to-device, device-to-host, device-to-device, peer-to-peer; `memory`: pinned, pageable, device.
std::string transfer_line(const std::string& kind, const std::string& memory, double bytes,
                          const Measurement& measured);
std::string launch_line(const std::string& kind, const Measurement& measured);

struct Profile {
  std::string name, date, command;
  std::vector<std::pair<std::string, std::string>> facts;  // key and value: the GPU, driver, libraries, clocks
  std::vector<std::string> kernels, transfers, launches, collectives;  // lines
  std::vector<std::string> left_out;                                   // sentences
};

std::string to_yaml(const Profile& profile);

}  // namespace slmsim::calibrate
