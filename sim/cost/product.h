// How long a matrix product takes by the roofline.
//
//   time = sqrt(compute^2 + memory^2) + launch
//   memory  = bytes of the three matrices / (share of the bandwidth)
//   compute = least over tiles and split-K of  rounds x 2 tm tn (k / splits + prologue) x reuse / (peak of a multiprocessor)
//
// A product is cut into tiles of tm x tn, and the tiles are dealt to the multiprocessors in waves (NVIDIA, Matrix
// Multiplication Background User's Guide, DU-09799-001). Each tile begins with a prologue in which its first operands
// arrive, small tiles reuse less of what they load, and a library chooses the tile that is fastest: so small and narrow
// products are slower per FLOP. The root of the squares is what compute and memory reach where they overlap in part.
#pragma once

#include "sim/model/operator.h"

namespace slmsim {

// FLOPs of a product in proportion to those that its tiles take of the whole GPU's time: 1 for a large product, less for
// one that fills tiles or waves badly.
double tile_efficiency(const MatrixShape& shape, int multiprocessors);

// Of a product of 16-bit numbers, whether the rows of its result and of its factors, n and k long, suit them: rows that
// begin at multiples of 4 bytes, two elements, the least that a thread loads at once or copies asynchronously (PTX ISA,
// cp.async). DeepBench's products with 5124 = 4 x 1281 columns or inner sums of 1530 = 2 x 765 run as fast as others on V100
// and T4; odd ones take kUnalignedCost times as long, as measured of heads with GPT-2's 50257 tokens on A100 (18.7 to 35.6 ms,
// as against 9.2 to 17.5 by FLOPs; at 25128 they agree).
bool is_aligned(const MatrixShape& shape);
inline constexpr double kUnalignedCost = 2;

}  // namespace slmsim
