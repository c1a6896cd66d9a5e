// How long a job is and how large its batch, in the terms in which people state it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/scenario/folder.h"

namespace slmsim::training_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The model "tiny" has sequences of 2 tokens.
class TrainingOf : public Folder {
 protected:
  void train(const std::string& training) const {
    write("run.yaml", "platform: pair\nmodels: tiny\ntraining: " + training);
  }
};

TEST_F(TrainingOf, TakesTokensForTheWholeJob) {
  train("{batch: 8, tokens: 1001}\n");
  const Training t = load().training;
  EXPECT_EQ(t.extent, Extent::kTokens);
  EXPECT_EQ(t.blocks_per_epoch, 500);  // the odd token makes no sequence
  EXPECT_EQ(t.steps(), 63);            // 500 / 8, the last one not full
}

TEST_F(TrainingOf, TakesSamplesForTheWholeJob) {
  train("{batch: 8, samples: 80}\n");
  EXPECT_EQ(load().training.steps(), 10);
}

TEST_F(TrainingOf, TakesTokensOfAPass) {
  train("{batch: 8, epochs: 3, tokens_per_epoch: 160}\n");
  EXPECT_EQ(load().training.blocks_per_epoch, 80);
  EXPECT_EQ(load().training.steps(), 30);
}

TEST_F(TrainingOf, TakesABatchOfTokens) {
  train("{batch_tokens: 16, samples: 80}\n");
  EXPECT_EQ(load().training.batch, 8);
}

TEST_F(TrainingOf, RefusesTokensThatAreNoWholeSequences) {
  train("{batch_tokens: 17, samples: 80}\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:3:26: error: training.batch_tokens: 17 tokens are not a whole number of "
                                    "sequences of 2; 16 and 18 are"));
}

TEST_F(TrainingOf, RefusesTwoLengths) {
  train("{batch: 8, epochs: 3, tokens: 1000}\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:3:30: error: training.epochs excludes training.tokens; leave one out; "
                                    "tokens of one pass are tokens_per_epoch"));
}

TEST_F(TrainingOf, RefusesTokensOfModelsWithOtherSequences) {
  write("models/long.yaml", "name: long\nfamily: gpt2\nhidden: 4\nheads: 2\nlayers: 1\nsequence: 4\nvocabulary: 10\n");
  train("{batch: 8, tokens: 1000}\n");
  EXPECT_THAT(errors({"models=[tiny, long]"}),
              ElementsAre(HasSubstr("training.tokens: sequences of tiny have 2 tokens, those of long 4")));
  EXPECT_EQ(load({"models=long"}).training.blocks_per_epoch, 250);
}

TEST_F(TrainingOf, LetsAnOverrideStateTheLengthInAnotherWay) {
  EXPECT_EQ(load({"training.tokens=320"}).training.steps(), 20);  // in place of 3 epochs of 10
  EXPECT_EQ(load({"training.batch_tokens=4"}).training.batch, 2);
  EXPECT_EQ(load({"training.tokens_per_epoch=160"}).training.steps(), 30);
  train("{batch: 8, tokens: 320}\n");
  EXPECT_EQ(load({"training.epochs=2", "training.blocks_per_epoch=80"}).training.steps(), 20);
}

TEST_F(TrainingOf, LetsAFileThatExtendsAnotherStateTheLengthInAnotherWay) {
  write("more.yaml", "extends: run.yaml\ntraining: {tokens: 320}\n");
  EXPECT_EQ(load({}, "more.yaml").training.steps(), 20);
}

TEST_F(TrainingOf, TakesGradientAccumulation) {
  EXPECT_EQ(load({"training.gradient_accumulation=4"}).training.gradient_accumulation, 4);
  EXPECT_THAT(errors({"training.gradient_accumulation=16"}),
              testing::Contains(HasSubstr("a batch of 8 cannot be cut into the 16 micro-batches")));
}

TEST_F(TrainingOf, TakesAMicroBatch) {
  EXPECT_EQ(load({"training.micro_batch=4"}).training.micro_batch, 4);
  train("{batch: 8, samples: 80, micro_batch: 2, gradient_accumulation: 4}\n");
  EXPECT_THAT(errors(), testing::Contains(HasSubstr("training.gradient_accumulation excludes training.micro_batch")));
}

TEST_F(TrainingOf, RefusesAMicroBatchLargerThanTheBatch) {
  train("{batch: 8, samples: 80, micro_batch: 9}\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:3:48: error: training.micro_batch: 9 sequences at once are more than the "
                                    "batch of 8"));
}

TEST_F(TrainingOf, GivesEveryModelItsAdapters) {
  train("{batch: 8, samples: 80, lora: {rank: 4}}\n");
  const Scenario scenario = load();
  const Lora usual{4, {LoraTarget::kQuery, LoraTarget::kValue}};
  ASSERT_TRUE(scenario.training.lora);
  EXPECT_EQ(*scenario.training.lora, usual);
  EXPECT_EQ(scenario.models.front().lora, scenario.training.lora);
  train("{batch: 8, samples: 80, lora: {rank: 4, targets: [down, output]}}\n");
  EXPECT_EQ(load().training.lora->targets, (std::vector{LoraTarget::kDown, LoraTarget::kOutput}));
  EXPECT_FALSE(load().training.lora->dropout);
  train("{batch: 8, samples: 80, lora: {rank: 4, dropout: 0.05}}\n");
  EXPECT_TRUE(load().training.lora->dropout);
  train("{batch: 8, samples: 80, lora: {rank: 4, targets: [values]}}\n");
  EXPECT_THAT(errors(), testing::Contains(HasSubstr("training.lora.targets: \"values\" is unknown")));
  train("{batch: 8, samples: 80, lora: {rank: 4, targets: [query, query]}}\n");
  EXPECT_THAT(errors(), testing::Contains(HasSubstr("training.lora.targets: \"query\" is named twice")));
  train("{batch: 8, samples: 80}\n");
  EXPECT_FALSE(load().models.front().lora);
}

}  // namespace
}  // namespace slmsim::training_test
