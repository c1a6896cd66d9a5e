// Tables of measurements as CSV with "# " comments above: one Column per member of a row.
//
// Enters: columns and rows, or a file. Leaves: the file, or its rows. A cell's digits are enough to tell two
// measurements apart; text is written as it stands, without quotes.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

namespace slmsim::wan {

// One column: its name and where its value lies.
template <typename Row>
struct Column {
  std::string name;
  std::function<std::string(const Row&)> write;
  std::function<void(Row&, const std::string&)> read;
};

template <typename Row, typename Place>
Column<Row> column(const std::string& name, Place place, int digits = 6) {
  using Value = std::remove_cvref_t<decltype(place(std::declval<Row&>()))>;
  Column<Row> made{name, {}, {}};
  if constexpr (std::is_same_v<Value, std::string>) {
    made.write = [place](const Row& row) { return place(const_cast<Row&>(row)); };
    made.read = [place](Row& row, const std::string& text) { place(row) = text; };
  } else if constexpr (std::is_floating_point_v<Value>) {
    made.write = [place, digits](const Row& row) {
      return fmt::format("{:.{}g}", place(const_cast<Row&>(row)), digits);
    };
    made.read = [place](Row& row, const std::string& text) { place(row) = std::stod(text); };
  } else {
    made.write = [place](const Row& row) { return fmt::format("{}", place(const_cast<Row&>(row))); };
    made.read = [place](Row& row, const std::string& text) { place(row) = static_cast<Value>(std::stoll(text)); };
  }
  return made;
}

template <typename Row>
void write_csv_header(std::ostream& out, const std::vector<Column<Row>>& columns,
                      const std::vector<std::string>& comments) {
  for (const auto& comment : comments) out << "# " << comment << '\n';
  const char* separator = "";
  for (const auto& column : columns) {
    out << separator << column.name;
    separator = ",";
  }
  out << '\n';
}

template <typename Row>
void write_csv_row(std::ostream& out, const std::vector<Column<Row>>& columns, const Row& row) {
  const char* separator = "";
  for (const auto& column : columns) {
    out << separator << column.write(row);
    separator = ",";
  }
  out << '\n' << std::flush;
}

// Throws std::runtime_error that names the line.
template <typename Row>
std::vector<Row> read_csv(std::istream& in, const std::vector<Column<Row>>& columns) {
  std::vector<Row> rows;
  bool headed = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    if (cells.size() != columns.size()) throw std::runtime_error(fmt::format("line {}: wrong number of cells", number));
    Row row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!headed && cells[i] != columns[i].name) {
        throw std::runtime_error(fmt::format("line {}: column {} instead of {}", number, cells[i], columns[i].name));
      }
      if (headed) columns[i].read(row, cells[i]);
    }
    if (headed) rows.push_back(row);
    headed = true;
  }
  return rows;
}

}  // namespace slmsim::wan
