// A kernel's time on a GPU with a measured profile.
//
// The ratio of a time to the data sheet's (sim/platform/kernel_table.h) is interpolated: its logarithm, over the
// logarithms of the kernel's sizes, by a linear fit weighted by 1 / distance^4 (moving least squares, Lancaster and
// Salkauskas, Math. Comp. 37 (1981)), which passes through every measured point. Where the nearest measured point is
// farther than a factor of four, summed over the sizes, the roofline replaces interpolation, scaled by
// KernelTable::usual_ratio. Products are interpolated among those with the same row alignment (sim/compute/product.h).
#pragma once

#include <array>
#include <limits>
#include <optional>

#include "sim/compute/kernel.h"
#include "sim/compute/roofline.h"
#include "sim/platform/kernel_table.h"

namespace slmsim {

// The ratio at one set of sizes, from samples added one by one. Thinning a profile adds the kept samples only.
class RatioFit {
 public:
  explicit RatioFit(const KernelSizes& target) : target_(target) {}
  void add(const KernelSample& sample);
  // The logarithm of the ratio; nothing where no sample was near enough.
  std::optional<double> ratio() const;

 private:
  KernelSizes target_;
  // Sums over the samples for the normal equations of a constant and four slopes.
  std::array<double, 25> squares_{};
  std::array<double, 5> products_{};
  double nearest_ = std::numeric_limits<double>::infinity();
};

struct ProfileTime {
  Seconds time;
  TimeBasis basis;
};

// Slowdown of a product by the alignment of its rows; 1 for other kernels. Products of equal cost are interpolated
// among each other.
double alignment_cost(const Gpu& gpu, Precision precision, const KernelShape& kernel);

// Whether the GPU's profile holds times of this kernel in this precision.
bool was_timed(const Gpu& gpu, Precision precision, const std::string& kernel);

// Requires that the GPU's table knows the kernel's class.
ProfileTime profile_time(const Gpu& gpu, Precision asked, const KernelShape& kernel);

}  // namespace slmsim
