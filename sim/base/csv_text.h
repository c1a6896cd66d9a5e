// The records of a CSV text (RFC 4180): cells between commas, quoted where they hold commas, quotes ("") or line ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slmsim {

struct CsvRecord {
  int line = 0;  // on which it begins, from 1
  std::vector<std::string> cells;
};

// Empty lines are no records. A byte order mark and the carriage returns of line ends are dropped. A quote that nothing
// closes holds the rest of the text.
std::vector<CsvRecord> csv_records(std::string_view text);

// The column, in bytes from 1, at which a cell of the record on this line begins; 1 where the line has no such cell.
int csv_column(std::string_view text, int line, std::size_t cell);

}  // namespace slmsim
