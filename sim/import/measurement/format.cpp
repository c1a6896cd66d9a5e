#include "sim/import/measurement/format.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr Seconds kShortest{1e-8}, kLongest{1e4};  // range of times that a profile accepts
constexpr double kLargest = 0x1p50;
constexpr std::size_t kHeaderWithin = 50;  // progress lines above a header

std::string shown(const std::string& text) { return printable(text).substr(0, 64); }

bool holds(const std::vector<std::string>& names, const std::vector<std::string>& needed) {
  return std::ranges::all_of(needed, [&](const auto& name) { return std::ranges::find(names, name) != names.end(); });
}

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;  // the largest public table has 15 MB

}  // namespace

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> kFormats = {csv_format(),       neusight_format(),       aceso_format(),
                                                     sailor_format(),    aiconfigurator_format(), vidur_format(),
                                                     deepbench_format(), nccl_tests_format(),     nsys_format()};
  return kFormats;
}

const ImportFormat& import_format(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& format : import_formats()) {
    if (format.name == name) return format;
    known.emplace_back(format.name);
  }
  throw InputError(
      {}, fmt::format("there is no format \"{}\"; {}", printable(name).substr(0, 64), did_you_mean(name, known)));
}

std::optional<Seconds> read_time(const std::string& text, const TimeUnit& unit, const std::string& what,
                                 const Place& at, std::vector<Error>& errors) {
  const auto number = parse_number(text);
  if (!number) {
    errors.push_back({at, fmt::format("{} is \"{}\"; a number of {} is expected", what, shown(text), unit.name)});
    return std::nullopt;
  }
  const Seconds time = *number * unit.one;
  if (time >= kShortest && time <= kLongest) return time;
  errors.push_back(
      {at, *number <= 0
               ? fmt::format("{} is {} {}; a time above zero is expected", what, shown(text), unit.name)
               : fmt::format("{} is {} {}; from 10 ns to 10,000 s is expected: is it in {}, as this format says?", what,
                             shown(text), unit.name, unit.name)});
  return std::nullopt;
}

std::optional<std::int64_t> read_size(const std::string& text, const std::string& what, const Place& at,
                                      std::vector<Error>& errors) {
  const auto number = parse_number(text);
  if (number && *number >= 1 && *number <= kLargest && std::floor(*number) == *number)
    return static_cast<std::int64_t>(*number);
  errors.push_back({at, fmt::format("{} is \"{}\"; a whole number of at least 1 is expected", what, shown(text))});
  return std::nullopt;
}

CsvColumns::CsvColumns(InputFile file, const Headers& headers, const ImportRequest& request, FileRows& rows,
                       std::vector<Error>& errors)
    : file_(std::move(file)), request_(request), errors_(errors) {
  auto records = csv_records(file_.text());
  find_header(records, headers);
  if (!form_) return;
  for (std::size_t c = 0; c < names_.size(); ++c) at_.emplace(names_[c], c);
  for (const auto& [column, value] : request.where) {
    if (column != "gpu" && !has(column))
      errors_.push_back({file_.at(header_line_), fmt::format("--where {}: there is no such column; {}", shown(column),
                                                             did_you_mean(column, names_))});
  }
  for (std::size_t r = header_ + 1; r < records.size(); ++r) {
    CsvRecord& record = records[r];
    if (record.cells.size() != names_.size()) {
      errors_.push_back(
          {file_.at(record.line), fmt::format("{} cells; the header names {}{}", record.cells.size(), names_.size(),
                                              r + 1 == records.size() ? ": the file may have been cut off" : "")});
    } else if (chosen(record, rows)) {
      rows_.push_back(std::move(record));
    }
  }
}

void CsvColumns::find_header(const std::vector<CsvRecord>& records, const Headers& headers) {
  for (std::size_t r = 0; r < std::min(records.size(), kHeaderWithin); ++r) {
    for (std::size_t form = 0; form < headers.size(); ++form) {
      if (!holds(records[r].cells, headers[form])) continue;
      form_ = form;
      header_ = r;
      header_line_ = records[r].line;
      names_ = records[r].cells;
      return;
    }
  }
  if (!records.empty()) names_ = records.front().cells;
}

bool CsvColumns::chosen(const CsvRecord& row, FileRows& rows) const {
  for (const auto& [column, value] : request_.where) {
    const auto at = at_.find(column);
    if (at == at_.end() || row.cells[at->second] == value) continue;
    rows.leave_out("not chosen by --where");
    if (auto& values = rows.not_chosen[column]; values.size() < 20) values.insert(row.cells[at->second]);
    return false;
  }
  return true;
}

const std::string& CsvColumns::text(const CsvRecord& row, const std::string& column) const {
  static const std::string kNone;
  const auto at = at_.find(column);
  return at == at_.end() ? kNone : row.cells[at->second];
}

Place CsvColumns::place(const CsvRecord& row, const std::string& column) const {
  // Finding a column takes a pass from the file's beginning: only the first errors have one.
  constexpr std::size_t kTold = 50;
  const auto at = at_.find(column);
  if (at == at_.end() || errors_.size() > kTold) return file_.at(row.line);
  return file_.at(row.line, csv_column(file_.text(), row.line, at->second));
}

std::optional<std::int64_t> CsvColumns::size(const CsvRecord& row, const std::string& column) {
  const std::size_t before = errors_.size();
  const auto size = read_size(text(row, column), column, {}, errors_);
  if (errors_.size() > before) errors_.back().place = place(row, column);
  return size;
}

std::optional<double> CsvColumns::number(const CsvRecord& row, const std::string& column) {
  const auto number = parse_number(text(row, column));
  if (!number || *number < 0)
    error(row, column,
          fmt::format("{} is \"{}\"; a number of at least 0 is expected", column, shown(text(row, column))));
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<Seconds> CsvColumns::time(const CsvRecord& row, const std::string& column, const TimeUnit& unit) {
  const std::size_t before = errors_.size();
  const auto time = read_time(text(row, column), unit, column, {}, errors_);
  if (errors_.size() > before) errors_.back().place = place(row, column);
  return time;
}

void CsvColumns::error(const CsvRecord& row, const std::string& column, const std::string& text) {
  errors_.push_back({place(row, column), text});
}

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

std::vector<std::string> InputFile::parts() const {
  std::vector<std::string> parts;
  for (const auto& part : fs::path(path())) parts.push_back(part.string());
  return parts;
}

InputFile read_input_file(const std::string& path) {
  const auto refuse = [&](const std::string& text) { throw InputError(whole_of(path), text); };
  std::error_code failed;
  const fs::file_type type = fs::status(path, failed).type();
  if (type == fs::file_type::directory) refuse("this is a folder; name the tables in it");
  if (type == fs::file_type::not_found) refuse("there is no such file; check the path");
  if (type != fs::file_type::regular) refuse("this is a device, a pipe or unreadable; a table is expected in a file");
  if (const auto size = fs::file_size(path, failed); failed || size > kMostBytes)
    refuse(fmt::format("the file has more than {} MiB; import a part of it", kMostBytes >> 20));
  std::ifstream stream = open_regular_file(path);
  std::ostringstream read;
  read << stream.rdbuf();
  std::string text = read.str();
  if (!stream || text.empty()) refuse("the file is empty or cannot be read; a table is expected");
  if (text.starts_with("version https://git-lfs."))
    refuse("this is a pointer of Git LFS, not the table; run git lfs pull where it comes from");
  if (text.starts_with("PK\x03\x04")) refuse("this is a spreadsheet or another archive; save its sheet as csv");
  if (text.find('\0') != std::string::npos) refuse("the file is not text; a table is expected");
  return {std::make_shared<Source>(Source{path, std::move(text)})};
}

std::vector<TextLine> text_lines(const InputFile& file) {
  std::vector<TextLine> lines;
  std::istringstream stream{std::string(without_byte_order_mark(file.text()))};
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    if (text.ends_with('\r')) text.pop_back();
    std::istringstream words(text);
    TextLine line{number, text, {}};
    for (std::string word; words >> word;) line.words.push_back(word);
    if (!line.words.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace slmsim
