// The tables of Aceso's profiler (G. Liu et al., "Aceso: Efficient Parallel DNN Training through Iterative Bottleneck
// Alleviation", EuroSys 2024), operators of a Megatron layer, and collectives; and of Sailor (F. Strati et al., "Sailor:
// Automating Distributed Training over Dynamic, Heterogeneous, and Geo-distributed Clusters", SOSP 2025), which uses it too.
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

// Below this the host's launches dominate: PyTorch's operators take 24 to 65 us each, and an entry has several.
inline constexpr Seconds kAcesoLeast{300e-6};

// The profiler's placeholder for a time where an operator or collective did not run, in us and ms.
constexpr double kDidNotRunOperator = 1e7, kDidNotRunCollective = 1e9;

// Sizes of the model, from its operators' sizes: weights and tensors are in MiB.
struct Sizes {
  double sequences = 0, hidden = 0, wide = 0, heads = 0, tokens = 0;  // tokens: per sequence
};

std::optional<double> whole(double value) {
  const double near = std::round(value);
  return near >= 1 && std::abs(value - near) <= 0.002 * near ? std::optional(near) : std::nullopt;
}

// hidden: 3 h^2 weights of the projection to queries, keys and values; tokens: the first norm reads b s h elements;
// wide: h x wide weights; heads: b heads s^2 scores are kept.
std::optional<Sizes> sizes_of(CsvColumns& table, double sequences, double element) {
  std::map<std::string, const CsvRecord*> rows;
  for (const auto& row : table.rows()) rows.emplace(table.text(row, "op_name"), &row);
  const auto elements = [&](const char* name, const char* column) {
    const auto at = rows.find(name);
    if (at == rows.end()) return 0.0;
    return table.number(*at->second, column).value_or(0) * kMebi / element;
  };
  const auto hidden = whole(std::sqrt(elements("enc-attention-qkv", "weights") / 3));
  if (!hidden) return std::nullopt;
  const auto tokens = whole(elements("enc-1st-layernorm", "input_size") / sequences / *hidden);
  const auto wide = whole(elements("enc-MLP-GEMM-1", "weights") / *hidden);
  if (!tokens || !wide) return std::nullopt;
  const auto heads = whole(elements("enc-attention-score", "activations") / sequences / (*tokens * *tokens));
  if (!heads) return std::nullopt;
  return Sizes{sequences, *hidden, *wide, *heads, *tokens};
}

// An operator's kernels, forward and backward.
struct Passes {
  std::vector<KernelShape> forward, backward;
};

// y = x W, and its gradients: of x, which is dy W, and of W, which is dy^T x.
Passes linear(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{linear_kernel(m, n, k)}, {{"gemm-nn", 1, m, k, n}, {"gemm-tn", 1, n, k, m}}};
}

Passes rows_of(const std::string& family, std::int64_t m, std::int64_t n) {
  return {{{family + "-forward", 1, m, n, 1}}, {{family + "-backward", 1, m, n, 1}}};
}

std::optional<Passes> passes_of(const std::string& name, const Sizes& sizes) {
  const auto number = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
  const auto rows = number(sizes.sequences * sizes.tokens), hidden = number(sizes.hidden), wide = number(sizes.wide),
             tokens = number(sizes.tokens), products = number(sizes.sequences * sizes.heads),
             head = number(sizes.hidden / sizes.heads);
  if (name == "enc-1st-layernorm" || name == "enc-2nd-layernorm") return rows_of("norm", rows, hidden);
  if (name == "enc-attention-qkv") return linear(rows, 3 * hidden, hidden);
  if (name == "enc-attention-score")
    return Passes{{{"gemm-nt", products, tokens, tokens, head}},
                  {{"gemm-nn", products, tokens, head, tokens}, {"gemm-tn", products, tokens, head, tokens}}};
  if (name == "enc-attention-softmax") return rows_of("softmax", products * tokens, tokens);
  if (name == "enc-attention-dropout") return rows_of("dropout", products * tokens, tokens);
  if (name == "enc-attention-context")
    return Passes{{{"gemm-nn", products, tokens, head, tokens}},
                  {{"gemm-nt", products, tokens, tokens, head}, {"gemm-tn", products, tokens, head, tokens}}};
  if (name == "enc-attention-dense") return linear(rows, hidden, hidden);
  if (name == "enc-post-attention-dropout" || name == "enc-post-MLP-dropout") return rows_of("residual", rows, hidden);
  if (name == "enc-MLP-GEMM-1") return linear(rows, wide, hidden);
  if (name == "enc-MLP-gelu") return rows_of("gelu", rows, wide);
  if (name == "enc-MLP-GEMM-2") return linear(rows, hidden, wide);
  return std::nullopt;
}

void read_operators(CsvColumns& table, const std::string& gpu, Precision precision, FileRows& rows) {
  static const std::regex kName(R"(_mbs(\d{1,6})_tp(\d{1,4})_algo(\d{1,2})\.csv$)");
  std::smatch match;
  const std::string file = table.file().path();
  if (!std::regex_search(file, match, kName)) {
    table.errors().push_back({table.file().at(0, 0),
                              "the file's name lacks micro-batch, tensor-parallel degree and way of dividing; keep the "
                              "profiler's, MODEL_mbs1_tp1_algo0.csv"});
    return;
  }
  if (match[2] != "1") {
    rows.leave_out(
        fmt::format("of operators divided over {} GPUs, whose parts the table does not list", match[2].str()),
        2 * table.rows().size());
    return;
  }
  const auto sizes = sizes_of(table, std::stod(match[1]), element_bytes(precision));
  if (!sizes) {
    table.errors().push_back(
        {table.file().at(table.header_line()),
         fmt::format("the model's sizes do not follow from the weights and tensors, at {} bytes an element; tables of "
                     "GPT-like models are expected, in the precision that was profiled",
                     element_bytes(precision))});
    return;
  }
  for (const auto& row : table.rows()) {
    const std::string& name = table.text(row, "op_name");
    const auto passes = passes_of(name, *sizes);
    for (const bool forward : {true, false}) {
      const char* column = forward ? "forward-compute" : "backward-compute";
      if (table.number(row, column) == kDidNotRunOperator) {
        rows.leave_out("of operators that ran out of memory");
      } else if (const auto time = table.time(row, column, kMicrosecond); time && !passes) {
        ++rows.unknown[name];
      } else if (time) {
        rows.kernels.push_back({gpu, precision, forward ? passes->forward : passes->backward, *time, row.line});
      }
    }
  }
  rows.remarks.insert(
      "the two gradients of a product were timed together: each has half of the time, as each is half of the work");
  rows.remarks.insert("operators include PyTorch's work around their kernels: scaling, biases, copies");
}

void read_collectives(CsvColumns& table, const std::string& gpu, FileRows& rows) {
  static const std::regex kName(R"(_(all_reduce|all_gather|reduce_scatter|all_to_all)_(\d{1,4})gpus\.csv$)");
  std::smatch match;
  const std::string file = table.file().path();
  if (!std::regex_search(file, match, kName)) {
    table.errors().push_back(
        {table.file().at(0, 0),
         "the file's name lacks the collective and its GPUs; keep the profiler's, prim_MODEL_all_reduce_4gpus.csv"});
    return;
  }
  for (const auto& row : table.rows()) {
    if (table.number(row, "time(ms)") == kDidNotRunCollective) {
      rows.leave_out("of collectives that ran out of memory");
      continue;
    }
    const auto size = table.size(row, "data_size(MB)");
    const auto time = table.time(row, "time(ms)", kMillisecond);
    if (!size || !time) continue;
    if (match[1] != "all_reduce")
      rows.leave_out(fmt::format("of {}, which also copies lists of tensors", match[1].str()));
    else
      rows.collectives.push_back(
          {gpu, "all-reduce", std::stoll(match[2]), 1, static_cast<double>(*size) * Bytes{kMebi}, *time, row.line});
  }
  rows.remarks.insert("GPUs of a collective are assumed to be in one machine");
}

CsvColumns::Headers aceso_headers() {
  return {{"op_name", "forward-compute", "backward-compute", "input_size", "weights", "activations"},
          {"data_size(MB)", "time(ms)"}};
}

// `gpu` and `precision` apply to every row; a missing precision is an error.
void read_aceso_table(CsvColumns& table, const std::string& gpu, std::optional<Precision> precision, FileRows& rows) {
  if (table.form() == 1) {
    read_collectives(table, gpu, rows);
  } else if (precision) {
    read_operators(table, gpu, *precision, rows);
  } else {
    table.errors().push_back({table.file().at(0, 0), "the table does not state its precision; give --precision"});
  }
}

// Its profiles are of one GPU, which they do not name.
void read_aceso(CsvColumns& table, FileRows& rows) { read_aceso_table(table, "", table.request().precision, rows); }

constexpr std::string_view kFolder = "profiled-data-";

// Its profiles are of several GPUs, each in a folder of its own.
void read_sailor(CsvColumns& table, FileRows& rows) {
  std::string gpu;
  std::optional<Precision> precision;
  const auto parts = table.file().parts();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!parts[i].starts_with(kFolder)) continue;
    gpu = parts[i - 1];
    precision = precision_called(std::string_view(parts[i]).substr(kFolder.size()));
  }
  // Its fp32 is TF32 on GPUs that have it; the folder's name does not say.
  if (table.request().precision) precision = table.request().precision;
  read_aceso_table(table, gpu, precision, rows);
}

}  // namespace

ImportFormat aceso_format() {
  return {"aceso",
          "The profiler of Aceso (SuperScaler): operators of a Megatron layer, and all-reduces. Needs --precision.",
          "MODEL_mbs1_tp1_algo0.csv: op_name, forward-compute, backward-compute (us), input_size, weights, "
          "activations (MB); prim_MODEL_all_reduce_4gpus.csv: data_size(MB), time(ms)",
          aceso_headers(),
          read_aceso,
          nullptr,
          kAcesoLeast};
}

ImportFormat sailor_format() {
  return {"sailor",
          "Sailor's copy of Aceso's profiler: GPU and precision are those of the folders.",
          "GPU/profiled-data-PRECISION/MODEL_mbs1_tp1_algo0.csv and prim_MODEL_all_reduce_4gpus.csv, as of aceso",
          aceso_headers(),
          read_sailor,
          nullptr,
          kAcesoLeast};
}

}  // namespace slmsim
