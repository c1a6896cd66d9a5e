#include "sim/report/phrases.h"

#include <gtest/gtest.h>

namespace slmsim::phrases_test {
namespace {

TEST(Phrases, OneEpochIsSingular) {
  Training training;
  training.blocks_per_epoch = 570;
  training.epochs = 1;
  EXPECT_EQ(extent_text(training), "1 epoch of 570 sequences");
  training.epochs = 2;
  EXPECT_EQ(extent_text(training), "2 epochs of 570 sequences");
}

TEST(Phrases, CountsOneThingInTheSingular) {
  EXPECT_EQ(count_of(1, "sequence"), "1 sequence");
  EXPECT_EQ(count_of(2, "sequence"), "2 sequences");
}

TEST(Phrases, NameAJobOfLessThanARoundOneRound) {
  RoundTimes round{};
  round.steps = 100;
  round.time = Seconds{120};
  round.count = 0;
  round.rest = 84;
  round.rest_time = Seconds{60};
  EXPECT_EQ(round_text(round), "the job is one round of 84 steps, 1 min; a full one of 100 takes 2 min");
}

}  // namespace
}  // namespace slmsim::phrases_test
