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
        {gpu_of(table, row), *known, {table.text(row, "kernel"), *batch, *m, *n, *k}, *time, row.line});
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

}  // namespace slmsim
