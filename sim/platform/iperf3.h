// iperf3's JSON (iperf3 -c HOST -J) as a path profile.
//
// bandwidth: end.sum_received.bits_per_second, including slow start unless iperf3 omitted it (-O). rtt: the least
// min_rtt of the senders, which iperf3 takes from the kernel's smoothed RTT once per interval, under load, so it
// includes the queue caused by the test; a link may state a better one. mtu: tcp_mss_default plus the headers.
// max_snd_cwnd and retransmits are kept in the curve. Loss is not taken: the test fills the path.
#pragma once

#include "sim/base/yaml.h"

namespace slmsim {

// The file itself where it states a schema. Throws InputError where it is neither a path profile nor iperf3's, and for
// runs without data of a path from client to server: failed ones, UDP, -R, --bidir.
Node as_path(Node file);

// Whether as_path can read the file.
bool is_path(const Node& file);

}  // namespace slmsim
