// A table with a header line, read by column name; every invalid cell is an error with its place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/csv.h"
#include "sim/import/measurement/file_rows.h"
#include "sim/import/measurement/input_file.h"

namespace slmsim {

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

}  // namespace slmsim
