// The stored measurements of who gets how much of a shared NIC: one row per point, in results/nic_sharing.csv.
//
// Enters: samples, or the file. Leaves: the file, or its rows.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tests/wan/nic.h"

namespace slmsim::wan {

// The repetitions of one point, as medians.
struct SharingRow {
  Sharing what;
  int repeats = 0;
  double near = 0, far = 0;            // Mbit/s of payload, all connections of each
  double far_least = 0, far_most = 0;  // Mbit/s
  double far_ping = 0;                 // ms, on the idle path
  std::uint64_t dropped = 0;           // packets, of all repetitions
};

SharingRow row_of(const Sharing& what, const std::vector<Shares>& samples);

// `comments` stand above the table, each behind "# ".
void write_sharing_header(std::ostream& out, const std::vector<std::string>& comments);
void write_row(std::ostream& out, const SharingRow& row);
// Throws std::runtime_error that names the line.
std::vector<SharingRow> read_sharing(std::istream& in);

}  // namespace slmsim::wan
