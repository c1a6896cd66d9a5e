#include "sim/compute/product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace slmsim {
namespace {

struct Tile {
  std::int64_t m, n;
};
// Tiles of cuBLAS and CUTLASS in both orientations, since either side of a product may be the narrow one.
constexpr Tile kTiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}, {32, 64},
                           {64, 32},   {32, 32},   {16, 64},   {64, 16},  {16, 32},  {32, 16}, {16, 16}};
constexpr double kSplits[] = {1, 2, 4, 8, 16, 32};
constexpr double kLeastDepth = 64;  // length of the inner sum in each part of a split

// The three were fitted together to public measurements of ten GPUs (slmsim validate gpu), one value for all of them.
constexpr double kReuse = 8;         // harmonic size of a tile whose loads cost as much as its arithmetic
constexpr double kPrologue = 32;     // steps of the inner sum
constexpr double kWholeWaves = 0.5;  // lost part of the last wave's idle share: blocks begin and end unevenly

constexpr double kRounding = 1e-12;  // relative

// Relative time per FLOP of a tile's step: 1 for the largest tile.
double load_of(const Tile& tile) {
  const auto load = [](const Tile& t) {
    return 1 + kReuse * (1 / static_cast<double>(t.m) + 1 / static_cast<double>(t.n));
  };
  return load(tile) / load(kTiles[0]);
}

// Number of tiles that cover `size` rows or columns.
double parts(std::int64_t size, std::int64_t tile) {
  const std::int64_t count = (size - 1) / tile + 1;
  return static_cast<double>(count);
}

}  // namespace

int row_alignment(const MatrixShape& shape, Precision precision) {
  constexpr std::int64_t kWidest = 16;  // bytes of one load by a thread
  const auto size = static_cast<std::int64_t>(element_bytes(precision));
  return static_cast<int>(std::gcd(kWidest, std::gcd(shape.n * size, shape.k * size)));
}

FlopsPerSecond unaligned_rate(FlopsPerSecond aligned, const Gpu& gpu, Precision precision, int alignment) {
  if (precision == Precision::kFp32 || alignment >= 16) return aligned;
  const bool halves = element_bytes(precision) < 4;
  if (gpu.architecture == "Hopper") {
    const double share = !halves ? kHopperTf32 : alignment < 4 ? kHopperAt2Bytes : kHopperAt4Bytes;
    return std::min(aligned, peak_of(gpu, precision) * (share * gpu.left.cores));
  }
  return halves && alignment < 4 ? aligned * (1 / kUnalignedCost) : aligned;
}

double tile_efficiency(const MatrixShape& shape, int multiprocessors) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  double least = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double area = static_cast<double>(tile.m * tile.n) * load_of(tile);
    const double tiles = static_cast<double>(shape.batch) * parts(shape.m, tile.m) * parts(shape.n, tile.n);
    if (tiles / multiprocessors * area * k > least * (1 + kRounding)) continue;  // slower than the best at any split
    for (const double splits : kSplits) {
      if (splits > 1 && k / splits < kLeastDepth) break;
      const double waves = tiles * splits / multiprocessors;
      const double rounds = waves < 1 ? 1 : waves + kWholeWaves * (std::ceil(waves) - waves);
      // Adding the parts of a split sum takes about one more prologue.
      const double depth = k / splits + kPrologue * (splits > 1 ? 2 : 1);
      least = std::min(least, rounds * area * depth);
    }
  }
  return static_cast<double>(shape.batch) * m * n * k / (least * multiprocessors);
}

}  // namespace slmsim
