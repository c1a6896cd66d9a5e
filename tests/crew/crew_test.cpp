// Questions that kill their workers, and the queue that deals with them.
#include "sim/crew/crew.h"

#include <cstdlib>
#include <map>
#include <set>
#include <unistd.h>

#include <gmock/gmock.h>

#include "sim/crew/pool.h"

namespace slmsim::crew_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(QuestionQueue, GivesWantedQuestionsInOrder) {
  QuestionQueue queue(10, [](std::uint64_t question) { return question % 2 == 1; });
  EXPECT_EQ(queue.left(), 5);
  EXPECT_THAT(queue.take(16, 1), ElementsAre(1));  // an eighth of five, at least one
  queue.give_back({1});
  EXPECT_THAT(queue.take(1, 1), ElementsAre(1));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(3));
}

TEST(QuestionQueue, GivesManyAtOnceWhileManyAreLeft) {
  QuestionQueue queue(1000, [](std::uint64_t) { return true; });
  EXPECT_EQ(queue.take(16, 4).size(), 16);  // an eighth of a fourth would be 31
}

TEST(QuestionQueue, TriesADeadlyQuestionOnceMoreAndAlone) {
  QuestionQueue queue(3, [](std::uint64_t) { return true; });
  EXPECT_THAT(queue.take(1, 1), ElementsAre(0));
  EXPECT_TRUE(queue.died(0));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(1));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(2));
  EXPECT_THAT(queue.take(16, 1), ElementsAre(0));
  EXPECT_FALSE(queue.died(0));
  EXPECT_EQ(queue.left(), 0);
  EXPECT_THAT(queue.take(16, 1), IsEmpty());
}

TEST(QuestionQueue, GivesAListInItsOrder) {
  QuestionQueue queue({7, 3, 5});
  EXPECT_EQ(queue.left(), 3);
  EXPECT_THAT(queue.take(1, 1), ElementsAre(7));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(3));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(5));
  EXPECT_THAT(queue.take(1, 1), IsEmpty());
}

TEST(Crew, OutlivesAWorkerThatDies) {
  Crew crew(2,
            [](std::uint64_t question) -> Texts {
              if (question == 3) _exit(7);
              if (question == 5) std::abort();
              return {std::to_string(question), std::string(200'000, 'x')};  // more than a socket holds
            },
            {});
  crew.give(0, {1, 2, 3, 4});
  crew.give(1, {5, 6});
  std::map<std::uint64_t, std::string> answers, deaths;
  std::set<std::uint64_t> returned;
  while (!crew.is_idle(0) || !crew.is_idle(1)) {
    for (const auto& event : crew.wait(1000)) {
      if (event.kind == CrewEvent::Kind::kAnswer) {
        answers[event.question] = event.answer.first;
        EXPECT_EQ(event.answer.second.size(), 200'000);
      }
      if (event.kind == CrewEvent::Kind::kDied) deaths[event.question] = event.how;
      returned.insert(event.questions.begin(), event.questions.end());
    }
  }
  EXPECT_THAT(answers, ElementsAre(testing::Pair(1, "1"), testing::Pair(2, "2")));
  EXPECT_THAT(deaths, ElementsAre(testing::Pair(3, testing::HasSubstr("status 7")),
                                  testing::Pair(5, testing::HasSubstr("signal 6"))));
  EXPECT_THAT(returned, ElementsAre(4, 6));
  crew.give(0, {8});
  while (!crew.is_idle(0)) {
    for (const auto& event : crew.wait(1000)) answers[event.question] = event.answer.first;
  }
  EXPECT_EQ(answers[8], "8");
}

// An answer of a type of its own: the square of a number.
struct Square {
  std::uint64_t of = 0, is = 0;
};
Texts to_texts(const Square& square) { return {std::to_string(square.of), std::to_string(square.is)}; }
void from_texts(const Texts& texts, Square& square) { square = {std::stoull(texts.first), std::stoull(texts.second)}; }

TEST(Pool, AsksEveryQuestionOnceAndStandsInForALostAnswer) {
  const auto answer = in_texts<Square>([](std::uint64_t question) -> Square {
    if (question == 4) _exit(7);
    return {question, question * question};
  });
  Crew crew(2, answer, {});
  QuestionQueue queue(6, [](std::uint64_t) { return true; });
  std::map<std::uint64_t, std::uint64_t> squares;
  std::string lost;
  AskOptions<Square> asking;
  asking.at_once = 2;
  asking.taken = [&](std::uint64_t question, const Square& square) {
    EXPECT_EQ(square.of, question);
    EXPECT_TRUE(squares.emplace(question, square.is).second);
  };
  asking.lost = [&](std::uint64_t question, const std::string& how) {
    lost = how;
    return Square{question, 0};
  };
  EXPECT_TRUE(ask_all(crew, queue, asking));
  using testing::Pair;
  EXPECT_THAT(squares, ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 4), Pair(3, 9), Pair(4, 0), Pair(5, 25)));
  EXPECT_THAT(lost, testing::HasSubstr("status 7"));
}

TEST(Pool, StopsWhenItIsTold) {
  Crew crew(1, in_texts<Square>([](std::uint64_t question) { return Square{question, 0}; }), {});
  QuestionQueue queue(3, [](std::uint64_t) { return true; });
  AskOptions<Square> asking;
  asking.taken = [](std::uint64_t, const Square&) {};
  asking.stop = [] { return true; };
  EXPECT_FALSE(ask_all(crew, queue, asking));
}

}  // namespace
}  // namespace slmsim::crew_test
