#include "sim/import/plausible.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/platform/kernel_table.h"

namespace slmsim {
namespace {

// Only kernels for which the data sheet gives more than this: others are bound by launches, or by caches.
constexpr Seconds kLong{20e-6};
// GPUs that clock above the data sheet reach 1.04 of it; nothing measured so far was a hundred times slower.
constexpr double kFastest = 0.4, kSlowest = 100;

}  // namespace

void check_plausible(const ImportedProfile& profile, const Gpu& gpu) {
  std::vector<double> ratios;
  for (const auto& [name, by_precision] : profile.points.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      for (const auto& point : by_precision[p]) {
        const Seconds ideal =
            ideal_time(gpu, static_cast<Precision>(p), {name, point.batch, point.m, point.n, point.k}, {});
        if (ideal > kLong) ratios.push_back(point.time / ideal);
      }
    }
  }
  if (ratios.empty()) return;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  if (*middle >= kFastest && *middle <= kSlowest) return;
  const bool fast = *middle < kFastest;
  throw InputError({},
                   fmt::format("the kernels take {:.3g} times the data sheet's time of {} on the median, which is {}; "
                               "check the GPU, the precision, and that times are in the unit that the format says",
                               *middle, gpu.name, fast ? "faster than it can be" : "absurdly slow"));
}

}  // namespace slmsim
