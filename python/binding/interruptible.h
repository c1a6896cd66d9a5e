// Runs work that may take long on a thread of its own, while Python's other threads run and Ctrl-C is heard.
//
// The thread that calls waits without the interpreter's lock. Every twentieth of a second it takes it for a moment, lets
// Python's signal handlers run, and tells `progress` how far the work is. Where one of them raises, the work is told to stop,
// and what was raised goes on to the caller at the latest half a second later. Work that has not ended by then goes on until
// it next asks, and is left to the process's end (leave_leftovers).
//
// The thread has all signals blocked, and so have the worker processes that it starts: Python's handlers run in none of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <pybind11/pybind11.h>

namespace slmsim::python {

// What the work and who waits for it have in common.
class Job {
 public:
  // For the work.
  std::function<bool()> stop() {
    return [this] { return stopping_.load(); };
  }
  void tell(std::uint64_t done, std::uint64_t all) {
    all_ = all;
    done_ = done;
  }

  // For who waits. `progress` is None or callable(done, all). Throws what the work threw, and error_already_set.
  static void run(std::function<void(Job&)> work, const pybind11::object& progress);

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> done_{0}, all_{0};
};

// The result of `work(job)`. What the work refers to must live as long as it does, which may be longer than this call: it is
// captured by value or shared.
template <class Work>
auto interruptible(Work work, const pybind11::object& progress = pybind11::none()) {
  using Result = std::invoke_result_t<Work, Job&>;
  const auto result = std::make_shared<std::optional<Result>>();
  Job::run([result, work = std::move(work)](Job& job) mutable { *result = work(job); }, progress);
  return std::move(**result);
}

// For work that starts worker processes, inside its thread: one at a time, since a worker holds copies of what others have open.
// Throws Stopped.
class CrewTurn {
 public:
  explicit CrewTurn(Job& job);
  CrewTurn(const CrewTurn&) = delete;
  CrewTurn& operator=(const CrewTurn&) = delete;
  ~CrewTurn();
};

// At the interpreter's end: where interrupted work still runs, the process then ends without destroying what that uses.
void leave_leftovers();

}  // namespace slmsim::python
