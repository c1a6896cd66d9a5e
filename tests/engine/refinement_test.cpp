// Colours are refined until equal ones have equal neighbours, at the cost of what changes.
#include "sim/engine/refinement.h"

#include <gtest/gtest.h>

namespace slmsim::refinement_test {
namespace {

TEST(Refinement, ADifferenceCostsAsMuchAsItReaches) {
  // In a line of 1000 elements, each described by the one before it, only the first has none. The others differ one by
  // one: all are described once, and each but the first again when the one before it has changed.
  constexpr std::size_t kCount = 1000;
  Refined line(std::vector<int>(kCount, 0));
  std::size_t described = 0;
  const auto split = [&] {
    return line.split(
        [&](std::size_t element, std::vector<int>& description) {
          ++described;
          description.push_back(element == 0 ? -1 : line[element - 1]);
        },
        [&](std::size_t element) {
          if (element + 1 < kCount) line.describe_again(element + 1);
        });
  };
  while (split()) {
  }
  EXPECT_EQ(line.count(), kCount);
  EXPECT_EQ(described, kCount + kCount - 1);
}

TEST(Refinement, EqualElementsKeepOneColour) {
  // Described by their parity, and the third also by a mark: 1 and 3 remain equal, as do 0 and 4.
  Refined elements({0, 0, 0, 0, 0});
  const auto describe = [](std::size_t element, std::vector<int>& description) {
    description.insert(description.end(), {static_cast<int>(element % 2), element == 2 ? 1 : 0});
  };
  EXPECT_TRUE(elements.split(describe, [](std::size_t) {}));
  EXPECT_EQ(elements.count(), 3);
  EXPECT_EQ(elements[0], elements[4]);
  EXPECT_EQ(elements[1], elements[3]);
  EXPECT_NE(elements[0], elements[1]);
  EXPECT_NE(elements[0], elements[2]);
  EXPECT_FALSE(elements.split(describe, [](std::size_t) {}));  // nothing is to be described again
}

}  // namespace
}  // namespace slmsim::refinement_test
