// The profile's text (schema slmsim/gpu-profile/1), and a summary for the user.
#pragma once

#include <string>

#include "sim/import/measurement/gather.h"

namespace slmsim {

std::string to_yaml(const ImportedProfile& profile);
// One line for each file, and the remarks.
std::string to_summary(const ImportedProfile& profile);

}  // namespace slmsim
