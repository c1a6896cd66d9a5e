// Names of enumerators.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace slmsim {

// Name of an enumerator in a table that has one name for each, in their order.
template <class Enum>
requires std::is_enum_v<Enum>
const std::string& name_in(const std::vector<std::string>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace slmsim
