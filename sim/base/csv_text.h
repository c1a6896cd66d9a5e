// The records of a CSV text (RFC 4180): cells between commas, quoted where they hold commas, quotes ("") or line ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace slmsim
