// The formats that profiles are made from: one row each, used by `slmsim import --help`, `slmsim list formats` and "did you
// mean". Each format is one file in this folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// A file that another program wrote, and its name for messages.

struct InputFile {
  std::shared_ptr<const Source> source;  // its name is the path as the user typed it

  const std::string& path() const { return source->name; }
  std::string_view text() const { return source->text; }
  Place at(int line, int column = 1) const { return {source, line, column}; }
  // The parts of the path, the file's name last.
  std::vector<std::string> parts() const;
};

// Throws InputError where the file does not exist, is a folder or a device, is too large, or is not text: a spreadsheet, or a
// Git LFS pointer.
InputFile read_input_file(const std::string& path);

// The lines of a text that a program printed for people, as words between spaces.
struct TextLine {
  int number = 0;  // from 1
  std::string text;
  std::vector<std::string> words;
};

// Lines without words are left out; so are a byte order mark and the carriage returns of line ends.
std::vector<TextLine> text_lines(const InputFile& file);

// Rows that a format's reader takes from one file, and the rows it leaves out, with reasons.

// One time of the file. A time of several kernels, such as a backward pass of two products, is divided equally. The kernel's
// name may be unknown to slmsim; gather() counts those.
struct KernelTime {
  std::string gpu;  // as the table names it; empty where it does not name one
  Precision precision = Precision::kFp32;
  std::vector<KernelShape> shapes;
  Seconds time;
  int line = 0;  // in the file
};

struct CollectiveTime {
  std::string gpu;
  std::string name;  // "all-reduce", as in profiles
  std::int64_t ranks = 0, hosts = 1;
  Bytes size;  // as nccl-tests count it: the whole buffer
  Seconds time;
  int line = 0;
};

struct FileRows {
  std::vector<KernelTime> kernels;
  std::vector<CollectiveTime> collectives;
  std::map<std::string, std::size_t> left_out;              // reason: number of times
  std::map<std::string, std::set<std::string>> not_chosen;  // values that --where left out, by column
  std::map<std::string, std::size_t> unknown;               // number of times, by name of the unknown kernel
  std::set<std::string> remarks;

  void leave_out(const std::string& why, std::size_t times = 1) { left_out[why] += times; }
};

// The user's options beside the files.
struct ImportRequest {
  struct Choice {
    std::string column, value;
  };
  std::optional<Precision> precision;
  std::vector<Choice> where;
  std::optional<Seconds> least;  // shorter times are left out
  bool mixed = false;            // for collectives: GPUs of several kinds may take part
  std::string shapes;            // a file that maps kernel names to slmsim's kernels
};

// "half", "float16", "torch.float32" and the like; nothing for precisions that slmsim does not train in, such as fp8.
std::optional<Precision> precision_called(std::string_view name);
// A collective by a profile's name: "all_reduce" is all-reduce; nothing for collectives without a profile, such as alltoall.
std::optional<std::string> collective_called(std::string_view name);

// y = x W of a PyTorch Linear, whose weights are stored as n x k, so that the product is nt.
inline KernelShape linear_kernel(std::int64_t m, std::int64_t n, std::int64_t k) { return {"gemm-nt", 1, m, n, k}; }

// A table with a header line, read by column name; every invalid cell is an error with its place.

struct TimeUnit {
  const char* name;
  Seconds one;
};
inline constexpr TimeUnit kSecond{"s", {1}}, kMillisecond{"ms", {1e-3}}, kMicrosecond{"us", {1e-6}},
    kNanosecond{"ns", {1e-9}};

// Read a time that a kernel or collective could take, or a size from 1 to 2^50, as profiles hold them; nothing, and an error,
// where the text is invalid. `what` names the value in the error.
std::optional<Seconds> read_time(const std::string& text, const TimeUnit& unit, const std::string& what,
                                 const Place& at, std::vector<Error>& errors);
std::optional<std::int64_t> read_size(const std::string& text, const std::string& what, const Place& at,
                                      std::vector<Error>& errors);

class CsvColumns {
 public:
  using Headers = std::vector<std::vector<std::string>>;

  // `headers`: columns of each kind of table of the format. Where none fits, form() is nothing. Lines above the header are
  // skipped: some programs print their progress there. Rows that the request does not choose are dropped and counted in `rows`.
  CsvColumns(InputFile file, const Headers& headers, const ImportRequest& request, FileRows& rows,
             std::vector<Error>& errors);

  std::optional<std::size_t> form() const { return form_; }
  const std::vector<std::string>& names() const { return names_; }
  int header_line() const { return header_line_; }
  const std::vector<CsvRecord>& rows() const { return rows_; }
  const InputFile& file() const { return file_; }
  const ImportRequest& request() const { return request_; }
  std::vector<Error>& errors() { return errors_; }

  bool has(const std::string& column) const { return at_.contains(column); }
  // A cell's text; empty where the column does not exist.
  const std::string& text(const CsvRecord& row, const std::string& column) const;
  std::optional<std::int64_t> size(const CsvRecord& row, const std::string& column);
  std::optional<double> number(const CsvRecord& row, const std::string& column);
  std::optional<Seconds> time(const CsvRecord& row, const std::string& column, const TimeUnit& unit);
  void error(const CsvRecord& row, const std::string& column, const std::string& text);

 private:
  Place place(const CsvRecord& row, const std::string& column) const;
  void find_header(const std::vector<CsvRecord>& records, const Headers& headers);
  bool chosen(const CsvRecord& row, FileRows& rows) const;

  InputFile file_;
  const ImportRequest& request_;
  std::vector<Error>& errors_;
  std::optional<std::size_t> form_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> at_;
  std::size_t header_ = 0;  // among the records
  int header_line_ = 1;
  std::vector<CsvRecord> rows_;
};

struct ImportFormat {
  const char* name;
  const char* about;    // a sentence
  const char* columns;  // contents of a file, as text
  // For tables: the columns of each kind of table, and its reader.
  CsvColumns::Headers headers;
  void (*read_table)(CsvColumns& table, FileRows& rows);
  // For other files.
  void (*read_text)(const InputFile& file, const ImportRequest& request, FileRows& rows, std::vector<Error>& errors);
  // Shorter times measure the host's launches rather than the kernel; zero where the measurement excludes them.
  Seconds least{};
  // Each launch was timed by itself: the shortest time of a table is that of a launch and the wait for it, and every time
  // includes it.
  bool single_launches = false;
};

ImportFormat aceso_format();
ImportFormat aiconfigurator_format();
ImportFormat csv_format();
ImportFormat deepbench_format();
ImportFormat nccl_tests_format();
ImportFormat neusight_format();
ImportFormat nsys_format();
ImportFormat sailor_format();
ImportFormat vidur_format();

const std::vector<ImportFormat>& import_formats();
// Throws InputError where no format has this name.
const ImportFormat& import_format(const std::string& name);

}  // namespace slmsim
