#include "sim/base/csv_table.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "sim/base/csv_text.h"
#include "sim/base/error.h"

namespace slmsim {

std::vector<CsvRow> read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                   const std::string& example) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const auto source = std::make_shared<Source>(Source{path.string(), ""});
  const auto records = csv_records(text.str());
  if (records.empty())
    throw InputError({source, 0, 0},
                     fmt::format("no such file, or it is empty; a table such as {} is expected", example));
  const auto& names = records.front().cells;
  for (const auto& needed : columns) {
    if (std::find(names.begin(), names.end(), needed) == names.end())
      throw InputError({source, 1, 1},
                       fmt::format("no column \"{}\"; a table such as {} is expected", needed, example));
  }
  std::vector<CsvRow> rows;
  for (std::size_t r = 1; r < records.size(); ++r) {
    const auto& [line, cells] = records[r];
    if (cells.size() != names.size())
      throw InputError({source, line, 1},
                       fmt::format("{} cells; the header names {}{}", cells.size(), names.size(),
                                   cells.size() == 1 && cells[0].find_first_of(";\t") != std::string::npos
                                       ? "; commas separate cells"
                                       : ""));
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

}  // namespace slmsim
