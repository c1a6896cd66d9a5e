// Baidu's DeepBench: output of gemm_bench and nccl_single_all_reduce, and the products of a result spreadsheet saved as csv.
//
// It calls cuBLAS, whose matrices are column-major: its C = A B of m x n is slmsim's n x m product of B and A, each transposed
// in memory where the other says so. TN, which is PyTorch's Linear, is nt.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

struct DeepBenchReader {
  const InputFile& file;
  const ImportRequest& request;
  FileRows& rows;
  std::vector<Error>& errors;

  void error(int line, const std::string& text) const { errors.push_back({file.at(line), text}); }
};

// The program prints n, t or, by a slip of precedence, 0 and 1; a spreadsheet has N and T.
std::optional<char> layout_of(const std::string& word) {
  if (word == "n" || word == "N" || word == "0") return 'n';
  if (word == "t" || word == "T" || word == "1") return 't';
  return std::nullopt;
}

struct Product {
  std::string m, n, k, a, b, precision, time;
};

void read_product(const DeepBenchReader& reader, int line, const Product& product, const TimeUnit& unit) {
  const Place at = reader.file.at(line);
  const auto m = read_size(product.m, "m", at, reader.errors), n = read_size(product.n, "n", at, reader.errors),
             k = read_size(product.k, "k", at, reader.errors);
  const auto a = layout_of(product.a), b = layout_of(product.b);
  if (!a || !b)
    reader.error(line, fmt::format("layouts are \"{}\" and \"{}\"; n or t is expected", product.a, product.b));
  if (product.time == "Not" || product.time.empty()) return reader.rows.leave_out("of products that are not supported");
  const auto time = read_time(product.time, unit, "time", at, reader.errors);
  const auto precision = product.precision.empty() ? reader.request.precision : precision_called(product.precision);
  if (!precision) return reader.rows.leave_out("in precision " + printable(product.precision).substr(0, 32));
  if (!m || !n || !k || !a || !b || !time) return;
  if (*a == 't' && *b == 't') return reader.rows.leave_out("of products of two transposed factors");
  reader.rows.kernels.push_back({"", *precision, {{fmt::format("gemm-{}{}", *b, *a), 1, *n, *m, *k}}, *time, line});
}

bool begins_with_number(const TextLine& line) { return parse_number(line.words.front()).has_value(); }

// `header` is the line "m n k a_t b_t precision time (usec)".
void read_products(const DeepBenchReader& reader, const std::vector<TextLine>& lines, std::size_t header) {
  if (lines[header].text.find("(usec)") == std::string::npos)
    return reader.error(lines[header].number,
                        "the times are not in usec; the output of gemm_bench is expected as it is");
  for (std::size_t i = header + 1; i < lines.size(); ++i) {
    const auto& words = lines[i].words;
    if (!begins_with_number(lines[i])) {
      if (words.front().starts_with("-")) continue;
      return;
    }
    if (words.size() < 7) {
      reader.error(lines[i].number, fmt::format("{} words; m, n, k, two layouts, precision and time are expected: the "
                                                "file may have been cut off",
                                                words.size()));
      continue;
    }
    read_product(reader, lines[i].number, {words[0], words[1], words[2], words[3], words[4], words[5], words[6]},
                 kMicrosecond);
  }
}

// `header` is the line "# of floats  bytes transferred  Time (msec)", below "Num Ranks: 8".
void read_all_reduces(const DeepBenchReader& reader, const std::vector<TextLine>& lines, std::size_t header) {
  std::optional<std::int64_t> ranks;
  for (std::size_t i = 0; i < header; ++i) {
    const auto& words = lines[i].words;
    if (words.size() >= 3 && words[0] == "Num" && words[1] == "Ranks:")
      ranks = read_size(words[2], "the number of ranks", reader.file.at(lines[i].number), reader.errors);
  }
  if (!ranks) return reader.error(lines[header].number, "the line \"Num Ranks:\" is missing above; keep it");
  for (std::size_t i = header + 1; i < lines.size(); ++i) {
    const auto& words = lines[i].words;
    if (!begins_with_number(lines[i])) {
      if (words.front().starts_with("-")) continue;
      return;
    }
    if (words.size() != 3) {
      reader.error(lines[i].number,
                   fmt::format("{} words; floats, bytes and a time are expected: the file may have been "
                               "cut off",
                               words.size()));
      continue;
    }
    const Place at = reader.file.at(lines[i].number);
    const auto size = read_size(words[1], "the number of bytes", at, reader.errors);
    const auto time = read_time(words[2], kMillisecond, "time", at, reader.errors);
    if (size && time)
      reader.rows.collectives.push_back(
          {"", "all-reduce", *ranks, 1, Bytes{static_cast<double>(*size)}, *time, lines[i].number});
  }
}

// False where the text is not such a sheet.
bool read_sheet(const DeepBenchReader& reader) {
  const auto records = csv_records(reader.file.text());
  const auto column = [](const CsvRecord& record, std::string_view name) -> std::optional<std::size_t> {
    for (std::size_t c = 0; c < record.cells.size(); ++c) {
      if (record.cells[c].starts_with(name)) return c;
    }
    return std::nullopt;
  };
  const auto header = std::ranges::find_if(records, [&](const auto& record) {
    return column(record, "A Transpose") && column(record, "B Transpose") && column(record, "Time (");
  });
  if (header == records.end()) return false;
  const auto m = column(*header, "M"), n = column(*header, "N"), k = column(*header, "K"),
             a = column(*header, "A Transpose"), b = column(*header, "B Transpose"), time = column(*header, "Time (");
  const std::string& unit = header->cells[*time];
  if (!m || !n || !k || (unit != "Time (msec)" && unit != "Time (usec)")) {
    reader.error(header->line, "columns M, N, K and Time (msec) are expected beside A Transpose and B Transpose");
    return true;
  }
  if (!reader.request.precision) {
    reader.error(header->line, "the sheet states its precision in words; give --precision");
    return true;
  }
  for (auto row = header + 1; row != records.end(); ++row) {
    const auto cell = [&](std::optional<std::size_t> c) { return *c < row->cells.size() ? row->cells[*c] : ""; };
    if (cell(m).empty() || !layout_of(cell(a))) break;  // the next table of the sheet
    read_product(reader, row->line, {cell(m), cell(n), cell(k), cell(a), cell(b), "", cell(time)},
                 unit == "Time (msec)" ? kMillisecond : kMicrosecond);
  }
  return true;
}

void read_deepbench(const InputFile& file, const ImportRequest& request, FileRows& rows, std::vector<Error>& errors) {
  const DeepBenchReader reader{file, request, rows, errors};
  if (read_sheet(reader)) return;
  const auto lines = text_lines(file);
  bool found = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& words = lines[i].words;
    const auto holds = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    const bool products = holds("a_t") && holds("b_t") && holds("precision"),
               floats = holds("floats") && holds("bytes");
    if (products) read_products(reader, lines, i);
    if (floats) read_all_reduces(reader, lines, i);
    found = found || products || floats;
  }
  if (!found)
    errors.push_back({file.at(1),
                      "no header \"m n k a_t b_t precision time (usec)\" as gemm_bench prints it, no "
                      "\"# of floats bytes transferred Time (msec)\", and no sheet with A Transpose; output of "
                      "DeepBench is expected"});
}

}  // namespace

ImportFormat deepbench_format() {
  return {
      "deepbench",
      "DeepBench: the output of gemm_bench and nccl_single_all_reduce, or a result sheet saved as csv (needs "
      "--precision).",
      "m n k a_t b_t precision time (usec); or # of floats, bytes transferred, Time (msec); or M, N, K, A Transpose, "
      "B Transpose, Time (msec)",
      {},
      nullptr,
      read_deepbench};
}

}  // namespace slmsim
