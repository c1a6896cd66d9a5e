// Long work: its cancellation, and loops in parallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace slmsim {

class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

// Throws Stopped if `stop` returns true; an empty `stop` never throws.
inline void stop_if(const std::function<bool()>& stop) {
  if (stop && stop()) throw Stopped();
}

// Runs work(0), ..., work(count - 1), each once, on this thread and at most `threads` - 1 others; fewer where the
// system refuses. After an exception no further work starts; the exception of the lowest index is rethrown.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, Work work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> thrown(count);
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        thrown[i] = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(threads, count)) others.emplace_back(take);
    } catch (const std::system_error&) {  // no more threads
    }
    take();
  }
  for (const auto& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

// Takes memory from the system in large blocks and keeps it, instead of returning it and clearing it anew for each iteration: a
// tenth of a small run's time, a twentieth of a large one's.
inline void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that it accepts
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

// Limit on time: a number of seconds that begins when the limit is made.

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
