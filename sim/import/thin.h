// Fewer points where interpolation from the others gives their times: a profile's reader has a limit, and every
// prediction walks through the points.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/gather.h"
#include "sim/platform/kernel_table.h"

namespace slmsim {

// Which samples of one kernel to keep, so that the others are interpolated from these within `tolerance` (0.02: 2 %);
// nothing where that takes more than `most`. Greedy: the worst predicted are kept until none is worse.
std::optional<std::vector<bool>> samples_to_keep(const std::vector<KernelSample>& samples, double tolerance,
                                                 std::size_t most);

// So many samples that every other is no farther than `apart` from one of them, the sum over the sizes of |log|.
std::vector<bool> samples_apart(const std::vector<KernelSample>& samples, double apart);

// Thins a profile's kernels to at most `most` points, within 2 % where that is enough, else within the least of some
// wider tolerances up to 50 %. Times that scatter more than that are kept evenly over the sizes instead: the worst
// predicted would be those that are wrong themselves. A remark says which, and the error of the points left out. By
// this GPU's data sheet, since what is interpolated is the ratio to it.
void thin_kernels(ImportedProfile& profile, const Gpu& gpu, std::size_t most);

// Of collectives of which there are more than `most`: the smallest, the one of the greatest rate, and one size for each
// doubling. Predictions use the first two.
void thin_collectives(ImportedProfile& profile, std::size_t most);

}  // namespace slmsim
