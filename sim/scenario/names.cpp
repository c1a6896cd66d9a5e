#include "sim/scenario/names.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace slmsim {
namespace {

constexpr std::size_t kLeastInRange = 5;

// "node" and 12 for "node12"; nothing where the text does not end in a number in fmt's notation.
struct NumberedName {
  std::string stem;
  long number = 0;
};

std::optional<NumberedName> numbered(const std::string& name) {
  const auto digits = name.find_last_not_of("0123456789") + 1;
  NumberedName out{name.substr(0, digits), 0};
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + digits, end, out.number);
  if (read.ec != std::errc() || fmt::format("{}{}", out.stem, out.number) != name) return std::nullopt;
  return out;
}

}  // namespace

std::vector<std::string> in_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (std::size_t first = 0; first < names.size();) {
    std::size_t end = first + 1;
    if (const auto from = numbered(names[first])) {
      while (end < names.size() &&
             names[end] == fmt::format("{}{}", from->stem, from->number + static_cast<long>(end - first)))
        ++end;
    }
    if (end - first >= kLeastInRange) {
      out.push_back(fmt::format("{}..{}", names[first], names[end - 1]));
    } else {
      out.insert(out.end(), names.begin() + static_cast<std::ptrdiff_t>(first),
                 names.begin() + static_cast<std::ptrdiff_t>(end));
    }
    first = end;
  }
  return out;
}

std::vector<std::string> names_of_gpus(const Platform& platform, const std::vector<int>& devices) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < devices.size();) {
    const Device& device = platform.devices[devices[at]];
    const Vm& vm = platform.vms[device.vm];
    std::size_t own = 0;
    while (own < static_cast<std::size_t>(vm.device_count) && at + own < devices.size() &&
           devices[at + own] == vm.first_device + static_cast<int>(own))
      ++own;
    const bool whole = own == static_cast<std::size_t>(vm.device_count);
    names.push_back(whole ? vm.name : device.name);
    at += whole ? own : 1;
  }
  return in_ranges(names);
}

}  // namespace slmsim
