// A profile whose products were timed in one layout serves operators in all: slmsim's weights are nn, nt and tn,
// PyTorch's nt, nn and tn. Beside rows of other layouts nothing would be found, and the time be a usual ratio.
#pragma once

#include "sim/import/gather.h"

namespace slmsim {

// Where a layout has no time in a precision, for products alone or for batches of them, it takes those of the other
// layouts at the same sizes; remarks say so.
void share_layouts(ImportedProfile& profile);
// Remarks on what was not timed, and what its time then is.
void tell_what_lacks(ImportedProfile& profile);

}  // namespace slmsim
