// A collective on a ring as one task: its transfers follow from its sizes, and are neither stored nor looked up.
//
// In each of its pieces' steps every rank sends to the next one what it has received in the step before. A graph has such
// tasks where the caller can do without the times of single transfers (LowerRequest::ring_calls), and simulates them only in
// order (in_order.h).
#pragma once

#include <cstdint>
#include <vector>

namespace slmsim {

// A task has one predecessor per rank, after which the rank takes part. The tasks after it, one per rank, end when the ranks
// have their results.
struct RingCall {
  std::vector<int> connections;  // from rank r to rank r + 1
  int steps = 0;                 // per piece
  std::int64_t pieces = 1;
  double bytes = 0, last_bytes = 0;         // of a transfer; of the last piece
  std::vector<double> copies, last_copies;  // s after a piece's last step, per rank; empty: none

  double bytes_of(std::int64_t piece) const { return piece + 1 < pieces ? bytes : last_bytes; }
  // Whether a connection's last transfer waits for its own rank too.
  bool ends_early() const { return steps * pieces <= static_cast<std::int64_t>(connections.size()); }
};

// Time during which a connection carries transfers of such a call, until the last one's arrival.
struct RingSpan {
  int connection = 0;
  double start = 0, finish = 0;  // s
};

}  // namespace slmsim
