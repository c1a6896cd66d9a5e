// NVIDIA Nsight Systems: nsys stats --report cuda_gpu_kern_sum --format csv. It reports times by kernel name without sizes, so
// a second file maps each name to a kernel.
#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

struct NamedShape {
  std::string part;  // of the kernel's name
  Precision precision = Precision::kFp32;
  KernelShape shape;
};

std::vector<NamedShape> read_shapes(const ImportRequest& request, std::vector<Error>& errors) {
  std::vector<NamedShape> shapes;
  FileRows ignored;
  const ImportRequest nothing;
  const CsvColumns::Headers headers = {{"name", "kernel", "precision", "batch", "m", "n", "k"}};
  CsvColumns table(read_input_file(request.shapes), headers, nothing, ignored, errors);
  if (!table.form())
    errors.push_back({table.file().at(1), "columns name, kernel, precision, batch, m, n, k are expected"});
  for (const auto& row : table.rows()) {
    const auto precision = precision_called(table.text(row, "precision"));
    const auto batch = table.size(row, "batch"), m = table.size(row, "m"), n = table.size(row, "n"),
               k = table.size(row, "k");
    if (!precision) table.error(row, "precision", "not a precision of slmsim; fp16, bf16, tf32 or fp32 is expected");
    if (table.text(row, "name").empty())
      table.error(row, "name", "the name is empty; a part of a kernel's name is expected");
    if (precision && batch && m && n && k)
      shapes.push_back({table.text(row, "name"), *precision, {table.text(row, "kernel"), *batch, *m, *n, *k}});
  }
  return shapes;
}

// The column of the median, else of the mean, with the unit in its name.
struct TimeColumn {
  std::string name;
  TimeUnit unit = kNanosecond;
};
std::optional<TimeColumn> time_column(const CsvColumns& table) {
  for (const char* kind : {"Med", "Avg"}) {
    for (const auto& unit : {kNanosecond, kMicrosecond, kMillisecond, kSecond}) {
      const std::string name = fmt::format("{} ({})", kind, unit.name);
      if (table.has(name)) return TimeColumn{name, unit};
    }
  }
  return std::nullopt;
}

void read_nsys(CsvColumns& table, FileRows& rows) {
  const auto column = time_column(table);
  if (!column) {
    table.errors().push_back({table.file().at(table.header_line()),
                              "no column \"Med (ns)\" or \"Avg (ns)\"; give nsys stats --format csv as it is"});
    return;
  }
  if (table.request().shapes.empty()) {
    table.errors().push_back({table.file().at(0, 0),
                              "nsys reports no sizes of kernels; give --shapes FILE, a csv with columns name (a part "
                              "of the kernel's name), kernel, precision, batch, m, n, k"});
    return;
  }
  const auto shapes = read_shapes(table.request(), table.errors());
  for (const auto& row : table.rows()) {
    const std::string& name = table.text(row, "Name");
    const NamedShape* found = nullptr;
    for (const auto& shape : shapes) {
      if (name.find(shape.part) == std::string::npos) continue;
      if (found)
        table.error(row, "Name",
                    fmt::format("\"{}\" and \"{}\" of {} are both in this name; longer parts are expected",
                                printable(found->part).substr(0, 64), printable(shape.part).substr(0, 64),
                                table.request().shapes));
      found = &shape;
    }
    const auto time = table.time(row, column->name, column->unit);
    if (!found)
      rows.leave_out(fmt::format("of {}, which the shapes do not name", printable(name).substr(0, 64)));
    else if (time)
      rows.kernels.push_back({"", found->precision, {found->shape}, *time, row.line});
  }
  rows.remarks.insert("nsys sums launches of one name even if their sizes differ: only names of one size are usable");
}

}  // namespace

ImportFormat nsys_format() {
  return {"nsys",
          "nsys stats --report cuda_gpu_kern_sum --format csv, with --shapes FILE for the sizes, which nsys does not "
          "report.",
          "Instances, Med (ns) or Avg (ns), Name; --shapes: name, kernel, precision, batch, m, n, k",
          {{"Instances", "Name"}},
          read_nsys,
          nullptr};
}

}  // namespace slmsim
