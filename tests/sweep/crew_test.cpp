// Points that kill their workers, and the queue that deals with them.
#include "sim/sweep/crew.h"

#include <cstdlib>
#include <map>
#include <set>
#include <unistd.h>

#include <gmock/gmock.h>

#include "sim/sweep/queue.h"

namespace slmsim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PointQueue, GivesWantedPointsInOrder) {
  PointQueue queue(10, [](std::uint64_t point) { return point % 2 == 1; });
  EXPECT_EQ(queue.left(), 5);
  EXPECT_THAT(queue.take(16, 1), ElementsAre(1));  // an eighth of five, at least one
  queue.give_back({1});
  EXPECT_THAT(queue.take(1, 1), ElementsAre(1));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(3));
}

TEST(PointQueue, GivesManyAtOnceWhileManyAreLeft) {
  PointQueue queue(1000, [](std::uint64_t) { return true; });
  EXPECT_EQ(queue.take(16, 4).size(), 16);  // an eighth of a fourth would be 31
}

TEST(PointQueue, TriesADeadlyPointOnceMoreAndAlone) {
  PointQueue queue(3, [](std::uint64_t) { return true; });
  EXPECT_THAT(queue.take(1, 1), ElementsAre(0));
  EXPECT_TRUE(queue.died(0));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(1));
  EXPECT_THAT(queue.take(1, 1), ElementsAre(2));
  EXPECT_THAT(queue.take(16, 1), ElementsAre(0));
  EXPECT_FALSE(queue.died(0));
  EXPECT_EQ(queue.left(), 0);
  EXPECT_THAT(queue.take(16, 1), IsEmpty());
}

TEST(Crew, OutlivesAWorkerThatDies) {
  Crew crew(2,
            [](std::uint64_t point) -> PointRows {
              if (point == 3) _exit(7);
              if (point == 5) std::abort();
              return {std::to_string(point), std::string(200'000, 'x')};  // more than a socket holds
            },
            {});
  crew.give(0, {1, 2, 3, 4});
  crew.give(1, {5, 6});
  std::map<std::uint64_t, std::string> rows, deaths;
  std::set<std::uint64_t> returned;
  while (!crew.is_idle(0) || !crew.is_idle(1)) {
    for (const auto& event : crew.wait(1000)) {
      if (event.kind == CrewEvent::Kind::kRows) {
        rows[event.point] = event.rows.csv;
        EXPECT_EQ(event.rows.json.size(), 200'000);
      }
      if (event.kind == CrewEvent::Kind::kDied) deaths[event.point] = event.text;
      returned.insert(event.points.begin(), event.points.end());
    }
  }
  EXPECT_THAT(rows, ElementsAre(testing::Pair(1, "1"), testing::Pair(2, "2")));
  EXPECT_THAT(deaths, ElementsAre(testing::Pair(3, testing::HasSubstr("status 7")),
                                  testing::Pair(5, testing::HasSubstr("signal 6"))));
  EXPECT_THAT(returned, ElementsAre(4, 6));
  crew.give(0, {8});
  while (!crew.is_idle(0)) {
    for (const auto& event : crew.wait(1000)) rows[event.point] = event.rows.csv;
  }
  EXPECT_EQ(rows[8], "8");
}

}  // namespace
}  // namespace slmsim
