#include "tests/validation/gpu_validation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

#include "sim/compute/kernel.h"
#include "sim/compute/operator_graph.h"
#include "sim/compute/roofline.h"

namespace slmsim {
namespace {

constexpr Seconds kLeastOperator{300e-6}, kLeastKernel{100e-6};
constexpr double kMemoryShare = 0.8;  // software.memory_efficiency
constexpr Seconds kLaunch{5e-6};      // software.kernel_launch
constexpr const char* kStack = "megatron-eager";

struct Series {
  const char* op;
  std::optional<Role> role;  // of the graph's operator
  const char* kernel;        // as in TrafficFit; nullptr: a product
};
constexpr Series kSeries[] = {{"enc-1st-layernorm", Role::kAttentionNorm, "norm"},
                              {"enc-attention-qkv", Role::kQkv, nullptr},
                              {"enc-attention-score", Role::kScores, nullptr},
                              {"enc-attention-softmax", Role::kSoftmax, "softmax"},
                              {"enc-attention-dropout", Role::kSoftmax, "dropout"},
                              {"enc-attention-context", Role::kValues, nullptr},
                              {"enc-attention-dense", Role::kProjection, nullptr},
                              {"enc-post-attention-dropout", Role::kAttentionResidual, "residual"},
                              {"enc-MLP-GEMM-1", Role::kMlpUp, nullptr},
                              {"enc-MLP-gelu", Role::kGelu, "gelu"},
                              {"enc-MLP-GEMM-2", Role::kMlpDown, nullptr},
                              {"gpt-post-process", std::nullopt, "loss"}};

const Series& series_of(const std::string& op) {
  const auto found = std::find_if(std::begin(kSeries), std::end(kSeries), [&](const Series& s) { return op == s.op; });
  if (found == std::end(kSeries))
    throw InputError({}, fmt::format("operators.csv: op \"{}\" is none of Aceso's", printable(op).substr(0, 64)));
  return *found;
}

// fp32's softmax is not fused with scale and mask.
std::string kernel_of(const Series& series, Precision precision) {
  if (series.kernel == std::string("softmax")) return element_bytes(precision) < 4 ? "fused_softmax" : "mask + softmax";
  return series.kernel;
}

Operator operator_of(const Transformer& model, Role role) {
  const OperatorGraph graph = build_operator_graph(model);
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) {
    if (graph[v].role == role) return graph[v];
  }
  return {};
}

// A row of a kernel between products, prepared for the fit.
struct Sample {
  std::string gpu, kernel;
  Precision precision = Precision::kFp16;
  bool forward = true;
  Seconds time;
  double elements = 0;
  BytesPerSecond bandwidth;

  Seconds at(const MemoryTraffic& moves) const { return Bytes{elements * moves.bytes_of(precision)} / bandwidth; }
};

MemoryTraffic fit(const std::vector<const Sample*>& samples) {
  // Normal equations of sum ((a x + b y - 1) w)^2, where x and y are the times of one element and one byte over the
  // measured time, and w gives each GPU and precision the same weight.
  std::map<std::pair<std::string, Precision>, double> rows;
  for (const Sample* s : samples) ++rows[{s->gpu, s->precision}];
  double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
  for (const Sample* s : samples) {
    const double w = 1 / rows[{s->gpu, s->precision}];
    const double x = s->at({1, 0, 0}) / s->time, y = s->at({0, 1, 0}) / s->time;
    xx += w * x * x, xy += w * x * y, yy += w * y * y, x1 += w * x, y1 += w * y;
  }
  const double determinant = xx * yy - xy * xy;
  if (determinant > 1e-9 * xx * yy) {
    const double a = (x1 * yy - y1 * xy) / determinant, b = (y1 * xx - x1 * xy) / determinant;
    if (a >= 0 && b >= 0) return {a, b, 0};
    if (a < 0) return {0, y1 / yy, 0};
  }
  return {xx > 0 ? x1 / xx : 0, 0, 0};
}

double error_of(Seconds predicted, Seconds measured) { return std::abs(predicted / measured - 1); }

using Kind = std::pair<std::string, bool>;  // kernel, forward

std::map<Kind, std::vector<const Sample*>> by_kind(const std::vector<Sample>& samples, const std::string& without) {
  std::map<Kind, std::vector<const Sample*>> out;
  for (const Sample& s : samples) {
    if (s.gpu != without) out[{s.kernel, s.forward}].push_back(&s);
  }
  return out;
}

void leave_one_out(const std::vector<Sample>& samples, GpuValidation& out) {
  std::set<std::string> gpus;
  for (const Sample& s : samples) gpus.insert(s.gpu);
  std::vector<double> all;
  for (const auto& gpu : gpus) {
    std::map<Kind, MemoryTraffic> fitted;
    for (const auto& [kind, others] : by_kind(samples, gpu)) fitted[kind] = fit(others);
    std::vector<double> errors;
    for (const Sample& s : samples) {
      const auto moves = fitted.find({s.kernel, s.forward});
      if (s.gpu == gpu && moves != fitted.end()) errors.push_back(error_of(s.at(moves->second), s.time));
    }
    all.insert(all.end(), errors.begin(), errors.end());
    out.left_out.push_back({gpu, spread_of(std::move(errors))});
  }
  out.left_out.push_back({"", spread_of(std::move(all))});
  for (const auto& [kind, rows] : by_kind(samples, "")) {
    TrafficFit f{kind.first, kind.second, fit(rows), 0};
    std::vector<double> errors;
    for (const Sample* s : rows) errors.push_back(error_of(s->at(f.moves), s->time));
    f.spread = spread_of(std::move(errors)).ninth;
    out.fits.push_back(std::move(f));
  }
}

// The part that Aceso's profiler times: the gradient of the inputs alone, where an operator has weights.
Seconds product_row(const OperatorRow& row, const Operator& op, const Gpu& gpu, const Software& software) {
  MatrixShape shape = op.matrix;
  (op.has_weights() ? shape.m : shape.batch) *= row.batch;
  const auto [batch, m, n, k] = shape;
  Seconds time{0};
  if (row.forward) {
    time = product_time(shape, gpu, row.precision, software);
  } else {
    time = product_time({batch, m, k, n}, gpu, row.precision, software);
    if (!op.has_weights()) time += product_time({batch, k, n, m}, gpu, row.precision, software);
  }
  const auto& bias = software.kernels[static_cast<std::size_t>(KernelPart::kBias)];
  if (op.role == Role::kQkv && bias)
    time +=
        part_time(row.forward ? bias->forward : bias->backward, op.outputs * row.batch, gpu, row.precision, software);
  return time;
}

// One kernel of an operator, or all of its series.
Seconds between_row(const OperatorRow& row, const std::string& kernel, double elements, const Gpu& gpu,
                    const Software& software) {
  Seconds time{0};
  const auto add = [&](KernelPart part) {
    const auto& moves = software.kernels[static_cast<std::size_t>(part)];
    if (moves)
      time += part_time(row.forward ? moves->forward : moves->backward, elements, gpu, row.precision, software);
  };
  if (kernel == "mask + softmax") {
    add(KernelPart::kMask);
    add(KernelPart::kSoftmax);
    return time;
  }
  const auto& names = kernel_part_names();
  add(static_cast<KernelPart>(std::find(names.begin(), names.end(), kernel) - names.begin()));
  return time;
}

void judge_operators(const std::vector<OperatorRow>& rows, NamedFiles& files, GpuValidation& out) {
  Software software = files.stack(kStack);
  software.memory = kMemoryShare;
  software.launch = kLaunch;
  std::vector<Sample> samples;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> shipped;
  for (const OperatorRow& row : rows) {
    if (row.time < kLeastOperator) continue;
    const Series& series = series_of(row.op);
    const Gpu& gpu = files.gpu(row.gpu);
    auto& [between, products] = shipped[row.gpu];
    if (!series.role) {  // head and loss
      const Operator head = operator_of(row.model, Role::kHead);
      const Seconds product = product_row(row, head, gpu, software);
      const Seconds loss = between_row(row, "loss", head.outputs * row.batch, gpu, software);
      products.push_back(error_of(product + loss, row.time));
      continue;
    }
    const Operator op = operator_of(row.model, *series.role);
    if (!series.kernel) {
      products.push_back(error_of(product_row(row, op, gpu, software), row.time));
      continue;
    }
    const std::string kernel = kernel_of(series, row.precision);
    const double elements = op.outputs * row.batch;
    samples.push_back({row.gpu, kernel, row.precision, row.forward, row.time, elements, gpu.memory_bandwidth});
    between.push_back(error_of(between_row(row, kernel, elements, gpu, software), row.time));
  }
  leave_one_out(samples, out);
  for (auto& [gpu, errors] : shipped)
    out.shipped.push_back({gpu, spread_of(std::move(errors.first)), spread_of(std::move(errors.second))});
}

double percentile(std::vector<double>& values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void judge_products(const std::vector<KernelRow>& rows, NamedFiles& files, GpuValidation& out) {
  using Key = std::tuple<std::string, std::string, Precision, bool>;
  struct Group {
    std::vector<double> errors, shares;
  };
  std::map<Key, Group> groups;
  Software software;
  software.memory = kMemoryShare;
  software.launch = kLaunch;
  for (const KernelRow& row : rows) {
    if (!is_product(row.kernel.name) || row.time < kLeastKernel) continue;
    const Gpu& gpu = files.gpu(row.gpu);
    Group& group = groups[{row.source, row.gpu, row.precision, row.kernel.batch > 1}];
    const MatrixShape shape{row.kernel.batch, row.kernel.m, row.kernel.n, row.kernel.k};
    group.errors.push_back(error_of(product_time(shape, gpu, row.precision, software), row.time));
    // With a share of 1, and with a share so large that only memory counts.
    Software whole = software, free = software;
    whole.launch = free.launch = {};
    whole.matrix[gpu.name] = 1;
    free.matrix[gpu.name] = 1e12;
    const double memory = product_time(shape, gpu, row.precision, free).value;
    const double both = product_time(shape, gpu, row.precision, whole).value;
    const double compute = std::sqrt(std::max(0.0, both * both - memory * memory));
    const double left = std::pow((row.time - software.launch).value, 2) - memory * memory;
    if (left > 0 && compute > memory) group.shares.push_back(compute / std::sqrt(left));
  }
  for (auto& [key, group] : groups) {
    const auto& [source, gpu, precision, batched] = key;
    ProductErrors errors{source, gpu, precision, batched, 0, 0, 0, 0, spread_of(std::move(group.errors))};
    errors.stated = software.matrix_of(files.gpu(gpu), precision);
    if (!group.shares.empty()) {
      errors.share = percentile(group.shares, 0.5);
      errors.share_low = percentile(group.shares, 0.1);
      errors.share_high = percentile(group.shares, 0.9);
    }
    out.products.push_back(std::move(errors));
  }
}

}  // namespace

ErrorSpread spread_of(std::vector<double> errors) {
  ErrorSpread out{static_cast<int>(errors.size()), 0, 0};
  if (errors.empty()) return out;
  out.median = percentile(errors, 0.5);
  out.ninth = percentile(errors, 0.9);
  return out;
}

GpuValidation validate_gpus(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& roots) {
  NamedFiles files(roots);
  GpuValidation out;
  judge_operators(read_operator_rows(folder / "operators.csv"), files, out);
  judge_products(read_kernel_rows(folder / "kernels.csv"), files, out);
  const auto machines = folder / "allreduce.csv";
  if (std::filesystem::exists(machines)) out.all_reduce = validate_all_reduce(machines);
  return out;
}

}  // namespace slmsim
