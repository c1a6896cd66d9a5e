// TCP connections that never wait for ever: every wait ends after kPatience without progress.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/common/descriptor.h"
#include "calibrate/netprobe/meter.h"

namespace slmsim::calibrate::netprobe {

inline constexpr double kPatience = 15;     // s without progress, after which the other host is lost
inline constexpr double kLeastRate = 1000;  // B/s; a message that comes more slowly is given up
inline constexpr std::size_t kPiece = std::size_t{256} * 1024;  // bytes per send() and recv()
inline constexpr std::size_t kLongestLine = 4096;               // bytes of a line of the protocol
inline constexpr int kDefaultPort = 5210;

class Connection {
 public:
  Connection() = default;
  // Sets TCP_NODELAY, and lets the kernel give up on data that nobody acknowledges.
  explicit Connection(Descriptor socket);

  int get() const { return socket_.get(); }
  // From now on every wait of this connection ends with the session, and what passes counts. `meter` outlives it.
  void count_with(Meter& meter) { meter_ = &meter; }
  void count(double bytes) const {
    if (meter_) meter_->count(bytes);
  }
  // The congestion window with which it began, segments.
  double initial_window() const { return initial_window_; }
  // Throw NetworkError where the peer is gone or makes no progress.
  void send_text(const std::string& text) const;
  void send_bytes(double bytes) const;  // zeros; whole numbers, as below
  // Whatever they are; they must come at kLeastRate at least, after kPatience.
  void receive_bytes(double bytes) const;
  // Until the peer ends the stream, by whatever means. A reset may be lost on its way, so silence for kPatience / 3
  // ends it too, once something came.
  void drain() const;
  // Up to a newline, which is taken off. `patience`: s until the line begins; its rest must come within kPatience.
  std::string read_line(double patience = kPatience) const;
  bool wait_readable(double seconds) const;
  bool wait_writable(double seconds) const;
  // Lets the time pass, but throws NetworkError where the peer closes the connection meanwhile.
  void rest(double seconds) const;
  // Closes with RST: what is on its way is dropped, and the kernel does not remember the connection's slow-start
  // threshold for the next one (tcp_metrics), so that each starts as the first did.
  void abort();

 private:
  bool wait(short event, double seconds) const;
  void send_some(const char* data, std::size_t size, std::size_t& sent) const;

  Descriptor socket_;
  double initial_window_ = 0;
  Meter* meter_ = nullptr;
};

// To a name or an address, IPv4 or IPv6, the first that answers.
Connection connect_to(const std::string& host, int port);
// On an address, or on all (both protocols) where it is empty. Port 0 takes a free one.
Descriptor listen_on(const std::string& address, int port);
int port_of(const Descriptor& listener);
// "10.0.0.1", "fe80::1"; without the port.
std::string peer_of(int socket);
std::string own_address_of(int socket);

}  // namespace slmsim::calibrate::netprobe
