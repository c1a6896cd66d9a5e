// A socket that speaks HTTP. What calls the HTTP library is a library of its own (http_library.cpp), which is loaded where pages
// are served.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/serve/message.h"

namespace slmsim::web {

class Listener {
 public:
  // Throws std::logic_error where its library is not installed with the program.
  static std::unique_ptr<Listener> make();
  virtual ~Listener() = default;

  // The port that it has by now, where 0 asks for a free one; below 1: it cannot be had.
  virtual int bind(const std::string& host, int port) = 0;
  // On threads of its own, until stop(). What `refuses` says yes to is answered before anything of its body is read.
  virtual void start(std::function<bool(const Request&)> refuses, std::function<Response(const Request&)> answer) = 0;
  // Waits for what was begun.
  virtual void stop() = 0;
};

}  // namespace slmsim::web
