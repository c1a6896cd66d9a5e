#include "tests/wan/table.h"

#include <algorithm>

#include "tests/wan/csv.h"

namespace slmsim::wan {
namespace {

#define COLUMN(name, member) \
  column<Row>(               \
      name, [](Row & row) -> auto& { return row.member; })
const std::vector<Column<Row>>& columns() {
  static const std::vector<Column<Row>> all = {
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

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

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
  write_csv_header(out, columns(), comments);
}

void write_row(std::ostream& out, const Row& row) { write_csv_row(out, columns(), row); }

std::vector<Row> read_table(std::istream& in) { return read_csv(in, columns()); }

}  // namespace slmsim::wan
