#include <gmock/gmock.h>

#include "sim/scenario/link.h"
#include "tests/scenario/folder.h"

namespace slmsim::reach_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReachOf : public Folder {
 protected:
  std::vector<std::string> problems(const std::string& text, const Reach& reach) {
    return errors_of([&] { load_scenario(ScenarioText{text, path_ / "inside/in.yaml", reach}); });
  }
};

TEST_F(ReachOf, AFolderEndsAtItsEdges) {
  write("inside/a.yaml", "");
  write("inside-too/a.yaml", "");
  std::filesystem::create_directory_symlink(path_ / "inside-too", path_ / "inside/link");
  const Reach reach{{path_ / "inside"}};
  EXPECT_TRUE(reach.holds(path_ / "inside/a.yaml"));
  EXPECT_TRUE(reach.holds(path_ / "inside/none/b.yaml"));
  EXPECT_TRUE(reach.holds(path_ / "inside-too/../inside/a.yaml"));
  EXPECT_FALSE(reach.holds(path_ / "inside-too/a.yaml"));
  EXPECT_FALSE(reach.holds(path_ / "inside/../inside-too/a.yaml"));
  EXPECT_FALSE(reach.holds(path_ / "inside/link/a.yaml"));
  EXPECT_FALSE(reach.holds("/etc/passwd"));
  EXPECT_TRUE(Reach{}.holds("/etc/passwd"));
}

TEST_F(ReachOf, ATextCoversWhatItExtendsAndNames) {
  write("inside/base.yaml", kRun);
  write("base.yaml", kRun);
  const Reach reach{{path_ / "inside"}};
  EXPECT_THAT(problems("extends: base.yaml\n", reach), ElementsAre());
  EXPECT_THAT(problems("extends: ../base.yaml\n", reach),
              ElementsAre(HasSubstr("in.yaml:1:10: error: a path may lead only to files below")));
  EXPECT_THAT(problems("extends: ../base.yaml\n", {}), ElementsAre());
  EXPECT_THAT(problems("platform: ../platforms/pair.yaml\nmodels: tiny\n" + kTraining, reach),
              ElementsAre(HasSubstr("in.yaml:1:11: error: a path may lead only to files below")));
  // Names are looked up where data lie.
  EXPECT_THAT(problems(kRun, reach), ElementsAre());
}

TEST_F(ReachOf, ATextIsReadAsItsFileWouldBe) {
  write("inside/in.yaml", kRun);
  EXPECT_EQ(load_scenario(ScenarioText{kRun, path_ / "inside/in.yaml", {}}), load({}, "inside/in.yaml"));
}

TEST_F(ReachOf, AScenarioInOnePieceIsTheSame) {
  write("inside/low/base.yaml", "platform: ../../platforms/pair.yaml\nmodels: [tiny]\n" + kTraining);
  write("inside/in.yaml", "extends: low/base.yaml\ntraining: {batch: 16}\n");
  ScenarioFile file(path_ / "inside/in.yaml");
  Node whole = file.self_contained(path_ / "inside");
  EXPECT_EQ(whole.find("extends"), nullptr);
  EXPECT_EQ(whole.find("platform")->find("name")->scalar, "pair");
  ScenarioFile again(std::move(whole), path_ / "inside/in.yaml");
  const Scenario one = read_scenario(again.link({}), "in"), other = load({}, "inside/in.yaml");
  EXPECT_EQ(one.platform, other.platform);
  EXPECT_EQ(one.training, other.training);
}

}  // namespace
}  // namespace slmsim::reach_test
