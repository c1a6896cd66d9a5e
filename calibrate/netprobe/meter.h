// Usage of a server's session against its limits: bytes over all its connections, and time. Connections check it wherever they
// wait or send, so that a session ends whatever the client does.
#pragma once

#include <atomic>

namespace slmsim::calibrate::netprobe {

class Meter {
 public:
  explicit Meter(double most_bytes) : most_bytes_(most_bytes) {}

  // May be called from any thread; the first reason stays.
  void end(const char* reason) {
    const char* none = nullptr;
    reason_.compare_exchange_strong(none, reason);
  }
  bool ended() const { return reason_ != nullptr; }
  // Throws NetworkError with the reason once the session has ended.
  void check() const;
  // Bytes that were sent or received.
  void count(double bytes);

 private:
  const double most_bytes_;
  std::atomic<double> bytes_ = 0;
  std::atomic<const char*> reason_ = nullptr;
};

}  // namespace slmsim::calibrate::netprobe
