// Distributes a queue's questions to the workers of a pool: a Crew of this machine, or the Ranks of an MPI job, which have the
// same interface. Answers are values, sent between processes as texts (sim/crew/crew.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "sim/crew/crew.h"

namespace slmsim {

// Longest wait between two checks of `stop`.
inline constexpr int kPatienceMilliseconds = 200;

template <class Answer>
struct AskOptions {
  std::size_t at_once = 1;                                  // most questions given to a worker at once
  std::function<void(std::uint64_t, const Answer&)> taken;  // as answers come in, in any order
  // Replaces the answer to a question over which two workers died; the text says how the last one died. May throw.
  std::function<Answer(std::uint64_t, const std::string&)> lost;
  std::function<bool()> stop = {};      // called now and then
  std::function<void()> progress = {};  // called with `stop`
};

// A worker's function, as Crew and serve() take it.
template <class Answer>
std::function<Texts(std::uint64_t)> in_texts(std::function<Answer(std::uint64_t)> answer) {
  return [answer = std::move(answer)](std::uint64_t question) { return to_texts(answer(question)); };
}

// True once every question has its answer; false where it was stopped earlier.
template <class Answer, class Workers>
bool ask_all(Workers& workers, QuestionQueue& queue, const AskOptions<Answer>& asking) {
  for (;;) {
    std::size_t busy = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (workers.is_idle(i)) {
        if (const auto some = queue.take(asking.at_once, workers.size()); !some.empty()) workers.give(i, some);
      }
      busy += workers.is_idle(i) ? 0 : 1;
    }
    if (asking.progress) asking.progress();
    if (busy == 0) return true;
    if (asking.stop && asking.stop()) return false;
    for (const auto& event : workers.wait(kPatienceMilliseconds)) {
      switch (event.kind) {
        case CrewEvent::Kind::kAnswer: {
          Answer answer;
          from_texts(event.answer, answer);
          asking.taken(event.question, answer);
          break;
        }
        case CrewEvent::Kind::kDied:
          if (!queue.died(event.question)) asking.taken(event.question, asking.lost(event.question, event.how));
          break;
        case CrewEvent::Kind::kReturned:
          queue.give_back(event.questions);
          break;
      }
    }
  }
}

}  // namespace slmsim
