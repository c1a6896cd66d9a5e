// Unknowns of a study, as its protocol writes them down.
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

}  // namespace slmsim
