// A kernel's time on a GPU with a measured profile.
//
// The ratio of a time to what the data sheet promises (sim/platform/kernel_table.h) is what is interpolated: its
// logarithm, over the logarithms of the kernel's sizes, by a linear fit weighted by 1 / distance^4 (moving least squares,
// Lancaster and Salkauskas, Math. Comp. 37 (1981)), which goes through every measured point. Where the next measured
// point is farther than a factor of four, summed over the sizes, the roofline takes the place of interpolation, scaled
// by KernelTable::usual_ratio.
#pragma once

#include "sim/cost/kernel.h"
#include "sim/cost/roofline.h"
#include "sim/platform/kernel_table.h"

namespace slmsim {

struct ProfileTime {
  Seconds time;
  TimeBasis basis;
};

// `gpu` has a table that knows the kernel's class.
ProfileTime profile_time(const Gpu& gpu, Precision asked, const KernelShape& kernel);

}  // namespace slmsim
