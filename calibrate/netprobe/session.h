// One client's commands, carried out; see server.h for the protocol.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "calibrate/netprobe/socket.h"

namespace slmsim::calibrate::netprobe {

class Session {
 public:
  Session(Connection control, std::string token) : control_(std::move(control)), token_(std::move(token)) {}

  const std::string& token() const { return token_; }
  // A data connection that said so; answers "ok". From the server's thread.
  void attach(const std::string& id, Connection connection);
  // Until the client leaves; throws NetworkError where it is lost.
  void run();

 private:
  void obey(const std::vector<std::string>& words);
  std::vector<Connection> take(const std::vector<std::string>& words, std::size_t first);
  void put(const std::string& id, Connection connection);

  Connection control_;
  std::string token_;
  std::mutex mutex_;
  std::map<std::string, Connection> data_;
};

}  // namespace slmsim::calibrate::netprobe
