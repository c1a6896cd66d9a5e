#include "tests/wan/table.h"

#include <algorithm>
#include <functional>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace slmsim::wan {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// One column: its name and where its value lies.
struct Column {
  const char* name;
  std::function<std::string(const Row&)> write;
  std::function<void(Row&, const std::string&)> read;
};

template <typename Place>
Column column(const char* name, Place place, int digits = 6) {
  using Value = std::remove_cvref_t<decltype(place(std::declval<Row&>()))>;
  Column made{name, {}, {}};
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

#define COLUMN(name, member) \
  column(                    \
      name, [](Row & row) -> auto& { return row.member; })
const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      COLUMN("group", group),
      COLUMN("rtt_ms", what.rtt),
      COLUMN("rate_mbps", what.rate),
      COLUMN("loss", what.loss),
      COLUMN("mtu", what.mtu),
      COLUMN("congestion", what.congestion),
      COLUMN("wmem", what.wmem),
      COLUMN("rmem_initial", what.rmem_initial),
      COLUMN("rmem", what.rmem),
      COLUMN("connections", what.connections),
      COLUMN("warm_up", what.warm_up),
      COLUMN("pause_timeouts", what.pause_timeouts),
      COLUMN("bytes", what.bytes),
      COLUMN("repeats", repeats),
      COLUMN("median_s", median),
      COLUMN("least_s", least),
      COLUMN("most_s", most),
      COLUMN("pause_s", pause),
      COLUMN("path_rtt_ms", path_rtt),
      COLUMN("segment", segment),
      COLUMN("rto_ms", rto),
      COLUMN("cwnd_before", congestion_before),
      COLUMN("cwnd_after", congestion_after),
      COLUMN("ssthresh_after", slow_start_limit),
      COLUMN("most_in_flight", most_in_flight),
      COLUMN("most_receive_window", most_receive_window),
      COLUMN("retransmitted", retransmitted),
  };
  return all;
}
#undef COLUMN

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

Row row_of(const std::string& group, const Case& what, const std::vector<Sample>& samples) {
  const auto middle = [&](auto value) {
    std::vector<double> values;
    for (const auto& sample : samples) values.push_back(static_cast<double>(value(sample)));
    return median(values);
  };
  const auto middle_count = [&](auto value) { return static_cast<std::int64_t>(middle(value)); };
  Row row{.group = group, .what = what, .repeats = static_cast<int>(samples.size())};
  row.median = middle([](const Sample& s) { return s.seconds; });
  row.pause = middle([](const Sample& s) { return s.pause; });
  row.segment = samples.front().before.segment;
  row.rto = middle([](const Sample& s) { return s.before.rto * 1e3; });
  row.congestion_before = middle_count([](const Sample& s) { return s.before.congestion; });
  row.congestion_after = middle_count([](const Sample& s) { return s.after_send.congestion; });
  row.slow_start_limit = middle_count([](const Sample& s) { return s.after_send.slow_start_limit; });
  row.least = row.most = samples.front().seconds;
  row.path_rtt = samples.front().path_rtt * 1e3;
  for (const auto& sample : samples) {
    row.least = std::min(row.least, sample.seconds);
    row.most = std::max(row.most, sample.seconds);
    row.path_rtt = std::min(row.path_rtt, sample.path_rtt * 1e3);
    row.retransmitted += sample.retransmitted;
    for (const auto& window : sample.during) {
      row.most_in_flight = std::max(row.most_in_flight, window.in_flight);
      row.most_receive_window = std::max(row.most_receive_window, window.send_window);
    }
  }
  return row;
}

void write_header(std::ostream& out, const std::vector<std::string>& comments) {
  for (const auto& comment : comments) out << "# " << comment << '\n';
  const char* separator = "";
  for (const auto& column : columns()) {
    out << separator << column.name;
    separator = ",";
  }
  out << '\n';
}

void write_row(std::ostream& out, const Row& row) {
  const char* separator = "";
  for (const auto& column : columns()) {
    out << separator << column.write(row);
    separator = ",";
  }
  out << '\n' << std::flush;
}

std::vector<Row> read_table(std::istream& in) {
  std::vector<Row> rows;
  bool headed = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const auto cells = split(line);
    if (cells.size() != columns().size())
      throw std::runtime_error(fmt::format("line {}: wrong number of cells", number));
    Row row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!headed && cells[i] != columns()[i].name) {
        throw std::runtime_error(fmt::format("line {}: column {} instead of {}", number, cells[i], columns()[i].name));
      }
      if (headed) columns()[i].read(row, cells[i]);
    }
    if (headed) rows.push_back(row);
    headed = true;
  }
  return rows;
}

}  // namespace slmsim::wan
