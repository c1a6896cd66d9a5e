// A table of numbers against a plain list.
#include "sim/engine/hash_places.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace slmsim::hash_places_test {
namespace {

// Few hashes, so that most places are taken by others.
TEST(HashPlaces, FindsWhatIsThereAndAddsWhatIsNot) {
  for (const unsigned hashes : {1U, 7U, 1U << 30}) {
    std::mt19937 random(hashes);
    HashPlaces places;
    std::vector<unsigned> words;  // by number
    for (int i = 0; i < 3000; ++i) {
      const auto word = static_cast<unsigned>(random() % 1000);
      const auto next = static_cast<std::uint32_t>(words.size());
      const auto known = std::find(words.begin(), words.end(), word) - words.begin();
      const std::uint32_t number =
          places.find_or_add(word * 2654435761U % hashes, next, [&](std::uint32_t n) { return words[n] == word; });
      ASSERT_EQ(number, known);
      if (number == next) words.push_back(word);
    }
  }
}

TEST(SequenceNumbers, AreThoseOfTheFirstOfEqualOnes) {
  SequenceNumbers<double> numbers;
  const std::vector<std::vector<double>> all = {{1, 2}, {1}, {}, {2, 1}, {1, 2, 0}, {1, 2, -0.0}, {1}, {}, {1, 2}};
  const std::vector<std::uint32_t> expected = {0, 1, 2, 3, 4, 4, 1, 2, 0};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(numbers.number(all[i]), expected[i]) << i;
  EXPECT_EQ(numbers.size(), 5);
}

}  // namespace
}  // namespace slmsim::hash_places_test
