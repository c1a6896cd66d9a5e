// vidur (A. Agrawal et al., "Vidur: A Large-Scale Simulation Framework for LLM Inference", MLSys 2024): the layers of a
// model for growing numbers of tokens, in fp16, and NCCL.
#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

// data/profiling/compute/GPU/..., data/profiling/network/MACHINE/...
std::string gpu_of(const InputFile& file) {
  const auto parts = file.parts();
  for (std::size_t i = 0; i + 2 < parts.size(); ++i) {
    if (parts[i] == "compute" || parts[i] == "network") return parts[i + 1];
  }
  return "";
}

struct Layer {
  std::int64_t tokens, hidden, wide, heads, kv_heads, parts;
  bool gated;
};

std::optional<Layer> layer_of(CsvColumns& table, const CsvRecord& row) {
  const auto tokens = table.size(row, "num_tokens"), hidden = table.size(row, "n_embd"),
             wide = table.size(row, "n_expanded_embd"), heads = table.size(row, "n_head"),
             kv_heads = table.size(row, "n_kv_head"), parts = table.size(row, "num_tensor_parallel_workers");
  const std::string& gated = table.text(row, "use_gated_mlp");
  if (gated != "True" && gated != "False")
    table.error(row, "use_gated_mlp", fmt::format("use_gated_mlp is \"{}\"; True or False is expected", gated));
  if (!tokens || !hidden || !wide || !heads || !kv_heads || !parts) return std::nullopt;
  if (*hidden % *heads != 0 || *heads % *parts != 0) {
    table.error(row, "n_head", "heads must divide n_embd, and workers must divide heads; a model's sizes are expected");
    return std::nullopt;
  }
  return Layer{*tokens, *hidden, *wide, *heads, *kv_heads, *parts, gated == "True"};
}

// The part of the projection on one worker: keys and values are not divided further than by their heads.
KernelShape projection(const Layer& layer) {
  const std::int64_t head = layer.hidden / layer.heads;
  const std::int64_t kv = std::max<std::int64_t>(1, layer.kv_heads / layer.parts);
  return linear_kernel(layer.tokens, (layer.heads / layer.parts + 2 * kv) * head, layer.hidden);
}

std::optional<KernelShape> kernel_of(const std::string& name, const Layer& layer) {
  const auto [tokens, hidden, wide, heads, kv_heads, parts, gated] = layer;
  if (name == "attn_pre_proj") return projection(layer);
  if (name == "attn_post_proj") return linear_kernel(tokens, hidden, hidden / parts);
  if (name == "mlp_up_proj") return linear_kernel(tokens, (gated ? 2 : 1) * wide / parts, hidden);
  if (name == "mlp_down_proj") return linear_kernel(tokens, hidden, wide / parts);
  if (name == "mlp_act") return KernelShape{gated ? "swiglu-forward" : "gelu-forward", 1, tokens, wide / parts, 1};
  if (name == "input_layernorm" || name == "post_attention_layernorm")
    return KernelShape{"norm-forward", 1, tokens, hidden, 1};
  return std::nullopt;
}

void read_layers(CsvColumns& table, FileRows& rows) {
  static constexpr std::string_view kBefore = "time_stats.", kAfter = ".median";
  const std::string gpu = gpu_of(table.file());
  for (const auto& row : table.rows()) {
    const auto layer = layer_of(table, row);
    if (!layer) continue;
    for (const auto& column : table.names()) {
      if (!column.starts_with(kBefore) || !column.ends_with(kAfter)) continue;
      const std::string name = column.substr(kBefore.size(), column.size() - kBefore.size() - kAfter.size());
      // Where a model has no such layer, the cell is empty.
      if (table.text(row, column).empty()) continue;
      const auto time = table.time(row, column, kMillisecond);
      const auto kernel = kernel_of(name, *layer);
      if (time && kernel)
        rows.kernels.push_back({gpu, table.request().precision.value_or(Precision::kFp16), {*kernel}, *time, row.line});
      else if (time)
        ++rows.unknown[name];
    }
  }
}

void read_collectives(CsvColumns& table, FileRows& rows) {
  const std::string gpu = gpu_of(table.file());
  for (const auto& row : table.rows()) {
    const std::string& name = table.text(row, "collective");
    const auto collective = collective_called(name);
    const auto ranks = table.size(row, "num_workers"), size = table.size(row, "size"),
               of_a_node = table.size(row, "devices_per_node");
    if (!collective) {
      rows.leave_out(fmt::format("of {}, which profiles do not hold", printable(name).substr(0, 32)));
      continue;
    }
    const auto time = table.time(row, fmt::format("time_stats.{}.median", name), kMillisecond);
    if (!ranks || !size || !of_a_node || !time) continue;
    // Its size is one worker's input to a gather and output of a scatter.
    const bool parts = *collective == "all-gather" || *collective == "reduce-scatter";
    const auto whole = static_cast<double>(*size) * (parts ? static_cast<double>(*ranks) : 1);
    rows.collectives.push_back(
        {gpu, *collective, *ranks, (*ranks + *of_a_node - 1) / *of_a_node, Bytes{whole}, *time, row.line});
  }
}

void read_vidur(CsvColumns& table, FileRows& rows) {
  if (table.form() == 0)
    read_layers(table, rows);
  else
    read_collectives(table, rows);
}

}  // namespace

ImportFormat vidur_format() {
  return {"vidur",
          "vidur's mlp.csv of a model in fp16, and its tables of collectives. The GPU is the folder below compute/ or "
          "network/.",
          "num_tokens, num_tensor_parallel_workers, n_embd, n_expanded_embd, n_head, n_kv_head, use_gated_mlp, "
          "time_stats.OPERATOR.median (ms); or collective, size, num_workers, devices_per_node, "
          "time_stats.COLLECTIVE.median (ms)",
          {{"num_tokens", "num_tensor_parallel_workers", "n_embd", "n_expanded_embd", "n_head", "n_kv_head",
            "use_gated_mlp"},
           {"collective", "size", "num_workers", "devices_per_node"}},
          read_vidur,
          nullptr};
}

}  // namespace slmsim
