// Worker processes on this machine that answer questions. Processes, not threads: SimGrid has one engine per process, and a
// worker that dies loses nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sim/crew/question.h"

namespace slmsim {

// An event from a worker.
struct CrewEvent {
  enum class Kind {
    kAnswer,   // to `question`
    kDied,     // while answering `question`; `how` describes it
    kReturned  // `questions` were given to it and not tried
  };
  std::size_t worker = 0;
  Kind kind = Kind::kAnswer;
  std::uint64_t question = 0;
  Texts answer;
  std::string how;
  std::vector<std::uint64_t> questions;
};

// Cores of this machine that this process may use.
std::size_t available_cores();

class Crew {
 public:
  // A worker is a copy of this process that calls `answer`. `close_in_workers`: descriptors that workers close.
  Crew(std::size_t workers, std::function<Texts(std::uint64_t)> answer, std::vector<int> close_in_workers);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();  // ends the workers

  std::size_t size() const { return workers_.size(); }
  bool is_idle(std::size_t worker) const { return workers_[worker].given.empty(); }
  void give(std::size_t index, const std::vector<std::uint64_t>& questions);
  // Events so far; if there are none, waits for at most `milliseconds`. A worker that died, or whose engine ran (so that its
  // next answer would not depend on its number alone), is replaced.
  std::vector<CrewEvent> wait(int milliseconds);

 private:
  struct Worker {
    pid_t process = -1;
    int socket = -1;
    std::vector<std::uint64_t> given;  // not yet answered, in the order in which they are tried
    std::string received;
  };

  void start(Worker& worker);
  void read_answers(std::size_t index, std::vector<CrewEvent>& events);
  void replace(std::size_t index, std::vector<CrewEvent>& events);
  [[noreturn]] void work(int socket) const;

  std::function<Texts(std::uint64_t)> answer_;
  std::vector<int> close_in_workers_;
  std::vector<Worker> workers_;
};

}  // namespace slmsim
