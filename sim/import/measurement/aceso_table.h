// The tables of Aceso's profiler (G. Liu et al., "Aceso: Efficient Parallel DNN Training through Iterative Bottleneck
// Alleviation", EuroSys 2024), which Sailor uses too: operators of a Megatron layer, and collectives.
#pragma once

#include "sim/import/measurement/csv_columns.h"

namespace slmsim {

CsvColumns::Headers aceso_headers();
// Below this the host's launches dominate: PyTorch's operators take 24 to 65 us each, and an entry has several.
inline constexpr Seconds kAcesoLeast{300e-6};

// `gpu` and `precision` apply to every row; a missing precision is an error.
void read_aceso_table(CsvColumns& table, const std::string& gpu, std::optional<Precision> precision, FileRows& rows);

}  // namespace slmsim
