#include "sim/base/csv.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"

namespace slmsim {

std::vector<CsvRecord> csv_records(std::string_view text) {
  text = without_byte_order_mark(text);
  std::vector<CsvRecord> records;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    CsvRecord record{line, {""}};
    bool quoted = false, empty = true;
    for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
      const char c = text[at];
      empty = empty && c == '\r';
      line += c == '\n';
      if (c == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
        record.cells.back() += text[++at];
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        record.cells.emplace_back();
      } else if (c != '\r' || quoted) {
        record.cells.back() += c;
      }
    }
    ++at;
    ++line;
    if (!empty) records.push_back(std::move(record));
  }
  return records;
}

int csv_column(std::string_view text, int line, std::size_t cell) {
  const std::string_view row = line_of(text, line);
  std::size_t at = 0;
  bool quoted = false;
  for (; cell > 0 && at < row.size(); ++at) {
    if (row[at] == '"') quoted = !quoted;
    if (row[at] == ',' && !quoted) --cell;
  }
  return cell == 0 ? static_cast<int>(at) + 1 : 1;
}

namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

}  // namespace

double TableRow::number(const std::string& column, double least, double most) const {
  const auto value = parse_number(text(column));
  if (!value || !(*value >= least) || *value > most)
    fail(fmt::format("{}: \"{}\" is not a number from {:g} to {:g}", column, text(column).substr(0, 64), least, most));
  return *value;
}

double TableRow::positive(const std::string& column, double most) const {
  const auto value = parse_number(text(column));
  if (!value || !(*value > 0) || *value > most)
    fail(fmt::format("{}: \"{}\" is not a number above 0 and up to {:g}", column, text(column).substr(0, 64), most));
  return *value;
}

int TableRow::count(const std::string& column, int most) const {
  const double value = positive(column, most);
  if (value != static_cast<int>(value)) fail(fmt::format("{}: {:g} is not a whole number", column, value));
  return static_cast<int>(value);
}

std::vector<TableRow> read_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                 const std::string& example) {
  const std::string text = read_regular_file(path, kMostBytes);
  const auto source = std::make_shared<Source>(Source{path.string(), ""});
  if (text.find('\0') != std::string::npos)
    throw InputError({source, 0, 0}, fmt::format("not a text file in UTF-8; a table such as {} is expected", example));
  const auto records = csv_records(text);
  if (records.empty())
    throw InputError({source, 0, 0}, fmt::format("the file is empty; a table such as {} is expected", example));
  const auto& names = records.front().cells;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw InputError({source, 1, csv_column(text, 1, i)},
                       fmt::format("duplicate column \"{}\"; name each once", printable(names[i]).substr(0, 64)));
  }
  for (const auto& needed : columns) {
    if (std::ranges::find(names, needed) != names.end()) continue;
    const auto same =
        std::ranges::find_if(names, [&](const std::string& name) { return lower_case(name) == lower_case(needed); });
    const bool separated = names.size() == 1 && names[0].find_first_of(";\t") != std::string::npos;
    throw InputError({source, 1, 1},
                     fmt::format("no column \"{}\"; {}", needed,
                                 same != names.end() ? fmt::format("\"{}\" must be in these letters", printable(*same))
                                 : separated         ? "commas separate cells, not tabs or semicolons"
                                                     : fmt::format("a table such as {} is expected", example)));
  }
  std::vector<TableRow> rows;
  for (std::size_t r = 1; r < records.size(); ++r) {
    const auto& [line, cells] = records[r];
    if (cells.size() != names.size())
      throw InputError({source, line, 1},
                       fmt::format("{} cells; the header names {}{}", cells.size(), names.size(),
                                   cells.size() == 1 && cells[0].find_first_of(";\t") != std::string::npos
                                       ? "; commas separate cells"
                                       : ""));
    CsvRow row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    rows.emplace_back(std::move(row), Place{source, line, 1});
  }
  return rows;
}

std::vector<CsvRow> read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                   const std::string& example) {
  std::vector<CsvRow> out;
  for (const TableRow& row : read_table(path, columns, example)) out.push_back(row.cells());
  return out;
}

}  // namespace slmsim
