// Unknowns with priors of the kinds that docs/fit.md tells, and those that scenarios of any cluster have.
#pragma once

#include "sim/fit/unknown.h"

namespace slmsim {

// How a value is written: a plain number, or a quantity with its unit.
ValueType number_type(double low, double high);
ValueType quantity_type(Dimension dimension);

// As likely everywhere from low to high (base units), by factors; the values at all these paths are one.
Unknown by_factors(std::vector<std::string> paths, double low, double high, const ValueType& type, const char* source);
// Each word as likely.
Unknown one_of(std::vector<std::string> paths, std::vector<std::string> words, const char* source);

// What a wide-area path loses of which nobody said that it loses anything: mostly nothing.
Unknown path_loss(std::string path);
// Buffers of hosts' sockets (tcp_rmem and tcp_wmem, both alike) at which nobody looked: mostly `usual`, in bytes.
Unknown socket_buffers(std::vector<std::string> paths, double usual);

}  // namespace slmsim
