#include "sim/import/measurement/file_rows.h"

#include <algorithm>

namespace slmsim {

std::optional<Precision> precision_called(std::string_view name) {
  static const std::map<std::string_view, Precision> kNames = {
      {"fp16", Precision::kFp16},  {"float16", Precision::kFp16},  {"half", Precision::kFp16},
      {"bf16", Precision::kBf16},  {"bfloat16", Precision::kBf16}, {"tf32", Precision::kTf32},
      {"fp32", Precision::kFp32},  {"float32", Precision::kFp32},  {"float", Precision::kFp32},
      {"single", Precision::kFp32}};
  if (name.starts_with("torch.")) name.remove_prefix(6);
  const auto at = kNames.find(name);
  return at == kNames.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::string> collective_called(std::string_view name) {
  std::string spelt(name);
  std::ranges::replace(spelt, '_', '-');
  static const std::map<std::string, std::string> kNames = {
      {"all-reduce", "all-reduce"},    {"allreduce", "all-reduce"},          {"all-gather", "all-gather"},
      {"allgather", "all-gather"},     {"reduce-scatter", "reduce-scatter"}, {"reducescatter", "reduce-scatter"},
      {"broadcast", "broadcast"},      {"sendrecv", "send-receive"},         {"send-recv", "send-receive"},
      {"send-receive", "send-receive"}};
  const auto at = kNames.find(spelt);
  return at == kNames.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace slmsim
