// The page on a socket: the only part that handles the process's signals.
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
  std::size_t jobs = 1;             // largest number of helper processes at once
};

// Serves until SIGINT or SIGTERM. `ready` is called with the address and token once the page can be opened. Throws InputError
// where host and port cannot be bound.
void serve(const ServerOptions& options, const std::function<void(const std::string& address)>& ready);

}  // namespace slmsim::web
