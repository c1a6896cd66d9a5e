#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/text.h"

namespace slmsim::suggest_test {
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

TEST(Suggest, OffersNamesThatBeginWithTheWordBeforeNamesThatContainItBeforeNearOnes) {
  const std::vector<std::string> gpus = {"a100-40", "a100-80", "h100", "my-a100", "v100"};
  EXPECT_EQ(did_you_mean("A100", gpus), "did you mean \"a100-40\" or \"a100-80\"?");
  EXPECT_EQ(did_you_mean("100-", gpus), "did you mean \"a100-40\" or \"a100-80\"?");
  EXPECT_EQ(did_you_mean("g100", gpus), "did you mean \"h100\"?");  // the nearest, by one letter
}

TEST(Suggest, TakesNoPartOfANameThatTooManyHaveOrThatIsTooShort) {
  EXPECT_EQ(did_you_mean("100", {"a100", "b100", "c100", "d100", "e100"}),
            "did you mean \"a100\"?");  // five: the nearest
  EXPECT_EQ(that_contain("a1", {"a100"}), std::vector<std::string>{});
}

TEST(Suggest, CutsALongList) {
  const std::vector<std::string> many(25, "name");
  std::string listed = "known are: name";
  for (int i = 1; i < 24; ++i) listed += ", name";  // 24 are shown
  EXPECT_EQ(did_you_mean("zzzzzzzz", many), listed + ", ...");
}

TEST(Suggest, CaseAndPunctuationAreNoDifference) {
  EXPECT_EQ(did_you_mean("zero3", {"ZeRO2", "ZeRO-2", "ZeRO-3"}), "did you mean \"ZeRO-3\"?");
  EXPECT_EQ(did_you_mean("zero_2", {"ZeRO2", "ZeRO-2", "ZeRO-3"}), "did you mean \"ZeRO2\" or \"ZeRO-2\"?");
  EXPECT_EQ(did_you_mean("microbatches", {"micro_batches", "batch"}), "did you mean \"micro_batches\"?");
  EXPECT_EQ(did_you_mean("--", {"--help", "-"}), "known are: --help, -");
}

}  // namespace
}  // namespace slmsim::suggest_test
