#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/text.h"

namespace slmsim::suggest_test {
namespace {

const std::vector<std::string> kNames = {"Data", "ZeRO2", "Shard", "Pipeshard"};

TEST(Suggest, FindsANameWrittenInAnotherCase) { EXPECT_EQ(nearest("zero2", kNames), "ZeRO2"); }

struct Pair {
  const char *typed, *known;
};

// One mistake: a letter left out, doubled or too many, neighbours swapped, the key beside, a plural, a separator.
constexpr Pair kMisspelt[] = {
    {"Dat", "Data"},             // a vowel left out at the end
    {"Dadta", "Data"},           // one letter too many inside
    {"Daat", "Data"},            // neighbours swapped
    {"Pipeshrad", "Pipeshard"},  // the same in a longer word
    {"Pipshard", "Pipeshard"},   // a letter left out
    {"wst", "west"},             // inside a short word
    {"eats", "east"},            // swapped
    {"los", "loss"},             // one of two equal letters left out
    {"Treee", "Tree"},           // one too many of them
    {"ncll", "nccl"},            // the wrong one doubled
    {"layer", "layers"},         // plural
    {"batches", "batch"},        // plural
    {"bach", "batch"},           // inside a word of five
    {"nois", "noise"},           // the end left out
    {"cubi", "cubic"},
    {"wam", "wan"},            // the key beside
    {"seperate", "separate"},  // letters that sound alike, in a long word
    {"fabrik-vm", "fabric-vm"},
    {"precison", "precision"},           // left out
    {"bandwith", "bandwidth"},           // left out
    {"usable_memroy", "usable_memory"},  // swapped, in one of two words
    {"tied_embeding", "tied_embedding"},
    {"NCCL_MAX_CHANNELS", "NCCL_MAX_NCHANNELS"},
    {"fp61", "fp16"},            // digits swapped
    {"fabric_vm", "fabric-vm"},  // another separator
    {"fabricvm", "fabric-vm"},   // none
    {"gtp2", "gpt2"},
    {"rtx-3090", "rtx3090"},
    {"gpt2mm", "gpt2m"},
    {"acceletate_grandient", "accelerate_gradient"},  // two mistakes in 18 letters: the key beside, one too many
};

// Things of their own.
constexpr Pair kOthers[] = {
    {"rtx3060", "rtx3080"},      // another number
    {"rtx3080ti", "rtx3080"},    // a suffix of the number
    {"rtx3080", "gtx1080"},      //
    {"gtx1080ti", "rtx2080ti"},  //
    {"a31", "a30"},              //
    {"h1000", "h100"},           //
    {"g100", "h100"},            // one letter says which
    {"b200", "gb200"},           //
    {"l40", "l40s"},             //
    {"gptj", "gpt2"},            //
    {"gpt_neo", "gpt_neox"},     // short words that end differently
    {"mpt", "opt"},              // or begin so
    {"phi3", "phi"},             //
    {"qwen3", "qwen2"},          //
    {"llava", "llama"},          // a letter that no slip gives
    {"mixtral", "mistral"},      //
    {"bart", "bert"},            // vowels of short words
    {"mbart", "bart"},           //
    {"roberta", "deberta"},      //
    {"olmoe", "olmo"},           //
    {"fp17", "fp16"},            //
    {"east/3", "east/0"},        //
    {"1f2b", "1f1b"},            //
    {"FSDP2", "FSDP"},           //
    {"abcdxx", "abcdef"},        // two of six letters
    {"ZeRO-3", "ZeRO-2"},        //
    {"adamw", "adam"},           //
    {"us-east-1", "us-east-2"},  //
};

TEST(Suggest, TheSameThingMisspelt) {
  for (const auto& [typed, known] : kMisspelt) EXPECT_EQ(nearest(typed, {known}), known) << typed;
}

TEST(Suggest, NoOtherThing) {
  for (const auto& [typed, known] : kOthers) {
    EXPECT_EQ(nearest(typed, {known}), "") << typed;
    EXPECT_EQ(did_you_mean(typed, {known, "x"}), std::string("known are: ") + known + ", x") << typed;
  }
}

TEST(Suggest, PrefersTheNearest) {
  EXPECT_EQ(nearest("gpt2mm", {"gpt2l", "gpt2m"}), "gpt2m");
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
  EXPECT_EQ(did_you_mean("arch", {"architecture", "x"}), "did you mean \"architecture\"?");
}

TEST(Suggest, TakesNoPartOfAWordOrOfANumber) {
  EXPECT_EQ(did_you_mean("rtx30", {"rtx3080", "x"}), "known are: rtx3080, x");
  EXPECT_EQ(did_you_mean("gpt_neo", {"gpt_neox", "x"}), "known are: gpt_neox, x");
  EXPECT_EQ(did_you_mean("opt", {"adopted", "x"}), "known are: adopted, x");
}

TEST(Suggest, TakesNoPartOfANameThatTooManyHaveOrThatIsTooShort) {
  EXPECT_EQ(did_you_mean("100", {"a100", "b100", "c100", "d100", "e100"}), "known are: a100, b100, c100, d100, e100");
  EXPECT_EQ(that_contain("a1", {"a100"}), std::vector<std::string>{});
}

TEST(Suggest, CutsALongListAndNamesEachOnce) {
  std::vector<std::string> many = {"n0", "n0"};
  std::string listed = "known are: n0";
  for (int i = 1; i < 25; ++i) {
    many.push_back("n" + std::to_string(i));
    if (i < 24) listed += ", " + many.back();  // 24 are shown
  }
  EXPECT_EQ(did_you_mean("zzzzzzzz", many), listed + ", ...");
  EXPECT_EQ(did_you_mean("zzzzzzzz", many, "the page"), "the page lists the 25 known ones");
  EXPECT_EQ(did_you_mean("zzzzzzzz", {"a", "b"}, "the page"), "known are: a, b");
}

TEST(Suggest, CaseAndPunctuationAreNoDifference) {
  EXPECT_EQ(did_you_mean("zero3", {"ZeRO2", "ZeRO-2", "ZeRO-3"}), "did you mean \"ZeRO-3\"?");
  EXPECT_EQ(did_you_mean("zero_2", {"ZeRO2", "ZeRO-2", "ZeRO-3"}), "did you mean \"ZeRO2\" or \"ZeRO-2\"?");
  EXPECT_EQ(did_you_mean("microbatches", {"micro_batches", "batch"}), "did you mean \"micro_batches\"?");
  EXPECT_EQ(did_you_mean("a3o", {"a10", "a30"}), "did you mean \"a30\"?");  // an o for a zero
  EXPECT_EQ(did_you_mean("--", {"--help", "-"}), "known are: --help, -");
}

}  // namespace
}  // namespace slmsim::suggest_test
