// The stored measurements of Gloo's collectives: one row per point, in results/collectives.csv.
//
// Enters: samples, or the file. Leaves: the file, or its rows. Sizes are bytes; a column names its unit otherwise.
#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/wan/transfer.h"

namespace slmsim::wan {

// Shares of the bytes that crossed the wide-area path in one direction; when they had is part of a sample.
inline constexpr std::array kShares = {0.1, 0.3, 0.5, 0.7, 0.9};

// A collective among `ranks` processes, the first half of them on one host, the others on the other.
struct CollectiveCase {
  // allreduce, allgather, reducescatter; sendrecv: from the first rank of one host to the first of the other;
  // localsend: from the first rank of a host to the second, to know what this machine's loopback is like
  std::string collective;
  int ranks = 4;
  Case path;  // path.bytes: of the buffer that is reduced, gathered or sent; warm_up and connections do not count

  bool operator==(const CollectiveCase&) const = default;
};

struct CollectiveSample {
  double seconds = 0;                                        // from the common start to the last rank's end
  double first_rank = 0;                                     // s, from the start to the first rank's end
  double pause = 0;                                          // s, since the run before ended; 0: on new connections
  std::array<double, kShares.size()> forward{}, backward{};  // s, when kShares had arrived at the other host
};

struct CollectiveRow {
  CollectiveCase what;
  std::string state;  // cold: the first run on new connections; warm: the second
  int repeats = 0;
  double median = 0, least = 0, most = 0;                    // s
  double path_rtt = 0;                                       // ms, least of all pings
  double first_rank = 0, pause = 0;                          // s, medians
  std::array<double, kShares.size()> forward{}, backward{};  // s, medians
};

CollectiveRow row_of(const CollectiveCase& what, const std::string& state, double path_rtt,
                     const std::vector<CollectiveSample>& samples);

// `comments` stand above the table, each behind "# ".
void write_collective_header(std::ostream& out, const std::vector<std::string>& comments);
void write_row(std::ostream& out, const CollectiveRow& row);
// Throws std::runtime_error that names the line.
std::vector<CollectiveRow> read_collectives(std::istream& in);

}  // namespace slmsim::wan
