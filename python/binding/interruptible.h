// Runs long work on its own thread, while Python's other threads run and Ctrl-C works.
//
// The calling thread waits without the interpreter's lock. Every twentieth of a second it takes the lock for a moment, lets
// Python's signal handlers run, and calls `progress` with the state of the work. Where one of them raises, the work is stopped,
// and the exception reaches the caller at most half a second later. Work that has not ended by then continues until its next
// check, and is left to the process's end (leave_leftovers).
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

// State shared by the work and the waiting thread.
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

  // For the waiting thread. `progress` is None or callable(done, all). Throws what the work threw, and error_already_set.
  static void run(std::function<void(Job&)> work, const pybind11::object& progress);

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> done_{0}, all_{0};
};

// The result of `work(job)`. Everything that the work refers to must live as long as the work, which may be longer than this
// call: capture it by value or share it.
template <class Work>
auto interruptible(Work work, const pybind11::object& progress = pybind11::none()) {
  using Result = std::invoke_result_t<Work, Job&>;
  const auto result = std::make_shared<std::optional<Result>>();
  Job::run([result, work = std::move(work)](Job& job) mutable { *result = work(job); }, progress);
  return std::move(**result);
}

// For work that starts worker processes, inside its thread: one at a time, because a worker inherits what others have open.
// Throws Stopped.
class CrewTurn {
 public:
  explicit CrewTurn(Job& job);
  CrewTurn(const CrewTurn&) = delete;
  CrewTurn& operator=(const CrewTurn&) = delete;
  ~CrewTurn();
};

// At the interpreter's end: if interrupted work is still running, the process ends without destroying objects that it uses.
void leave_leftovers();

}  // namespace slmsim::python
