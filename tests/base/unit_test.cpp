#include "sim/base/unit.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace slmsim::unit_test {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

TEST(Unit, ASizeDividedByARateIsATime) {
  const auto time = Bytes{100} / BytesPerSecond{25};
  static_assert(std::is_same_v<decltype(time), const Seconds>);
  EXPECT_EQ(time.value, 4.0);  // 100 B at 25 B/s
}

TEST(Unit, ASizeDividedByATimeIsARate) {
  const auto rate = Bytes{100} / Seconds{4};
  static_assert(std::is_same_v<decltype(rate), const BytesPerSecond>);
  EXPECT_EQ(rate.value, 25.0);
}

TEST(Unit, ARateTimesATimeIsASizeInEitherOrder) {
  static_assert(std::is_same_v<decltype(BytesPerSecond{} * Seconds{}), Bytes>);
  static_assert(std::is_same_v<decltype(Seconds{} * BytesPerSecond{}), Bytes>);
  EXPECT_EQ((BytesPerSecond{25} * Seconds{4}).value, 100.0);
  EXPECT_EQ((Seconds{4} * BytesPerSecond{25}).value, 100.0);
}

TEST(Unit, WorkDividedByAWorkRateIsATime) {
  const auto time = Flops{6} / FlopsPerSecond{2};
  static_assert(std::is_same_v<decltype(time), const Seconds>);
  EXPECT_EQ(time.value, 3.0);
}

TEST(Unit, TheRatioOfTwoEqualUnitsIsAPlainNumber) {
  const auto ratio = Seconds{6} / Seconds{4};
  static_assert(std::is_same_v<decltype(ratio), const double>);
  EXPECT_EQ(ratio, 1.5);
}

TEST(Unit, APlainNumberScalesFromBothSides) {
  EXPECT_EQ((Seconds{3} * 2.0).value, 6.0);
  EXPECT_EQ((2.0 * Seconds{3}).value, 6.0);
  EXPECT_EQ((Seconds{3} / 2.0).value, 1.5);
}

TEST(Unit, SumsAndDifferencesKeepTheUnit) {
  Seconds time = Seconds{5} + Seconds{2} - Seconds{1};
  time += Seconds{4};
  time -= Seconds{3};
  EXPECT_EQ(time.value, 7.0);  // 5 + 2 - 1 + 4 - 3
}

TEST(Unit, OrdersBySize) {
  EXPECT_LT(Bytes{1}, Bytes{2});
  EXPECT_GE(Bytes{2}, Bytes{2});
  EXPECT_EQ(Bytes{2}, Bytes{2});
}

TEST(Unit, StartsAtZero) { EXPECT_EQ(Seconds{}.value, 0.0); }

TEST(Unit, NeitherAddsNorComparesDifferentUnits) {
  static_assert(Addable<Seconds, Seconds>);
  static_assert(!Addable<Seconds, Bytes>);
  static_assert(!Addable<BytesPerSecond, FlopsPerSecond>);
  static_assert(!Comparable<Seconds, Bytes>);
  static_assert(!std::is_convertible_v<double, Seconds>);
  static_assert(!std::is_convertible_v<Seconds, double>);
}

TEST(Unit, BinaryPrefixesArePowersOf1024) {
  EXPECT_EQ(kKibi, 1024.0);
  EXPECT_EQ(kMebi, 1048576.0);     // 1024^2
  EXPECT_EQ(kGibi, 1073741824.0);  // 1024^3
}

}  // namespace
}  // namespace slmsim::unit_test
