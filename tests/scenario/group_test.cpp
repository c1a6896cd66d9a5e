// groups: the GPUs that a plan may use. "pair" has west/0, west/1 (devices 0, 1) and east/0, east/1 (2, 3).
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/scenario/folder.h"

namespace slmsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Devices = std::vector<int>;

class GroupKey : public Folder {
 protected:
  std::vector<Group> groups(const std::string& text) {
    write("run.yaml", kRun + "groups: " + text + "\n");
    return load().groups;
  }
  std::vector<Devices> devices(const std::string& text) {
    std::vector<Devices> out;
    for (const auto& group : groups(text)) out.push_back(group.devices);
    return out;
  }
  std::vector<std::string> errors_with(const std::string& text) {
    write("run.yaml", kRun + "groups: " + text + "\n");
    return errors();
  }
};

TEST_F(GroupKey, LeftOutMeansAllVmsTogetherAndEachAlone) {
  const auto groups = load().groups;
  ASSERT_EQ(groups.size(), 3);
  EXPECT_THAT(groups[0].devices, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(groups[0].names, ElementsAre("west", "east"));
  EXPECT_THAT(groups[1].devices, ElementsAre(0, 1));
  EXPECT_THAT(groups[1].names, ElementsAre("west"));
  EXPECT_THAT(groups[2].devices, ElementsAre(2, 3));
}

TEST_F(GroupKey, LeftOutMeansOneGroupOnAPlatformOfOneVm) {
  const auto groups = load({"platform=alone"}).groups;
  ASSERT_EQ(groups.size(), 1);
  EXPECT_THAT(groups[0].devices, ElementsAre(0, 1));
}

TEST_F(GroupKey, KnowsAllAndEach) {
  EXPECT_THAT(devices("all"), ElementsAre(Devices{0, 1, 2, 3}));
  EXPECT_THAT(devices("each"), ElementsAre(Devices{0, 1}, Devices{2, 3}));
  EXPECT_THAT(devices("[each, all]"), ElementsAre(Devices{0, 1}, Devices{2, 3}, Devices{0, 1, 2, 3}));
}

TEST_F(GroupKey, NamesVmsAndGpus) {
  EXPECT_THAT(devices("east"), ElementsAre(Devices{2, 3}));
  EXPECT_THAT(devices("[west, east]"), ElementsAre(Devices{0, 1}, Devices{2, 3}));  // two groups
  EXPECT_THAT(devices("[[west, east]]"), ElementsAre(Devices{0, 1, 2, 3}));         // one
  EXPECT_THAT(devices("[[west/1, east]]"), ElementsAre(Devices{1, 2, 3}));
}

TEST_F(GroupKey, NamesAGroupAsTheFileDoes) {
  EXPECT_THAT(groups("[[west/1, east]]")[0].names, ElementsAre("west/1", "east"));
}

TEST_F(GroupKey, KeepsOneOfEqualGroups) {
  EXPECT_THAT(devices("[all, [west, east], west, west]"), ElementsAre(Devices{0, 1, 2, 3}, Devices{0, 1}));
}

TEST_F(GroupKey, AsksWhichVmOrGpuWasMeant) {
  EXPECT_THAT(errors_with("[all, wst, [west, east/3]]"),
              ElementsAre("run.yaml:4:15: error: groups: there is no VM or GPU \"wst\"; did you mean \"west\"?",
                          "run.yaml:4:27: error: groups: there is no VM or GPU \"east/3\"; did you mean "
                          "\"east/0\"?"));
}

TEST_F(GroupKey, DoesNotSuggestAWordThatWouldBeRefusedAgain) {
  // Inside a list of names stand names only.
  const auto errors = errors_with("[[all]]");
  ASSERT_EQ(errors.size(), 1);
  EXPECT_THAT(errors[0], testing::Not(HasSubstr("did you mean \"all\"?")));
}

TEST_F(GroupKey, RefusesAGpuTwiceInOneGroup) {
  EXPECT_THAT(errors_with("[[west, west/1]]"),
              ElementsAre("run.yaml:4:11: error: groups: a GPU is in one group twice; name each VM or GPU once"));
}

TEST_F(GroupKey, RefusesAGroupOfNothing) {
  EXPECT_THAT(errors_with("[[]]"), ElementsAre(HasSubstr("a group without GPUs; name at least one")));
  EXPECT_THAT(errors_with("[]"), ElementsAre("run.yaml:4:9: error: groups is empty; list at least one"));
}

TEST_F(GroupKey, RefusesAMapForAGroup) {
  EXPECT_THAT(errors_with("[{vm: west}]"),
              ElementsAre("run.yaml:4:10: error: groups: expected \"all\", \"each\", a VM's name, or a list of names "
                          "such as [gat, amst]"));
}

}  // namespace
}  // namespace slmsim
