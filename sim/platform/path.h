// A measured path between two hosts: a file of platforms/paths/, as slmsim-netprobe writes it (schema slmsim/path/1).
//
// Enters: the file's map; iperf3's JSON is made into one by as_path (iperf3.h). Leaves: what a link takes from it where it
// says nothing itself, and the curves that were measured. `client.tcp` and `server.tcp` hold the hosts' kernel settings
// under the keys of a VM type's `tcp`.
//
// Loss is the one of segments sent below the path's rate. What a transfer that fills the path sends again is its own
// congestion, which the simulator has from sharing the bandwidth; it stands in the curves and is not used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"

namespace slmsim {

// The rate of several connections together, after their slow start.
struct PathRate {
  int connections = 0;
  BytesPerSecond rate;  // median
  Bytes in_flight;      // the most that one connection had sent and not yet acknowledged; 0: not told
};

// A message over one connection, from its first byte sent to its last received.
struct PathPoint {
  Bytes size;
  Seconds time, least, most;  // median and spread
  Seconds pause;              // idleness before it; 0: the connection was new
};

struct PathDirection {
  BytesPerSecond bandwidth;  // of payload, the most that several connections reached
  double loss = 0;
  std::vector<PathRate> steady;
  std::vector<PathPoint> cold_start, after_idle;
};

struct PathProfile {
  std::string name;
  std::optional<Seconds> rtt;
  std::optional<Bytes> mtu;
  PathDirection forward, backward;  // from the client to the server, and back
};

// Notes errors of every key. Curves are read too, so that `slmsim check` finds what is wrong with them.
PathProfile read_path(const Node& node, const std::string& path, Reading& reading);

}  // namespace slmsim
