// Executes one client's commands; see server.h for the protocol.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "calibrate/netprobe/socket.h"

namespace slmsim::calibrate::netprobe {

class Session {
 public:
  // `key` identifies data connections; `most_bytes` limits the bytes of all connections together.
  Session(Connection control, std::string key, double most_bytes);

  const std::string& key() const { return key_; }
  const std::string& peer() const { return peer_; }
  int control() const { return control_.get(); }
  // During a command, a client that closes its connection has left.
  bool at_work() const { return at_work_; }
  // Adds a data connection with this ID; answers "ok". Called from the server's thread.
  void attach(const std::string& id, Connection connection);
  // Called from the server's thread: run() throws NetworkError with this reason within a fraction of a second.
  void end(const char* reason) { meter_.end(reason); }
  // Runs until the client leaves; throws NetworkError where the client is lost.
  void run();

 private:
  void obey(const std::vector<std::string>& words);
  std::vector<Connection> take(const std::vector<std::string>& words, std::size_t first);
  void put(const std::string& id, Connection connection);

  Meter meter_;
  Connection control_;
  std::string key_, peer_;
  std::atomic<bool> at_work_ = false;
  std::mutex mutex_;
  std::map<std::string, Connection> data_;
};

}  // namespace slmsim::calibrate::netprobe
