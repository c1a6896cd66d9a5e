// Layouts of products. A profile with products in one layout serves operators in all: slmsim's weights are nn forward, and nt
// and tn for the gradients, PyTorch's nt, nn and tn. Without a row near a kernel's sizes, a layout's time would come from a
// typical ratio.
#pragma once

#include "sim/import/measurement/gather.h"

namespace slmsim {

// Where a layout has no time in a precision within a factor of two of the sizes, summed over them, it takes those of the other
// layouts, with a remark.
void share_layouts(ImportedProfile& profile);
// Adds remarks on kernels without times, and on the times used instead.
void tell_what_lacks(ImportedProfile& profile);

}  // namespace slmsim
