#include "sim/base/csv_table.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace slmsim {
namespace {

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace

std::vector<CsvRow> read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                   const std::string& example) {
  std::ifstream file(path);
  const auto source = std::make_shared<Source>(Source{path.string(), ""});
  std::string line;
  if (!std::getline(file, line))
    throw InputError({source, 0, 0}, "no such file, or it is empty; a table of published facts is expected");
  const auto names = split_csv(line);
  for (const auto& needed : columns) {
    if (std::find(names.begin(), names.end(), needed) == names.end())
      throw InputError({source, 1, 1},
                       fmt::format("no column \"{}\"; a table such as {} is expected", needed, example));
  }
  std::vector<CsvRow> rows;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const auto cells = split_csv(line);
    if (cells.size() != names.size())
      throw InputError({source, number, 1}, fmt::format("{} cells; the header names {}", cells.size(), names.size()));
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

}  // namespace slmsim
