// Worker processes of this machine that predict points. Processes, not threads: SimGrid has one engine per process,
// and a worker that dies takes nothing with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sim/sweep/sweep.h"

namespace slmsim {

// What a worker has to say.
struct CrewEvent {
  enum class Kind {
    kRows,     // of `point`
    kDied,     // over `point`; `text` says how
    kReturned  // `points` were given to it and not tried
  };
  std::size_t worker = 0;
  Kind kind = Kind::kRows;
  std::uint64_t point = 0;
  PointRows rows;
  std::string text;
  std::vector<std::uint64_t> points;
};

// Of this machine, that this process may use.
std::size_t available_cores();

class Crew {
 public:
  // A worker predicts points by `rows` in a copy of this process. `close_in_workers`: descriptors that they must not
  // hold.
  Crew(std::size_t workers, std::function<PointRows(std::uint64_t)> rows, std::vector<int> close_in_workers);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();  // ends the workers

  std::size_t size() const { return workers_.size(); }
  bool is_idle(std::size_t worker) const { return workers_[worker].given.empty(); }
  void give(std::size_t worker, const std::vector<std::uint64_t>& points);
  // What came in the meantime; waits for at most so long if nothing did. A worker that died, or whose engine ran (so
  // that its next point would not be a function of its number alone), is replaced.
  std::vector<CrewEvent> wait(int milliseconds);

 private:
  struct Worker {
    pid_t process = -1;
    int socket = -1;
    std::vector<std::uint64_t> given;  // without rows yet, in the order in which they are tried
    std::string received;
  };

  void start(Worker& worker);
  void read_rows(std::size_t index, std::vector<CrewEvent>& events);
  void replace(std::size_t index, std::vector<CrewEvent>& events);
  [[noreturn]] void work(int socket) const;

  std::function<PointRows(std::uint64_t)> rows_;
  std::vector<int> close_in_workers_;
  std::vector<Worker> workers_;
};

}  // namespace slmsim
