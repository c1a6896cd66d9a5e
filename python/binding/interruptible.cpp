#include "python/binding/interruptible.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "sim/base/work.h"

namespace py = pybind11;

namespace slmsim::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50}, kPatience{500};

// A job's thread, and the state of its work.
struct JobThread {
  Job job;
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  std::exception_ptr failure;

  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, most, [this] { return has_ended; });
  }
};

// State of the process, not of a scenario: threads that outlive their call, and the turn to start workers.
struct Threads {
  std::mutex mutex;
  std::list<std::pair<std::shared_ptr<JobThread>, std::thread>> leftovers;
  std::timed_mutex crew;
};

Threads& threads() {
  static auto* all = new Threads;  // never destroyed: remaining threads may still use it
  return *all;
}

void leave(std::shared_ptr<JobThread> running, std::thread thread) {
  const std::lock_guard lock(threads().mutex);
  auto& all = threads().leftovers;
  for (auto one = all.begin(); one != all.end();) {
    if (!one->first->wait({})) {
      ++one;
      continue;
    }
    one->second.join();
    one = all.erase(one);
  }
  all.emplace_back(std::move(running), std::move(thread));
}

void work_on(const std::shared_ptr<JobThread>& running, std::function<void(Job&)> work) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  try {
    work(running->job);
  } catch (...) {
    running->failure = std::current_exception();
  }
  work = nullptr;
  const std::lock_guard lock(running->mutex);
  running->has_ended = true;
  running->ended.notify_all();
}

}  // namespace

void Job::run(std::function<void(Job&)> work, const py::object& progress) {
  const auto running = std::make_shared<JobThread>();
  Job& job = running->job;
  std::thread thread(work_on, running, std::move(work));
  std::uint64_t reported = 0;
  const auto look = [&] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const std::uint64_t done = job.done_;
    if (done == reported || progress.is_none()) return;
    progress(done, job.all_.load());
    reported = done;
  };
  try {
    for (bool ended = false; !ended;) {
      {
        const py::gil_scoped_release unlocked;
        ended = running->wait(kBetweenLooks);
      }
      look();
    }
  } catch (...) {
    job.stopping_ = true;
    bool ended = false;
    {
      const py::gil_scoped_release unlocked;
      ended = running->wait(kPatience);
      if (ended) thread.join();
    }
    if (!ended) leave(running, std::move(thread));
    throw;
  }
  thread.join();
  if (running->failure) std::rethrow_exception(running->failure);
}

CrewTurn::CrewTurn(Job& job) {
  const auto stop = job.stop();
  while (!threads().crew.try_lock_for(kBetweenLooks)) stop_if(stop);
}

CrewTurn::~CrewTurn() { threads().crew.unlock(); }

void leave_leftovers() {
  const std::lock_guard lock(threads().mutex);
  const auto& all = threads().leftovers;
  if (std::all_of(all.begin(), all.end(), [](const auto& one) { return one.first->wait({}); })) return;
  // Registered last, it runs first: static objects still exist.
  on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
}

}  // namespace slmsim::python
