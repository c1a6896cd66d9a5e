// NeuSight (S. Lee, A. Phanishayee, D. Mahajan, "Forecasting GPU Performance for Deep Learning Training and Inference",
// ASPLOS 2025): single operators of PyTorch, timed one launch at a time in fp32.
#include <map>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

// Half of the tables' times are near those of a launch alone, 24 to 32 us, and say little about the kernel.
constexpr Seconds kLeast{100e-6};

// Operators on B rows of H elements. One without a kernel in slmsim keeps its name.
const std::string& row_kernel(const std::string& name) {
  static const std::map<std::string, std::string> kNames = {
      {"ln", "norm-forward"}, {"softmax", "softmax-forward"}, {"gelu", "gelu-forward"}, {"add", "residual-forward"}};
  const auto at = kNames.find(name);
  return at == kNames.end() ? name : at->second;
}

void read_neusight(CsvColumns& table, FileRows& rows) {
  const Precision precision = table.request().precision.value_or(Precision::kFp32);
  for (const auto& row : table.rows()) {
    const std::string& name = table.text(row, "OPName");
    const auto time = table.time(row, "Latency", kMillisecond);
    KernelTime one{table.text(row, "Device"), precision, {}, time.value_or(Seconds{}), row.line};
    const auto batch = table.size(row, "B");
    if (table.form() == 1) {
      const auto columns = table.size(row, "H");
      if (!batch || !columns || !time) continue;
      one.shapes = {{row_kernel(name), 1, *batch, *columns, 1}};
    } else {
      // A product sums over N, and the result has K columns: x of B x M x N, and a Linear(N, K) or B x N x K.
      const auto m = table.size(row, "M"), n = table.size(row, "K"), k = table.size(row, "N");
      if (!batch || !m || !n || !k || !time) continue;
      if (name == "linear")
        one.shapes = {linear_kernel(*batch * *m, *n, *k)};
      else
        one.shapes = {{name == "bmm" ? "gemm-nn" : name, *batch, *m, *n, *k}};
    }
    if (name == "add") rows.remarks.insert("residual-forward is an addition alone, without dropout and its mask");
    rows.kernels.push_back(std::move(one));
  }
}

}  // namespace

ImportFormat neusight_format() {
  return {"neusight",
          "NeuSight's operator data: linear, bmm, ln, softmax, gelu and add of PyTorch in fp32.",
          "OPName, Latency (ms), Device, B, M, N, K; or B, H",
          {{"OPName", "Latency", "Device", "B", "M", "N", "K"}, {"OPName", "Latency", "Device", "B", "H"}},
          read_neusight,
          nullptr,
          kLeast,
          true};
}

}  // namespace slmsim
