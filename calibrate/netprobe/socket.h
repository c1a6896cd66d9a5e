// TCP connections that never wait forever: every wait ends after kPatience without progress.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/common/descriptor.h"
#include "calibrate/netprobe/meter.h"

namespace slmsim::calibrate::netprobe {

inline constexpr double kPatience = 15;     // s without progress after which the other host counts as lost
inline constexpr double kLeastRate = 1000;  // B/s; slower messages are given up
inline constexpr std::size_t kPiece = std::size_t{256} * 1024;  // bytes per send() and recv()
inline constexpr std::size_t kLongestLine = 4096;               // bytes of a line of the protocol
inline constexpr int kDefaultPort = 5210;

class Connection {
 public:
  Connection() = default;
  // Sets TCP_NODELAY, and lets the kernel give up on unacknowledged data.
  explicit Connection(Descriptor socket);

  int get() const { return socket_.get(); }
  // From now on every wait of this connection ends with the session, and its bytes count. `meter` outlives it.
  void count_with(Meter& meter) { meter_ = &meter; }
  void count(double bytes) const {
    if (meter_) meter_->count(bytes);
  }
  // The initial congestion window, segments.
  double initial_window() const { return initial_window_; }
  // Throw NetworkError where the peer is gone or makes no progress.
  void send_text(const std::string& text) const;
  void send_bytes(double bytes) const;  // zeros; whole numbers, as below
  // Any bytes; after kPatience they must arrive at kLeastRate or faster.
  void receive_bytes(double bytes) const;
  // Receives until the peer ends the stream by any means. A reset may be lost, so silence for kPatience / 3 after the first
  // byte ends it too.
  void drain() const;
  // Reads up to a newline, which is removed. `patience`: s until the line begins; its rest must arrive within kPatience.
  std::string read_line(double patience = kPatience) const;
  bool wait_readable(double seconds) const;
  bool wait_writable(double seconds) const;
  // Waits, but throws NetworkError where the peer closes the connection meanwhile.
  void rest(double seconds) const;
  // Closes with RST: data in flight are dropped, and the kernel does not keep the connection's slow-start threshold for the
  // next one (tcp_metrics), so that each starts like the first.
  void abort();

 private:
  bool wait(short event, double seconds) const;
  void send_some(const char* data, std::size_t size, std::size_t& sent) const;

  Descriptor socket_;
  double initial_window_ = 0;
  Meter* meter_ = nullptr;
};

// Connects to a name or an address, IPv4 or IPv6, the first that answers.
Connection connect_to(const std::string& host, int port);
// Listens on an address, or on all (both protocols) where it is empty. Port 0 takes a free one.
Descriptor listen_on(const std::string& address, int port);
int port_of(const Descriptor& listener);
// "10.0.0.1", "fe80::1"; without the port.
std::string peer_of(int socket);
std::string own_address_of(int socket);

}  // namespace slmsim::calibrate::netprobe
