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

}  // namespace
}  // namespace slmsim::phrases_test
