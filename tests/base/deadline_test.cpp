#include "sim/base/work.h"

#include <limits>

#include <gtest/gtest.h>

namespace slmsim::deadline_test {
namespace {

TEST(Deadline, IsOverAtOnceOrNever) {
  const Deadline none(0), never, infinite(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(none.is_over());
  EXPECT_TRUE(none.is_over(0.3));
  EXPECT_EQ(none.left(), 0);
  EXPECT_TRUE(Deadline(-1).is_over());
  EXPECT_FALSE(never.is_over());
  EXPECT_FALSE(infinite.is_over(0.9));
}

TEST(Deadline, IsNeverOverWithoutALimit) {
  EXPECT_FALSE(Deadline::of_limit(0).is_over());
  const Deadline limited = Deadline::of_limit(1e6);
  EXPECT_FALSE(limited.is_over());
  EXPECT_TRUE(limited.is_over(0));
  EXPECT_LE(limited.left(), 1e6);
  EXPECT_GT(limited.left(), 9e5);
}

}  // namespace
}  // namespace slmsim::deadline_test
