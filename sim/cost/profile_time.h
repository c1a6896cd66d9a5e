// A kernel's time on a GPU with a measured profile.
//
// Times are put in proportion to what the data sheet promises, max(FLOPs / peak, bytes / bandwidth) + launch. This
// ratio (1.3: a third slower than the data sheet) varies far less than the times, and is what is interpolated: its
// logarithm, over the logarithms of the kernel's sizes, by a linear fit weighted by 1 / distance^4 (moving least
// squares), which goes through every measured point. Where the next measured point is farther than a factor of four,
// summed over the sizes, the roofline takes the place of interpolation, scaled by the median ratio of the kernel's
// points, or where it was not measured at all of those of its class (products; others) in this precision.
#pragma once

#include <vector>

#include "sim/cost/kernel.h"
#include "sim/cost/roofline.h"

namespace slmsim {

struct ProfileTime {
  Seconds time;
  TimeBasis basis;
};

// `gpu` has a profile. A kernel without a name is one that nobody times: its roofline at the data sheet's rates, with
// the launch, is then `roofline`, and is scaled.
ProfileTime profile_time(const Gpu& gpu, Precision precision, const KernelShape& kernel, Seconds roofline = {});

// What the data sheet promises for a kernel, by the bytes that slmsim-calibrate's kernels move.
Seconds ideal_time(const Gpu& gpu, Precision precision, const KernelShape& kernel);

// The data sheet's rate, the fp32 rate where the GPU lacks the precision.
FlopsPerSecond peak_of(const Gpu& gpu, Precision precision);

}  // namespace slmsim
