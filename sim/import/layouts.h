// A profile whose products were timed in one layout serves operators in all: slmsim's weights are nn forward, and nt and
// tn for the gradients, PyTorch's nt, nn and tn. Where a layout has no row near a kernel's sizes its time would be a usual
// ratio.
#pragma once

#include "sim/import/gather.h"

namespace slmsim {

// Where a layout has no time in a precision within a factor of two of the sizes, summed over them, it takes those of the
// other layouts; remarks say so.
void share_layouts(ImportedProfile& profile);
// Remarks on what was not timed, and what its time then is.
void tell_what_lacks(ImportedProfile& profile);

}  // namespace slmsim
