// Unknowns with the kinds of priors in docs/fit.md, and those common to scenarios of any cluster.
#pragma once

#include "sim/fit/unknown.h"

namespace slmsim {

// Format of a value: a plain number, or a quantity with its unit.
ValueType number_type(double low, double high);
ValueType quantity_type(Dimension dimension);

// Log-uniform from low to high (base units); the values at all these paths are one.
Unknown by_factors(std::vector<std::string> paths, double low, double high, const ValueType& type, const char* source);
// All words are equally likely.
Unknown one_of(std::vector<std::string> paths, std::vector<std::string> words, const char* source);

// Loss rate of a wide-area path without a stated one: mostly zero.
Unknown path_loss(std::string path);
// Socket buffers of hosts (tcp_rmem and tcp_wmem, both alike) without a stated size: mostly `usual`, in bytes.
Unknown socket_buffers(std::vector<std::string> paths, double usual);

}  // namespace slmsim
