// extends: FILE
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/scenario/folder.h"

namespace slmsim::extends_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Extends = Folder;

TEST_F(Extends, TakesFromItsBaseWhatItDoesNotSay) {
  write("on.yaml", "extends: run.yaml\ntraining: {batch: 4}\n");
  const Scenario s = load({}, "on.yaml");
  EXPECT_EQ(s.name, "on");
  EXPECT_EQ(s.platform.name, "pair");
  EXPECT_EQ(s.training.batch, 4);   // its own
  EXPECT_EQ(s.training.epochs, 3);  // its base's
}

TEST_F(Extends, ReplacesListsWhole) {
  write("base.yaml", "platform: pair\nmodels: [tiny, small]\n" + kTraining);
  write("run.yaml", "extends: base.yaml\nmodels: [small]\n");
  ASSERT_EQ(load().models.size(), 1);
  EXPECT_EQ(load().models[0].name, "small");
}

TEST_F(Extends, FollowsAChain) {
  write("one.yaml", "extends: two.yaml\ntraining: {batch: 1}\n");
  write("two.yaml", "extends: run.yaml\ntraining: {batch: 2, epochs: 2}\n");
  const Scenario s = load({}, "one.yaml");
  EXPECT_EQ(s.training.batch, 1);              // one.yaml
  EXPECT_EQ(s.training.epochs, 2);             // two.yaml
  EXPECT_EQ(s.training.blocks_per_epoch, 10);  // run.yaml
}

TEST_F(Extends, CountsPathsFromTheFileThatNamesThem) {
  write("base/base.yaml", "platform: pair\nmodels: ./own.yaml\n" + kTraining);
  write("base/own.yaml", "name: own\nfamily: gpt2\nhidden: 4\nheads: 2\nlayers: 1\nsequence: 2\nvocabulary: 10\n");
  write("runs/run.yaml", "extends: ../base/base.yaml\n");
  EXPECT_EQ(load({}, "runs/run.yaml").models[0].name, "own");
}

TEST_F(Extends, IsLaidUnderOverrides) {
  write("on.yaml", "extends: run.yaml\n");
  EXPECT_EQ(load({"training.epochs=7"}, "on.yaml").training.epochs, 7);
}

TEST_F(Extends, ShowsABasesErrorInTheBase) {
  write("base.yaml", "platform: pair\nmodels: tiny\ntraining: {batch: 0, epochs: 3, blocks_per_epoch: 10}\n");
  write("run.yaml", "extends: base.yaml\n");
  EXPECT_THAT(errors(), ElementsAre("base.yaml:3:19: error: training.batch: \"0\" is out of range; expected a whole "
                                    "number from 1 to 1048576"));
}

TEST_F(Extends, RefusesARingOfOne) {
  write("run.yaml", "extends: run.yaml\n");
  EXPECT_THAT(errors(),
              ElementsAre("run.yaml:1:10: error: \"run.yaml\" extends itself; a base must not lead back to it"));
}

TEST_F(Extends, RefusesARingOfThree) {
  write("run.yaml", "extends: b/two.yaml\n");
  write("b/two.yaml", "extends: ./three.yaml\n");
  write("b/three.yaml", "name: three\nextends: ../run.yaml\n");
  EXPECT_THAT(errors(),
              ElementsAre("b/three.yaml:2:10: error: \"../run.yaml\" extends itself; a base must not lead back to it"));
}

TEST_F(Extends, LetsTwoFilesHaveOneBase) {
  write("one.yaml", "extends: run.yaml\n");
  write("two.yaml", "extends: run.yaml\n");
  EXPECT_EQ(load({}, "one.yaml").training.batch, 8);
  EXPECT_EQ(load({}, "two.yaml").training.batch, 8);
}

TEST_F(Extends, RefusesAnEndlessChain) {
  for (int i = 0; i < 40; ++i) write(fmt::format("c{}.yaml", i), fmt::format("extends: c{}.yaml\n", i + 1));
  EXPECT_THAT(errors({}, "c0.yaml"), ElementsAre(HasSubstr("more than 16 files extend each other")));
}

TEST_F(Extends, RefusesABaseThatIsNotThere) {
  write("run.yaml", "extends: bass.yaml\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:1:10: error: there is no file \"bass.yaml\" to extend; the path is "
                                    "relative to this file's folder"));
}

TEST_F(Extends, TakesOneBaseOnly) {
  write("base.yaml", kRun);
  write("run.yaml", "extends: [base.yaml]\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:1:10: error: extends is a list; one file's path is expected"));
}

}  // namespace
}  // namespace slmsim::extends_test
