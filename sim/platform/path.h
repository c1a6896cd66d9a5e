// A measured path between two hosts: a file of platforms/paths/, as slmsim-netprobe writes it (schema slmsim/path/1).
//
// Enters: the file's map; as_path converts iperf3's JSON. Leaves: defaults for a link that does not state
// its own values, and the measured curves. `client.tcp` and `server.tcp` hold the hosts' kernel settings under the keys
// of a VM type's `tcp`.
//
// Loss is measured with segments sent below the path's rate. Retransmissions of a transfer that fills the path are its
// own congestion, which the simulator models by sharing the bandwidth; they are kept in the curves and not used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/base/yaml.h"

namespace slmsim {

// The total rate of several connections after slow start.
struct PathRate {
  int connections = 0;
  BytesPerSecond rate;  // median
  Bytes in_flight;      // most bytes in flight of one connection; 0: not stated
};

// A message over one connection, from its first byte sent to its last received.
struct PathPoint {
  Bytes size;
  Seconds time, least, most;  // median and spread
  Seconds pause;              // idle time before it; 0: the connection was new
};

struct PathDirection {
  BytesPerSecond bandwidth;  // of payload, the highest over several connections
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

// Records errors of every key. Curves are read too, so that `slmsim check` finds their errors.
PathProfile read_path(const Node& node, const std::string& path, Reading& reading);

// iperf3's JSON (iperf3 -c HOST -J) as a path profile.
//
// bandwidth: end.sum_received.bits_per_second, including slow start unless iperf3 omitted it (-O). rtt: the least
// min_rtt of the senders, which iperf3 takes from the kernel's smoothed RTT once per interval, under load, so it
// includes the queue caused by the test; a link may state a better one. mtu: tcp_mss_default plus the headers.
// max_snd_cwnd and retransmits are kept in the curve. Loss is not taken: the test fills the path.

// The file itself where it states a schema. Throws InputError where it is neither a path profile nor iperf3's, and for
// runs without data of a path from client to server: failed ones, UDP, -R, --bidir, those too short to leave slow start,
// and those that reached a limit of their own (-b, -w).
Node as_path(Node file);

// Whether as_path can read the file.
bool is_path(const Node& file);

}  // namespace slmsim
