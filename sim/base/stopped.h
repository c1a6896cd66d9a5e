// Cancellation of work whose result is no longer wanted.
#pragma once

#include <exception>
#include <functional>

namespace slmsim {

class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

// Throws Stopped if `stop` returns true; an empty `stop` never throws.
inline void stop_if(const std::function<bool()>& stop) {
  if (stop && stop()) throw Stopped();
}

}  // namespace slmsim
