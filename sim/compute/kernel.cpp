#include "sim/compute/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>

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
  switch (part) {
    case KernelPart::kNorm:
      if (op.is_rms_norm()) return {"rmsnorm", own};
      break;
    case KernelPart::kFusedSoftmax:
      return {own, "softmax"};
    case KernelPart::kAddition:
      return {own, "residual"};
    default:
      break;
  }
  return {own};
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
  switch (part) {
    case KernelPart::kEmbedding:
    case KernelPart::kBias:
    case KernelPart::kRotary:
    case KernelPart::kMask:
    case KernelPart::kDropout:
    case KernelPart::kGeluNew:
    case KernelPart::kQuickGelu:
      return true;
    default:
      return false;
  }
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
        for (const PartUse& use : parts_of(op, attention)) add_both(part_kernels(op, use, count).front());
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

}  // namespace slmsim
