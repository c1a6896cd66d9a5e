// NVIDIA's aiconfigurator: the collected tables of products and of NCCL.
#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

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
