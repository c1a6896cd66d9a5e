// Measurements between two hosts, as functions: the real ones come from connect_wire, tests supply their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/netprobe/flow.h"
#include "calibrate/netprobe/host.h"

namespace slmsim::calibrate::netprobe {

// Forward: from the client, where the program runs, to the server.
enum class Direction { kForward, kReverse };

struct Wire {
  std::function<double()> now;  // s, of a monotonic clock
  // Round trips of one byte over an established connection, s each.
  std::function<std::vector<double>(int count)> ping;
  // The smallest round trip that the kernel measured on that connection, s.
  std::function<double()> kernel_rtt;
  // One message over a new connection.
  std::function<Message(Direction, double bytes)> cold;
  // The same connection first sends `warm_up` bytes, then nothing for `timeouts` retransmission time-outs.
  std::function<Message(Direction, double warm_up, double timeouts, double bytes)> idle;
  std::function<Stream(Direction, int connections, double warm_up, double seconds, double pace)> stream;
};

struct Hosts {
  HostFacts client, server;
  std::string client_address, server_address;
};

// A session with a server: provides a Wire's functions. Throws NetworkError where nobody listens, another program or version
// does, it serves another client, or the token is wrong.
class Client {
 public:
  Client(std::string host, int port, const std::string& token);
  ~Client();

  Hosts hosts();
  // Valid as long as this client; its functions throw NetworkError where the server is lost.
  Wire wire();

 private:
  std::vector<std::string> answer(const std::string& verb, double patience);
  std::string open(Connection& connection);
  std::vector<std::string> open(std::vector<Connection>& connections, int count);
  Message transfer(Direction direction, const Connection& connection, const std::string& id, double bytes,
                   double pause);
  std::vector<double> ping(int count);

  std::string host_;
  int port_;
  Connection control_;
  std::string key_;  // of the session
  double rtt_ = 0;   // s, median of the pings
  int opened_ = 0;
};

}  // namespace slmsim::calibrate::netprobe
