#include "calibrate/netprobe/meter.h"

#include "calibrate/netprobe/failure.h"

namespace slmsim::calibrate::netprobe {

void Meter::check() const {
  if (const char* reason = reason_) throw NetworkError(reason);
}

void Meter::count(double bytes) {
  double before = bytes_;
  while (!bytes_.compare_exchange_weak(before, before + bytes)) {
  }
  if (before + bytes > most_bytes_) end("the session has reached its byte limit (--max-bytes)");
  check();
}

}  // namespace slmsim::calibrate::netprobe
