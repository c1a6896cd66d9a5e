// One TCP transfer over an emulated wide-area path, as a real kernel does it.
//
// Enters: a Case (path, kernel settings, sizes). Leaves: how long each repetition took, and what the sender's and the
// receiver's kernel said of their windows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/wan/relay.h"

namespace slmsim::wan {

// Conditions of a transfer; a row of results/tcp.csv begins with it.
struct Case {
  double rtt = 0;   // ms
  double rate = 0;  // Mbit/s, IP packets; 0: none
  double loss = 0;  // probability per packet towards the receiver
  int mtu = 1500;   // B
  std::string congestion = "cubic";
  std::int64_t wmem = 0, rmem = 0;     // B, the third values of tcp_wmem and tcp_rmem
  std::int64_t rmem_initial = 131072;  // B, tcp_rmem's second value: where the receiver's autotuning begins
  int connections = 1;
  std::int64_t warm_up = 0;   // B, sent and acknowledged before the measured transfer; 0: a new connection
  double pause_timeouts = 0;  // retransmission time-outs between the last byte of the warm-up and the transfer
  std::int64_t bytes = 0;     // of the transfer, over all connections

  bool operator==(const Case&) const = default;
};

// A connection, by TCP_INFO of its sender and receiver.
struct Window {
  int segment = 0;                                    // B, tcpi_snd_mss
  double rto = 0, rtt = 0, least_rtt = 0;             // s
  std::int64_t congestion = 0, slow_start_limit = 0;  // segments: tcpi_snd_cwnd, tcpi_snd_ssthresh
  std::int64_t send_window = 0;                       // B that the receiver lets the sender send
  std::int64_t in_flight = 0, queued = 0;             // B not acknowledged; B in the send buffer, those included
  std::int64_t send_buffer = 0, receive_buffer = 0;   // B, SO_SNDBUF and SO_RCVBUF as tuned
  std::int64_t retransmitted = 0;                     // segments
};

struct Sample {
  double seconds = 0;              // from the first send() to the receiver's last byte, over all connections
  double pause = 0;                // s, from the warm-up's last byte at the receiver to the first send()
  double path_rtt = 0;             // s, least that a ping of one byte took
  Window before, after_send;       // of the first connection: before the transfer, and just after its first send()
  std::vector<Window> during;      // of the first connection, every few milliseconds
  std::int64_t retransmitted = 0;  // segments, all connections, warm-up included
};

Sample transfer(const Case& what, std::uint64_t seed);

// Gives a host the case's kernel settings; connections that it then makes know nothing of those before.
void settle(const Host& host, const Case& what);
// s, the least that a ping of one byte took over a new connection.
double round_trip(const Host& from, const Host& to);

}  // namespace slmsim::wan
