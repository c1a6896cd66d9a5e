#include "sim/base/suggest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slmsim {
namespace {

const std::vector<std::string> kNames = {"Data", "ZeRO2", "Shard", "Pipeshard"};

TEST(Suggest, FindsANameWrittenInAnotherCase) { EXPECT_EQ(nearest("zero2", kNames), "ZeRO2"); }

TEST(Suggest, ForgivesOneSlipInFourLetters) {
  EXPECT_EQ(nearest("Dat", kNames), "Data");    // a letter left out: 1 of 4
  EXPECT_EQ(nearest("Dadta", kNames), "Data");  // one too many: 1 of 5
  EXPECT_EQ(nearest("Date", kNames), "Data");   // one replaced: 1 of 4
  EXPECT_EQ(nearest("Daat", kNames), "Data");   // two neighbours swapped count once: 1 of 4
}

TEST(Suggest, ForgivesAtMostAThirdOfTheLongerWord) {
  EXPECT_EQ(nearest("abcdxx", {"abcdef"}), "abcdef");  // 2 of 6
  EXPECT_EQ(nearest("abcxxx", {"abcdef"}), "");        // 3 of 6
}

TEST(Suggest, PrefersTheNearest) {
  EXPECT_EQ(nearest("gpt2mm", {"gpt2l", "gpt2m"}), "gpt2m");  // 1 letter away, gpt2l 2
  EXPECT_EQ(nearest("rtx6000", {"rtx3090", "rtx6000"}), "rtx6000");
}

TEST(Suggest, HasNothingForAnEmptyOrEndlessWord) {
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest(std::string(10'000, 'a'), {std::string(10'000, 'a')}), "");
}

TEST(Suggest, AsksOrListsWhatIsKnown) {
  EXPECT_EQ(did_you_mean("Pipeshrad", kNames), "did you mean \"Pipeshard\"?");
  EXPECT_EQ(did_you_mean("x", kNames), "known are: Data, ZeRO2, Shard, Pipeshard");
  EXPECT_EQ(did_you_mean("x", {}), "nothing is known by any name here");
}

TEST(Suggest, CutsALongList) {
  const std::vector<std::string> many(25, "name");
  std::string listed = "known are: name";
  for (int i = 1; i < 24; ++i) listed += ", name";  // 24 are shown
  EXPECT_EQ(did_you_mean("zzzzzzzz", many), listed + ", ...");
}

}  // namespace
}  // namespace slmsim
