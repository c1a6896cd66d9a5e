#include "sim/technique/common/variation.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostGpusOneByOne = 8;

}  // namespace

std::vector<int> counts_to_try(const Platform& platform) {
  const bool small = platform.devices.size() <= kMostGpusOneByOne;
  std::vector<int> out;
  for (int n = 1; n <= static_cast<int>(platform.devices.size()); n = small ? n + 1 : 2 * n) out.push_back(n);
  return out;
}

std::vector<int> yes_or_no(bool both) { return both ? std::vector{0, 1} : std::vector{0}; }

}  // namespace slmsim
