#include "sim/cost/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/range/iterator_range.hpp>

namespace slmsim {
namespace {

// Sizes of Adam's arrays beside a model's own: they tell the constant part from the rate.
constexpr double kAdamSizes[] = {1e6, 1e7, 1e8};

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

std::string family_of(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::kNorm:
      return "norm";
    case OperatorKind::kSoftmax:
      return "softmax";
    case OperatorKind::kActivation:
      return name_of(op.role);
    case OperatorKind::kResidual:
      return "residual";
    case OperatorKind::kLoss:
      return "loss";
    case OperatorKind::kEmbedding:
    case OperatorKind::kMatrix:
      break;
  }
  return "";
}

}  // namespace

ProductKernels product_kernels(const Operator& op, const MatrixShape& shape) {
  const auto [batch, m, n, k] = shape;
  if (op.factor_transposed) {
    return {{"gemm-nt", batch, m, n, k}, {"gemm-nn", batch, m, k, n}, {"gemm-tn", batch, n, k, m}};
  }
  return {{"gemm-nn", batch, m, n, k}, {"gemm-nt", batch, m, k, n}, {"gemm-tn", batch, k, n, m}};
}

RowKernels row_kernels(const Operator& op, double part) {
  const std::string family = family_of(op);
  if (family.empty()) return {};
  // Rows are tokens, but of attention, whose scores have a row per token and head.
  const double per_token = op.outputs / op.tokens;
  const double columns = op.kind == OperatorKind::kSoftmax ? op.tokens : per_token;
  const std::int64_t rows = whole(op.outputs * part / columns);
  const auto kernel = [&](const char* pass) { return KernelShape{family + pass, 1, rows, whole(columns), 1}; };
  return {kernel("-forward"), kernel("-backward")};
}

bool is_timed(KernelPart part) {
  switch (part) {
    case KernelPart::kNorm:
    case KernelPart::kSoftmax:
    case KernelPart::kFusedSoftmax:
    case KernelPart::kResidual:
    case KernelPart::kAddition:
    case KernelPart::kGelu:
    case KernelPart::kSwiglu:
    case KernelPart::kLoss:
      return true;
    default:
      return false;
  }
}

KernelShape adam_kernel(double parameters) { return {"adam", 1, whole(parameters), 1, 1}; }

std::vector<UsedKernel> kernels_of(const OperatorGraph& operators, const std::vector<int>& sequences) {
  std::map<KernelShape, std::vector<std::string>> used;
  const auto add = [&](const KernelShape& shape, const std::string& name) {
    if (shape.name.empty()) return;
    auto& names = used[shape];
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const int count : sequences) {
    for (const auto vertex : boost::make_iterator_range(boost::vertices(operators))) {
      const Operator& op = operators[vertex];
      if (op.kind != OperatorKind::kMatrix) {
        const RowKernels kernels = row_kernels(op, count);
        add(kernels.forward, name_of(op.role));
        add(kernels.backward, name_of(op.role));
        continue;
      }
      MatrixShape shape = op.matrix;
      (op.has_weights() ? shape.m : shape.batch) *= count;
      const ProductKernels kernels = product_kernels(op, shape);
      for (const auto* kernel : {&kernels.forward, &kernels.inputs_gradient, &kernels.factor_gradient})
        add(*kernel, name_of(op.role));
    }
  }
  const double parameters = parameter_count(operators);
  add(adam_kernel(parameters), "adam");
  for (const double size : kAdamSizes) {
    if (size < parameters) add(adam_kernel(size), "adam");
  }
  std::vector<UsedKernel> kernels;
  kernels.reserve(used.size());
  for (auto& [shape, names] : used) kernels.push_back({shape, std::move(names)});
  return kernels;
}

}  // namespace slmsim
