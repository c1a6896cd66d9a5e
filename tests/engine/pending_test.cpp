// The heap of events against a sorted list.
#include "sim/engine/pending.h"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace slmsim::pending_test {
namespace {

using Kind = Event::Kind;

std::tuple<double, Kind, std::uint32_t> place_of(const Event& event) { return {event.date, event.kind, event.index}; }

// Few dates, kinds and indices, so that most are equal. Some events are followed by none, others by several.
TEST(Events, LeaveInTheOrderOfDateKindAndIndex) {
  std::mt19937 random(1);
  Events events;
  std::vector<Event> waiting;
  for (int i = 0; i < 5000; ++i) {
    const std::size_t more = random() % (waiting.size() < 40 ? 4 : 2);
    for (std::size_t n = 0; n < more; ++n) {
      waiting.push_back({static_cast<double>(random() % 8) / 8, static_cast<std::uint32_t>(random() % 3),
                         static_cast<Kind>(random() % 5)});
      events.push(waiting.back());
    }
    ASSERT_EQ(events.empty(), waiting.empty());
    if (waiting.empty()) continue;
    const auto first = std::ranges::min_element(waiting, {}, place_of);
    if (random() % 2 == 0) {
      ASSERT_EQ(place_of(events.top()), place_of(*first));
    }
    ASSERT_EQ(place_of(events.take()), place_of(*first));
    waiting.erase(first);
  }
}

TEST(Events, KeepDatesExactly) {
  Events events;
  for (const double date : {0.1, 1e300, 5e-324, 0.0}) events.push({date, ~std::uint32_t{0}, Kind::kAcknowledgement});
  for (const double date : {0.0, 5e-324, 0.1, 1e300}) EXPECT_EQ(events.take().date, date);
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace slmsim::pending_test
