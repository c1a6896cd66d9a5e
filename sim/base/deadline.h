// Limit on time: a number of seconds that begins when the limit is made.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace slmsim {

class Deadline {
 public:
  Deadline() = default;  // never
  explicit Deadline(double seconds) : seconds_(seconds) {}
  // As users give it: 0 for none.
  static Deadline of_limit(double seconds) { return seconds > 0 ? Deadline(seconds) : Deadline(); }

  // Whether this share of the time has passed.
  bool is_over(double share = 1) const { return passed() >= share * seconds_; }
  double left() const { return std::max(0.0, seconds_ - passed()); }

 private:
  using Clock = std::chrono::steady_clock;

  double passed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  Clock::time_point start_ = Clock::now();
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace slmsim
