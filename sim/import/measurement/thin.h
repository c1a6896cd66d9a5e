// Thins a profile where the remaining points give the others by interpolation: a profile's reader has a limit, and every
// prediction searches the points.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/measurement/gather.h"
#include "sim/platform/kernel_table.h"

namespace slmsim {

// Samples of one kernel to keep, so that the others are interpolated from these within `tolerance` (0.02: 2 %); nothing where
// that takes more than `most`. Greedy: the worst predicted are kept until none is worse.
std::optional<std::vector<bool>> samples_to_keep(const std::vector<KernelSample>& samples, double tolerance,
                                                 std::size_t most);

// A set of samples such that every other sample is within `apart` of one of them: the sum over the sizes of |log|.
std::vector<bool> samples_apart(const std::vector<KernelSample>& samples, double apart);

// Thins a profile's kernels to at most `most` points, within 2 % where that is enough, else within the smallest sufficient
// tolerance up to 50 %. Times that scatter more than that are kept evenly over the sizes instead, because the worst predicted
// ones would be the wrong ones. A remark reports which, and the error of the points left out. Uses this GPU's data sheet,
// because the ratio to it is interpolated.
void thin_kernels(ImportedProfile& profile, const Gpu& gpu, std::size_t most);

// Thins collectives with more than `most` samples: keeps the smallest, the one of the greatest rate, and one size for each
// doubling. Predictions use the first two.
void thin_collectives(ImportedProfile& profile, std::size_t most);

}  // namespace slmsim
