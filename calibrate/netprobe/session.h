// One client's commands, carried out; see server.h for the protocol.
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
  // `key` is what data connections show; `most_bytes` is what all connections together may carry.
  Session(Connection control, std::string key, double most_bytes);

  const std::string& key() const { return key_; }
  const std::string& peer() const { return peer_; }
  int control() const { return control_.get(); }
  // While a command is carried out, a client that closes its connection has left.
  bool at_work() const { return at_work_; }
  // A data connection that said so; answers "ok". From the server's thread.
  void attach(const std::string& id, Connection connection);
  // From the server's thread: run() throws NetworkError with this reason within a fraction of a second.
  void end(const char* reason) { meter_.end(reason); }
  // Until the client leaves; throws NetworkError where it is lost.
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
