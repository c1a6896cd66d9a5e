// A table as a CSV file holds it: a header and rows of as many cells, quoted where they hold commas.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace slmsim {

using CsvRow = std::map<std::string, std::string>;

// Throws InputError where the file is missing, lacks one of the columns or has a row of another length. `example` names a
// file as it should be.
std::vector<CsvRow> read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& columns,
                                   const std::string& example);

}  // namespace slmsim
