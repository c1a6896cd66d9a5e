// iperf3's JSON (iperf3 -c HOST -J) as a path profile.
//
// bandwidth: end.sum_received.bits_per_second, with the slow start in it unless iperf3 was told to omit that (-O). rtt:
// the least min_rtt of the senders, which iperf3 takes from the kernel's smoothed RTT once per interval, under load, so
// that it holds the queue that the test made; a link may state a better one. mtu: tcp_mss_default plus the headers.
// max_snd_cwnd and retransmits stand in the curve. Loss is not taken: the test fills the path.
#pragma once

#include "sim/base/yaml.h"

namespace slmsim {

// The file itself where it states a schema. Throws InputError for what is neither a path profile nor iperf3's, and for
// runs that tell nothing of a path from the client to the server: failed ones, UDP, -R, --bidir.
Node as_path(Node file);

// Whether the file is of a kind that as_path means to read.
bool is_path(const Node& file);

}  // namespace slmsim
