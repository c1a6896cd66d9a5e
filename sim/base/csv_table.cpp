#include "sim/base/csv_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/csv_text.h"
#include "sim/base/quantity.h"
#include "sim/base/regular_file.h"

namespace slmsim {
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
    if (std::find(names.begin(), names.end(), needed) == names.end())
      throw InputError({source, 1, 1},
                       fmt::format("no column \"{}\"; a table such as {} is expected", needed, example));
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
