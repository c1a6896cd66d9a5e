#include "sim/compute/kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/range/iterator_range.hpp>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

// Sizes of Adam's arrays in addition to a model's own; they separate the constant part from the rate.
constexpr double kAdamSizes[] = {1e6, 1e7, 1e8};

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

// The kernel's own name first, then a similar kernel.
std::vector<std::string> families_of(const Operator& op, KernelPart part) {
  const std::string own = name_in(kernel_part_names(), part);
  if (part == KernelPart::kNorm && op.is_rms_norm()) return {"rmsnorm", own};
  if (part == KernelPart::kFusedSoftmax) return {own, "softmax"};
  if (part == KernelPart::kAddition) return {own, "residual"};
  return {own};
}

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

ProductKernels product_kernels(const Operator& op, const MatrixShape& shape) {
  const auto [batch, m, n, k] = shape;
  if (op.factor_transposed) {
    return {{"gemm-nt", batch, m, n, k}, {"gemm-nn", batch, m, k, n}, {"gemm-tn", batch, n, k, m}};
  }
  return {{"gemm-nn", batch, m, n, k}, {"gemm-nt", batch, m, k, n}, {"gemm-tn", batch, k, n, m}};
}

std::vector<RowKernels> part_kernels(const Operator& op, const PartUse& use, double part) {
  // Rows are tokens, except for attention, whose scores have a row per token and head.
  const double columns = op.kind == OperatorKind::kSoftmax ? op.tokens : use.elements / op.tokens;
  const std::int64_t rows = whole(use.elements * part / columns);
  const std::int64_t table = use.part == KernelPart::kEmbedding ? std::max<std::int64_t>(1, op.rows) : 1;
  std::vector<RowKernels> kernels;
  for (const auto& family : families_of(op, use.part)) {
    const auto kernel = [&](const char* pass) { return KernelShape{family + pass, 1, rows, whole(columns), table}; };
    kernels.push_back({kernel("-forward"), kernel("-backward")});
  }
  return kernels;
}

bool differs_by_stack(KernelPart part) {
  constexpr KernelPart kDiffering[] = {KernelPart::kEmbedding, KernelPart::kBias,    KernelPart::kRotary,
                                       KernelPart::kMask,      KernelPart::kDropout, KernelPart::kGeluNew,
                                       KernelPart::kQuickGelu};
  return !is_profiled(part) || std::ranges::find(kDiffering, part) != std::end(kDiffering);
}

RowKernels flash_kernels(const Operator& op, const MatrixShape& shape) {
  // The product with the values sums over the keys.
  const bool values = op.role == Role::kValues;
  const auto keys = values ? shape.k : shape.n, width = values ? shape.n : shape.k;
  return {{"flash-forward", shape.batch, shape.m, keys, width}, {"flash-backward", shape.batch, shape.m, keys, width}};
}

KernelShape adam_kernel(double parameters) { return {"adam", 1, whole(parameters), 1, 1}; }

std::vector<UsedKernel> kernels_of(const OperatorGraph& operators, const std::vector<int>& sequences) {
  std::map<KernelShape, std::vector<std::string>> used;
  const auto add = [&](const KernelShape& shape, const std::string& name) {
    if (shape.name.empty()) return;
    auto& names = used[shape];
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const int count : sequences) {
    for (const auto vertex : boost::make_iterator_range(boost::vertices(operators))) {
      const Operator& op = operators[vertex];
      const auto add_both = [&](const RowKernels& kernels) {
        add(kernels.forward, name_of(op.role));
        add(kernels.backward, name_of(op.role));
      };
      // For each kind of attention that a stack may use.
      for (const auto attention : {AttentionKernel::kUnfused, AttentionKernel::kFusedSoftmax}) {
        for (const PartUse& use : parts_of(op, attention))
          if (is_profiled(use.part)) add_both(part_kernels(op, use, count).front());
      }
      if (op.kind != OperatorKind::kMatrix) continue;
      MatrixShape shape = op.matrix;
      (op.has_weights() ? shape.m : shape.batch) *= count;
      if (op.role == Role::kScores) add_both(flash_kernels(op, shape));
      const ProductKernels kernels = product_kernels(op, shape);
      for (const auto* kernel : {&kernels.forward, &kernels.inputs_gradient, &kernels.factor_gradient})
        add(*kernel, name_of(op.role));
    }
  }
  const double parameters = parameter_count(operators);
  for (const char* way : {"adam", "adam_foreach", "adam_single"}) {
    const auto add_size = [&](double size) {
      KernelShape kernel = adam_kernel(size);
      kernel.name = way;
      add(kernel, "adam");
    };
    add_size(parameters);
    for (const double size : kAdamSizes) {
      if (size < parameters) add_size(size);
    }
  }
  std::vector<UsedKernel> kernels;
  kernels.reserve(used.size());
  for (auto& [shape, names] : used) kernels.push_back({shape, std::move(names)});
  return kernels;
}

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
