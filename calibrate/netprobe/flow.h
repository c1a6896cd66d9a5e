// The sender's kernel statistics of a connection (TCP_INFO), and the duration of sending.
//
// Everything is measured by the sender, on either host, so that no two clocks are compared. The figures travel between the
// hosts as "name=number" words.
#pragma once

#include <string>
#include <vector>

#include "calibrate/netprobe/socket.h"

namespace slmsim::calibrate::netprobe {

struct Flow {
  double segment = 0, path_mtu = 0;        // B: tcpi_snd_mss, tcpi_pmtu
  double rto = 0, rtt = 0, least_rtt = 0;  // s
  double congestion = 0, threshold = 0;    // segments: tcpi_snd_cwnd, tcpi_snd_ssthresh
  double send_window = 0;                  // B that the receiver allows to be sent
  double in_flight = 0;                    // B sent and not acknowledged
  double acknowledged = 0;                 // B
  double segments = 0, retransmitted = 0;  // data segments sent; retransmitted ones
  double spurious = 0;                     // retransmitted segments that the receiver already had (DSACK)
  double busy = 0;                         // s with data to send
  double receive_limited = 0;              // s of `busy` limited by the receiver's window
  double buffer_limited = 0;               // s of `busy` limited by the sender's buffer
};
Flow sample(const Connection& connection);

// One message over one connection.
struct Message {
  double seconds = 0;         // from the first send() to the receiver's last byte
  double pause = 0;           // idle s before it
  double initial_window = 0;  // segments, of the new connection
  // State of the connection before it.
  double rto = 0, congestion_before = 0, threshold_before = 0;
  // Maximum during the message.
  double in_flight = 0, send_window = 0, congestion = 0;
  double segments = 0, retransmitted = 0;
};

// Several connections that send for a time; sums over all, except that windows are those of one connection.
struct Stream {
  double seconds = 0;                                     // measured, after the warm-up
  double bytes = 0;                                       // acknowledged in that time
  double first_half = 0;                                  // bytes of the first half: shows whether the rate was steady
  double in_flight = 0, send_window = 0, congestion = 0;  // maximum over the connections
  double segments = 0, retransmitted = 0, spurious = 0;
  double receive_limited = 0, buffer_limited = 0;  // shares of the busy time, mean over the connections
  double segment = 0, path_mtu = 0;                // B
};

// The receiver answers the last byte with one byte; half of `rtt` is subtracted for it.
Message send_message(const Connection& connection, double bytes, double pause, double rtt);
void receive_message(const Connection& connection, double bytes);

// Sends on all for `warm_up` + `seconds`, at most `pace` bytes per second together (0: no limit), then aborts them.
Stream send_stream(std::vector<Connection>& connections, double warm_up, double seconds, double pace);
void receive_stream(const std::vector<Connection*>& connections);

std::string to_words(const Message& message);
std::string to_words(const Stream& stream);
// Throw NetworkError where a figure is missing or not a number.
Message message_from(const std::vector<std::string>& words);
Stream stream_from(const std::vector<std::string>& words);

}  // namespace slmsim::calibrate::netprobe
