// CSV: the records of a text (RFC 4180), cells between commas, quoted where they hold commas, quotes ("") or line ends; and
// tables read from files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace slmsim {

struct CsvRecord {
  int line = 0;  // line of its first cell, from 1
  std::vector<std::string> cells;
};

// Empty lines are skipped. A byte order mark and carriage returns at line ends are dropped. An unclosed quote runs to
// the end of the text.
std::vector<CsvRecord> csv_records(std::string_view text);

// The column, in bytes from 1, at which a cell of the record on this line begins; 1 where the line has no such cell.
int csv_column(std::string_view text, int line, std::size_t cell);

// A CSV table: a header and rows with one cell per column, quoted where they hold commas.
using CsvRow = std::map<std::string, std::string>;

// A row with its place. Errors in it name the file and the line.
class TableRow {
 public:
  TableRow(CsvRow cells, Place place) : cells_(std::move(cells)), place_(std::move(place)) {}

  const std::string& text(const std::string& column) const { return cells_.at(column); }
  // A number within these bounds, or above 0. Throws InputError where the cell holds no such number.
  double number(const std::string& column, double least, double most) const;
  double positive(const std::string& column, double most) const;
  int count(const std::string& column, int most) const;  // whole and above 0
  const CsvRow& cells() const { return cells_; }
  const Place& place() const { return place_; }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place_, what); }

 private:
  CsvRow cells_;
  Place place_;
};

// Throws InputError where the file is missing, lacks one of the columns or has a row of another length. `example` names a
// valid file.
std::vector<TableRow> read_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                 const std::string& example);
// The same rows without their places.
std::vector<CsvRow> read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                   const std::string& example);

}  // namespace slmsim
