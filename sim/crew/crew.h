// Worker processes on this machine that answer questions. Processes, not threads: SimGrid has one engine per process, and a
// worker that dies loses nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace slmsim {

// Questions and answers of a crew, and the queue of the open ones.
//
// A question is a number. Its answer is a value of the caller's own type, which is sent between processes and stored in
// journals as two texts, either of which may be empty. Such a type comes with
//   Texts to_texts(const Answer&);
//   void from_texts(const Texts&, Answer&);    // throws std::runtime_error where the texts are no such answer

struct Texts {
  std::string first, second;

  bool operator==(const Texts&) const = default;
};

// Open questions, and the handling of one whose worker died.
class QuestionQueue {
 public:
  // Questions 0 to `count` - 1, in order, of those that are `wanted`.
  QuestionQueue(std::uint64_t count, const std::function<bool(std::uint64_t)>& wanted);
  // These questions, in their order.
  explicit QuestionQueue(const std::vector<std::uint64_t>& questions) { give_back(questions); }

  std::uint64_t left() const { return left_; }  // not yet taken
  // The next ones: at most `most`, and at most an eighth of a worker's share of the rest (at least one), so that no worker is
  // left without any.
  std::vector<std::uint64_t> take(std::size_t most, std::size_t workers);
  // Returns questions that were taken and not tried.
  void give_back(const std::vector<std::uint64_t>& questions);
  // A worker died over this question. True if it is to be retried once; it then comes alone.
  bool died(std::uint64_t question);

 private:
  std::uint64_t count_ = 0, next_ = 0, left_ = 0;
  std::function<bool(std::uint64_t)> wanted_;
  std::deque<std::uint64_t> returned_, suspects_;
  std::map<std::uint64_t, int> deaths_;
};

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
