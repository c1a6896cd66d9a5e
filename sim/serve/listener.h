// An HTTP listener. The code that calls the HTTP library is a separate library (http_library.cpp), loaded where pages are
// served.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/serve/message.h"

namespace slmsim::web {

class Listener {
 public:
  // Throws std::logic_error where that library is not installed with the program.
  static std::unique_ptr<Listener> make();
  virtual ~Listener() = default;

  // The bound port, also where 0 requests a free one; below 1: binding failed.
  virtual int bind(const std::string& host, int port) = 0;
  // Runs on its own threads, until stop(). Requests for which `refuses` returns true are answered before their body is read.
  virtual void start(std::function<bool(const Request&)> refuses, std::function<Response(const Request&)> answer) = 0;
  // Waits for open requests.
  virtual void stop() = 0;
};

}  // namespace slmsim::web
