// Tables with slmsim's own names.

#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

std::string gpu_of(const CsvColumns& table, const CsvRecord& row) {
  return table.text(row, table.has("gpu") ? "gpu" : "machine");
}

void read_kernel(CsvColumns& table, const CsvRecord& row, FileRows& rows) {
  const std::string& precision = table.text(row, "precision");
  const auto known = precision.empty() ? table.request().precision : precision_called(precision);
  const auto batch = table.size(row, "batch"), m = table.size(row, "m"), n = table.size(row, "n"),
             k = table.size(row, "k");
  const auto time = table.time(row, "seconds", kSecond);
  if (!known && precision.empty()) {
    table.error(row, "precision", "the row names no precision; write it there, or give --precision");
  } else if (!known) {
    rows.leave_out("in precision " + printable(precision).substr(0, 32));
  } else if (batch && m && n && k && time) {
    rows.kernels.push_back(
        {gpu_of(table, row), *known, {{table.text(row, "kernel"), *batch, *m, *n, *k}}, *time, row.line});
  }
}

void read_csv_collective(CsvColumns& table, const CsvRecord& row, FileRows& rows) {
  const std::string& name = table.has("collective") ? table.text(row, "collective") : "all-reduce";
  const auto known = collective_called(name);
  const auto ranks = table.size(row, table.has("ranks") ? "ranks" : "gpus"), size = table.size(row, "bytes");
  const auto hosts = table.has("hosts") ? table.size(row, "hosts") : std::optional<std::int64_t>(1);
  const auto time = table.time(row, "seconds", kSecond);
  if (!known) {
    rows.leave_out(fmt::format("of {}, which profiles do not hold", printable(name).substr(0, 32)));
  } else if (ranks && size && hosts && time) {
    rows.collectives.push_back(
        {gpu_of(table, row), *known, *ranks, *hosts, Bytes{static_cast<double>(*size)}, *time, row.line});
  }
}

void read_plain_csv(CsvColumns& table, FileRows& rows) {
  for (const auto& row : table.rows()) {
    if (table.form() == 0)
      read_kernel(table, row, rows);
    else
      read_csv_collective(table, row, rows);
  }
}

// NeuSight (S. Lee, A. Phanishayee, D. Mahajan, "Forecasting GPU Performance for Deep Learning Training and Inference",
// ASPLOS 2025): single operators of PyTorch, timed one launch at a time in fp32.

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

// NVIDIA's aiconfigurator: the collected tables of products and of NCCL.

// More GPUs than this are assumed to be in several machines: the tables do not say.
constexpr std::int64_t kGpusOfAMachine = 8;

void read_product(CsvColumns& table, const CsvRecord& row, FileRows& rows) {
  const auto m = table.size(row, "m"), n = table.size(row, "n"), k = table.size(row, "k");
  const auto time = table.time(row, "latency", kMillisecond);
  const std::string& type = table.text(row, "gemm_dtype");
  if (const auto precision = precision_called(type); !precision)
    rows.leave_out("in precision " + printable(type).substr(0, 32));
  else if (m && n && k && time)
    rows.kernels.push_back({table.text(row, "device"), *precision, {linear_kernel(*m, *n, *k)}, *time, row.line});
}

void read_aiconfigurator_collective(CsvColumns& table, const CsvRecord& row, FileRows& rows) {
  const std::string& name = table.text(row, "op_name");
  const std::string& type = table.text(row, "nccl_dtype");
  const auto collective = collective_called(name);
  const auto ranks = table.size(row, "num_gpus"), elements = table.size(row, "message_size");
  const auto time = table.time(row, "latency", kMillisecond);
  const auto precision = precision_called(type);
  if (!collective)
    rows.leave_out(fmt::format("of {}, which profiles do not hold", printable(name).substr(0, 32)));
  else if (!precision && type != "int8")
    rows.leave_out("in precision " + printable(type).substr(0, 32));
  else if (ranks && *ranks > kGpusOfAMachine)
    rows.leave_out(fmt::format("of more than {} GPUs, which may be in several machines", kGpusOfAMachine));
  else if (ranks && elements && time)
    rows.collectives.push_back({table.text(row, "device"), *collective, *ranks, 1,
                                Bytes{static_cast<double>(*elements) * (precision ? element_bytes(*precision) : 1)},
                                *time, row.line});
}

void read_aiconfigurator(CsvColumns& table, FileRows& rows) {
  for (const auto& row : table.rows()) {
    if (table.form() == 0)
      read_product(table, row, rows);
    else
      read_aiconfigurator_collective(table, row, rows);
  }
}

}  // namespace

ImportFormat csv_format() {
  return {"csv",
          "slmsim's own tables: kernels by the names and layouts of slmsim shapes, or collectives.",
          "kernel, precision, batch, m, n, k, seconds (and gpu); or collective, ranks or gpus, bytes, seconds (and "
          "hosts, and gpu or machine)",
          {{"kernel", "precision", "batch", "m", "n", "k", "seconds"},
           {"ranks", "bytes", "seconds"},
           {"gpus", "bytes", "seconds"}},
          read_plain_csv,
          nullptr};
}

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

ImportFormat aiconfigurator_format() {
  return {
      "aiconfigurator",
      "aiconfigurator's collected gemm_perf.txt and nccl_perf.txt.",
      "gemm_dtype, m, n, k, latency (ms), device; or op_name, nccl_dtype, num_gpus, message_size (elements), latency "
      "(ms), device",
      {{"gemm_dtype", "m", "n", "k", "latency"}, {"op_name", "nccl_dtype", "num_gpus", "message_size", "latency"}},
      read_aiconfigurator,
      nullptr};
}

}  // namespace slmsim
