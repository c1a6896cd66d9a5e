// Ticks stand where their texts say.
#include <gmock/gmock.h>

#include "sim/report/page/markup.h"

namespace slmsim::ticks_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks) out.push_back(tick.text);
  return out;
}

TEST(Ticks, OfSharesAndSizes) {
  EXPECT_THAT(texts_of(linear_ticks(100)), ElementsAre("0", "20", "40", "60", "80", "100"));
  EXPECT_THAT(texts_of(linear_ticks(22)), ElementsAre("0", "5", "10", "15", "20"));
  EXPECT_DOUBLE_EQ(linear_ticks(22)[1].at, 5.0 / 22);
  EXPECT_THAT(linear_ticks(0), testing::IsEmpty());
}

TEST(Ticks, OfDurations) {
  EXPECT_THAT(texts_of(duration_ticks(1.19)), ElementsAre("0", "0.5 s", "1 s"));
  EXPECT_THAT(texts_of(duration_ticks(90 * 60)), ElementsAre("0", "20 min", "40 min", "60 min", "80 min"));
  EXPECT_THAT(texts_of(duration_ticks(25 * 3600)), ElementsAre("0", "6 h", "12 h", "18 h", "24 h"));
  EXPECT_DOUBLE_EQ(duration_ticks(25 * 3600)[1].at, 6.0 / 25);
}

// From a microsecond to a thousand years there are some, but not too many to read, in their order.
TEST(Ticks, AreEverywhereAndFew) {
  for (double most = 1e-6; most < 3e10; most *= 1.37) {
    for (const auto& ticks : {duration_ticks(most), linear_ticks(most)}) {
      EXPECT_GE(ticks.size(), 2u) << most;
      EXPECT_LE(ticks.size(), 6u) << most;
      for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_GT(ticks[i].at, ticks[i - 1].at);
      EXPECT_LE(ticks.back().at, 1);
    }
  }
}

}  // namespace
}  // namespace slmsim::ticks_test
