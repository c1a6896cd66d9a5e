// Work that was ended early, because whoever asked for it no longer wants it.
#pragma once

#include <exception>
#include <functional>

namespace slmsim {

class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

// Throws Stopped where `stop` says so; an empty one never does.
inline void stop_if(const std::function<bool()>& stop) {
  if (stop && stop()) throw Stopped();
}

}  // namespace slmsim
