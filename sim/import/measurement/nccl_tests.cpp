// NVIDIA's nccl-tests: the output of all_reduce_perf and the other tests.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

struct NcclTestsReader {
  const InputFile& file;
  FileRows& rows;
  std::vector<Error>& errors;
  std::int64_t ranks = 0;
  std::set<std::string> hosts;
  std::string gpu, collective;
  std::vector<std::string> columns;
  std::size_t time = 0;  // the column of the first time, out of place
  bool mixed = false;
  bool ranks_differ = false;       // a rate belongs to another number of ranks; reported once
  std::vector<std::string> begun;  // a row's first words, which NCCL's own lines cut off

  void error(int line, const std::string& text) { errors.push_back({file.at(line), text}); }
  void read_comment(const TextLine& line);
  void read_row(const TextLine& line);
  void check_rate(const TextLine& line, double bytes, Seconds took);
  void check_ranks(const TextLine& line);
  bool is_wrong(const std::vector<std::string>& words) const;
  void read(const TextLine& line);
};

// "all_reduce_perf" in a line or in a file's name; the longest name first, because it may contain others.
std::string collective_in(const std::string& text) {
  for (const char* name : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "sendrecv", "alltoall", "gather",
                           "scatter", "hypercube", "reduce"}) {
    if (text.find(std::string(name) + "_perf") != std::string::npos) return name;
  }
  return "";
}

// "#  Rank  0 Group  0 Pid   1234 on     node1 device  0 [0000:07:00] NVIDIA A100-SXM4-40GB"; the header; its units.
void NcclTestsReader::read_comment(const TextLine& line) {
  std::vector<std::string> words = line.words;
  if (words.front() == "#") words.erase(words.begin());
  if (words.empty()) return;
  if (const std::string name = collective_in(line.text); !name.empty()) collective = name;
  if (words.front() == "Rank") {
    ++ranks;
    const auto on = std::ranges::find(words, "on");
    if (on != words.end() && on + 1 != words.end()) hosts.insert(*(on + 1));
    if (const auto bracket = line.text.find(']'); bracket != std::string::npos) {
      const auto begin = line.text.find_first_not_of(' ', bracket + 1);
      const std::string name =
          begin == std::string::npos ? "" : line.text.substr(begin, line.text.find_last_not_of(' ') + 1 - begin);
      if (!gpu.empty() && gpu != name && !mixed)
        error(line.number, "a GPU of another kind than the ranks above; ranks of one kind are expected");
      gpu = mixed ? "" : name;
    }
  } else if (words.front() == "size") {
    columns = words;
    for (const char* spelt : {"time", "cputime"}) {
      const auto at = std::ranges::find(columns, spelt);
      if (at != columns.end()) time = static_cast<std::size_t>(at - columns.begin());
    }
    if (time == 0) error(line.number, "no column \"time\"; the output of nccl-tests is expected as it is");
  } else if (words.front() == "(B)" && std::ranges::find(words, "(us)") == words.end()) {
    error(line.number, "the times are not in (us); the output of nccl-tests is expected as it is");
  }
}

// The table repeats size / time as algbw in GB/s, with two digits after the point or three in all, from a time rounded
// likewise. Where that rate differs, the time is in another unit, or a column is misplaced.
void NcclTestsReader::check_rate(const TextLine& line, double bytes, Seconds took) {
  constexpr double kRounded = 0.006, kDigits = 0.02;
  const std::string& busbw = line.words[time + 1];
  const auto rate = parse_number(busbw);
  const double is = bytes / took.value / kGiga;
  if (rate && std::abs(*rate - is) <= kRounded + kDigits * is) return;
  error(line.number, fmt::format("algbw is {} GB/s, but size / time is {:.4g} GB/s; they must agree, with times in us, "
                                 "as nccl-tests prints them",
                                 printable(busbw).substr(0, 32), is));
}

// The table states busbw = algbw x factor, and the factor depends on the number of ranks (nccl-tests, doc/PERFORMANCE.md).
void NcclTestsReader::check_ranks(const TextLine& line) {
  const auto algbw = parse_number(line.words[time + 1]), busbw = parse_number(line.words[time + 2]);
  const bool part = collective == "all_gather" || collective == "reduce_scatter" || collective == "alltoall";
  if (!algbw || !busbw || ranks < 2 || ranks_differ || (!part && collective != "all_reduce")) return;
  const double n = static_cast<double>(ranks), factor = (part ? 1 : 2) * (n - 1) / n;
  // Both are rounded to two digits after the point or to three in all.
  constexpr double kRounded = 0.006, kDigits = 0.006;
  if (std::abs(*busbw - *algbw * factor) <= kRounded * (1 + factor) + kDigits * 2 * *busbw) return;
  ranks_differ = true;
  error(line.number,
        fmt::format("busbw / algbw is {:.3g}, but {:.3g} for the {} lines \"# Rank\" above; some are missing",
                    *busbw / *algbw, factor, ranks));
}

// Before 2.13 the column after the rates is `error`, the largest relative difference, which rounding causes too; a test counts
// it as wrong beyond a limit for the type (common.cu, deltaMaxValue). Since then it is #wrong, a count.
bool NcclTestsReader::is_wrong(const std::vector<std::string>& words) const {
  const auto wrong = parse_number(words[time + 3]);
  if (!wrong) return words[time + 3] != "N/A";  // not checked; nan is wrong
  if (time + 3 >= columns.size() || columns[time + 3] != "error") return *wrong > 0;
  constexpr std::pair<const char*, double> kMost[] = {
      {"half", 1e-2}, {"bfloat16", 1e-2}, {"float", 1e-5}, {"double", 1e-12}};
  for (const auto& [type, most] : kMost) {
    if (words[2] == type) return *wrong > most;
  }
  return *wrong > 0;  // whole numbers
}

void NcclTestsReader::read_row(const TextLine& line) {
  const Place at = file.at(line.number);
  const auto& words = line.words;
  // Time, two bandwidths and wrong values out of place; in place the same number, and perhaps more.
  if (words.size() < time + 8) {
    return error(line.number, fmt::format("{} words; the header names at least {}: the file may have been cut off",
                                          words.size(), time + 8));
  }
  const auto size = parse_number(words[0]);
  if (size && *size == 0) return rows.leave_out("of no bytes");
  const auto bytes = read_size(words[0], "size", at, errors);
  const auto took = read_time(words[time], kMicrosecond, "time", at, errors);
  if (bytes && took) check_rate(line, static_cast<double>(*bytes), *took);
  check_ranks(line);
  if (is_wrong(words)) return rows.leave_out("of wrong results, as the test counted");
  const auto known = collective_called(collective);
  if (!known) return rows.leave_out(fmt::format("of {}, which profiles do not hold", collective));
  if (bytes && took)
    rows.collectives.push_back({gpu, *known, ranks, static_cast<std::int64_t>(std::max<std::size_t>(1, hosts.size())),
                                Bytes{static_cast<double>(*bytes)}, *took, line.number});
}

// A line, or what NCCL's own words (NCCL_DEBUG) leave of it: "HOST:PID:TID [0] NCCL INFO ..." may stand between the lines, or
// behind a row's first words, before its times.
void NcclTestsReader::read(const TextLine& line) {
  TextLine row = line;
  auto& words = row.words;
  const auto own = std::ranges::find(words, "NCCL");
  if (own != words.end() && !words.front().starts_with("#")) {
    const auto host = std::find_if(words.begin(), own, [](const auto& w) { return w.find(':') != std::string::npos; });
    if (host != words.begin() && parse_number(words.front())) begun.insert(begun.end(), words.begin(), host);
    return;
  }
  if (words.front().starts_with("#")) {
    if (!begun.empty()) rows.leave_out("interrupted by NCCL's own lines");
    begun.clear();
    return read_comment(row);
  }
  if (time == 0 || !parse_number(words.front())) return;
  if (!begun.empty() && words.size() < time + 8) words.insert(words.begin(), begun.begin(), begun.end());
  begun.clear();
  read_row(row);
}

void read_nccl_tests(const InputFile& file, const ImportRequest& request, FileRows& rows, std::vector<Error>& errors) {
  if (!request.where.empty() && request.where.front().column != "gpu")
    errors.push_back({file.at(0, 0), "--where: output of nccl-tests can be chosen by gpu only"});
  NcclTestsReader reader{file, rows, errors, 0, {}, "", collective_in(file.path()), {}, 0, request.mixed, false, {}};
  bool ended = false;
  for (const auto& line : text_lines(file)) {
    reader.read(line);
    ended = ended || line.text.find("bus bandwidth") != std::string::npos;
  }
  if (reader.time == 0)
    errors.push_back({file.at(1),
                      "no header \"# size count type redop root time algbw busbw ...\"; the output of all_reduce_perf "
                      "or a similar test is expected"});
  else if (reader.collective.empty())
    errors.push_back(
        {file.at(0, 0),
         "neither the file nor its name states the collective; name it after the program, all_reduce_perf.txt"});
  else if (reader.ranks < 2)
    errors.push_back(
        {file.at(0, 0), fmt::format("{} lines \"# Rank\"; at least two GPUs are expected, with these lines "
                                    "above the table",
                                    reader.ranks)});
  else if (!ended)
    rows.remarks.insert("the closing lines of nccl-tests are missing: the run or the file was cut off");
}

// NVIDIA Nsight Systems: nsys stats --report cuda_gpu_kern_sum --format csv. It reports times by kernel name without sizes, so
// a second file maps each name to a kernel.

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

ImportFormat nccl_tests_format() {
  return {"nccl-tests",
          "Output of all_reduce_perf, all_gather_perf, reduce_scatter_perf, broadcast_perf and sendrecv_perf.",
          "# size, count, type, redop, root, time (us), algbw, busbw, #wrong (or error), with the lines # Rank above",
          {},
          nullptr,
          read_nccl_tests};
}

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
