// The stored measurements: one row per point, in results/tcp.csv.
//
// Enters: samples, or the file. Leaves: the file, or its rows. Sizes are bytes; a column names its unit otherwise.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tests/wan/transfer.h"

namespace slmsim::wan {

// The repetitions of one point, as medians.
struct Row {
  std::string group;  // what the point is there for: cold, warm, idle, ...
  Case what;
  int repeats = 0;
  double median = 0, least = 0, most = 0;                    // s
  double pause = 0;                                          // s
  double path_rtt = 0;                                       // ms, least of all pings
  int segment = 0;                                           // B
  double rto = 0;                                            // ms
  std::int64_t congestion_before = 0, congestion_after = 0;  // segments, before and after the first send()
  std::int64_t slow_start_limit = 0;                         // segments, after the first send()
  std::int64_t most_in_flight = 0, most_receive_window = 0;  // B, one connection
  std::int64_t retransmitted = 0;                            // segments, of all repetitions

  bool operator==(const Row&) const = default;
};

double median(std::vector<double> values);  // 0 without values

Row row_of(const std::string& group, const Case& what, const std::vector<Sample>& samples);

// `comments` stand above the table, each behind "# ".
void write_header(std::ostream& out, const std::vector<std::string>& comments);
void write_row(std::ostream& out, const Row& row);
// Throws std::runtime_error that names the line.
std::vector<Row> read_table(std::istream& in);

}  // namespace slmsim::wan
