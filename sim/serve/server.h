// The page on a socket: the only place of it that knows the process's signals.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/serve/app.h"

namespace slmsim::web {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: a free one
  std::filesystem::path folder = ".";
  std::string open, version;
  std::vector<std::string> helper;  // the command of a process that calls help()
  std::size_t jobs = 1;             // helper processes at once
};

// Answers until SIGINT or SIGTERM. `ready` is told the address with the token once it can be opened. Throws InputError where
// host and port cannot be had.
void serve(const ServerOptions& options, const std::function<void(const std::string& address)>& ready);

}  // namespace slmsim::web
