// groups: the GPUs that a plan may use. "pair" has west/0, west/1 (devices 0, 1) and east/0, east/1 (2, 3).
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/scenario/folder.h"

namespace slmsim::group_test {
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

// Three sites: two VMs with a GPU each at lab and at den, one at hut; devices 0 to 4 in this order.
class GroupsOfSites : public GroupKey {
 protected:
  GroupsOfSites() { write("platforms/pair.yaml", platform(3)); }

  // The first ones have two VMs, the last has one; a way from the first to each other.
  static std::string platform(int sites) {
    static const std::vector<std::string> kNames = {"lab", "den", "hut", "inn", "pub", "bar"};
    std::string places, vms, links;
    for (int i = 0; i < sites; ++i) {
      const std::string& name = kNames[i == sites - 1 ? 2 : i < 2 ? i : i + 1];
      places += "  " + name + ": {transit: yes}\n";
      for (int vm = 0; vm < (i == sites - 1 ? 1 : 2); ++vm)
        vms += "  " + name + "-" + std::to_string(vm) + ": {site: " + name + ", type: box, gpus: [g]}\n";
      if (i > 0) links += "  to-" + name + ": {between: [lab, " + name + "], rtt: 10 ms, bandwidth: 8 Gbps}\n";
    }
    return "name: pair\nsites:\n" + places + "vms:\n" + vms + "links:\n" + links;
  }
};

TEST_F(GroupsOfSites, LeftOutMeansAllPairsOfSitesSitesAndVms) {
  std::vector<Devices> devices;
  for (const auto& group : load().groups) devices.push_back(group.devices);
  EXPECT_THAT(devices, ElementsAre(Devices{0, 1, 2, 3, 4},  // all
                                   Devices{0, 1, 2, 3}, Devices{0, 1, 4},
                                   Devices{2, 3, 4},                          // lab and den, lab and hut, den and hut
                                   Devices{0, 1}, Devices{2, 3}, Devices{4},  // each site, of which hut is a VM
                                   Devices{0}, Devices{1}, Devices{2}, Devices{3}));  // each other VM
  EXPECT_EQ(load().groups, usual_groups(load().platform));
}

TEST_F(GroupsOfSites, LeftOutMeansNoPairsOfManySites) {
  write("platforms/pair.yaml", platform(4));
  EXPECT_EQ(load().groups.size(), 1 + 6 + 4 + 6);
  write("platforms/pair.yaml", platform(5));
  EXPECT_EQ(load().groups.size(), 1 + 5 + 8);
  // Who wants them all says so.
  EXPECT_EQ(groups("pairs").size(), 10);
}

TEST_F(GroupsOfSites, LeftOutMeansAllAndEachVmWhereGpusAreMany) {
  const auto with = [&](int count) {
    write("platforms/pair.yaml",
          "name: pair\nsites: {west: {}, east: {}}\nvms:\n  a: {site: west, type: box, gpus: [g, g], count: " +
              std::to_string(count) + "}\n  b: {site: east, type: box, gpus: [g, g], count: " + std::to_string(count) +
              "}\nlinks:\n  wan: {between: [west, east], rtt: 10 ms, bandwidth: 8 Gbps}\n");
    return load().groups.size();
  };
  EXPECT_EQ(with(16), 1 + 2 + 32);  // 64 GPUs
  EXPECT_EQ(with(17), 1 + 34);
  EXPECT_EQ(groups("[all, sites]").size(), 3);
}

TEST_F(GroupsOfSites, AsksWhichIsMeantByTheNameOfAVmAndOfAnotherSite) {
  write("platforms/pair.yaml",
        "name: pair\nsites: {west: {}, east: {}}\nvms:\n  east: {site: west, type: box, gpus: [g, g]}\n"
        "  west: {site: east, type: box, gpus: [g, g]}\n  b: {site: east, type: box, gpus: [g]}\n"
        "links:\n  wan: {between: [west, east], rtt: 10 ms, bandwidth: 8 Gbps}\n");
  EXPECT_THAT(errors_with("[all, east]"),
              ElementsAre(HasSubstr("\"east\" is a VM and another site; rename one of them")));
  EXPECT_EQ(groups("[all, b]").size(), 2);
}

TEST_F(GroupsOfSites, KnowsWordsAndNamesOfSites) {
  EXPECT_THAT(devices("sites"), ElementsAre(Devices{0, 1}, Devices{2, 3}, Devices{4}));
  EXPECT_THAT(devices("pairs"), ElementsAre(Devices{0, 1, 2, 3}, Devices{0, 1, 4}, Devices{2, 3, 4}));
  EXPECT_THAT(devices("[lab, [hut, den-1]]"), ElementsAre(Devices{0, 1}, Devices{4, 3}));
  EXPECT_THAT(groups("[lab]")[0].names, ElementsAre("lab-0", "lab-1"));
  EXPECT_THAT(errors_with("[[lab, lab-1]]"), ElementsAre(HasSubstr("a GPU is in one group twice")));
}

TEST_F(GroupsOfSites, AreKnownByTheirVms) {
  const Platform platform = load().platform;
  EXPECT_THAT(whole_sites(platform, {"lab-0", "lab-1"}), ElementsAre(0));
  EXPECT_THAT(whole_sites(platform, {"hut-0", "lab-1", "lab-0"}), ElementsAre(0, 2));
  EXPECT_THAT(whole_sites(platform, {"lab-0", "hut-0"}), testing::IsEmpty());
  EXPECT_THAT(whole_sites(platform, {"lab-0", "lab-1", "hut-0/0"}), testing::IsEmpty());
  EXPECT_THAT(sites_with_vms(platform), ElementsAre(0, 1, 2));
}

TEST_F(GroupKey, TellsThatOneSiteHasNoPairs) {
  write("run.yaml", kRun + "groups: [all, pairs]\n");
  EXPECT_THAT(
      errors({"platform=alone"}),
      ElementsAre(
          "run.yaml:4:15: error: groups: there are no pairs of sites, since all GPUs are at one site; leave it out"));
}

TEST_F(GroupKey, MeansAVmThatIsCalledAsAWord) {
  write("platforms/pair.yaml",
        "name: pair\nsites: {west: {}}\nvms:\n  sites: {site: west, type: box, gpus: [g, g]}\n"
        "  b: {site: west, type: box, gpus: [g]}\n");
  EXPECT_THAT(devices("sites"), ElementsAre(Devices{0, 1}));
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
  EXPECT_THAT(
      errors_with("[all, wst, [west, east/3]]"),
      ElementsAre("run.yaml:4:15: error: groups: there is no VM, GPU or site \"wst\"; did you mean \"west\"?",
                  HasSubstr("run.yaml:4:27: error: groups: there is no VM, GPU or site \"east/3\"; known are: ")));
}

TEST_F(GroupKey, DoesNotSuggestAWordThatWouldBeRefusedAgain) {
  // Inside a list of names stand names only.
  const auto errors = errors_with("[[all]]");
  ASSERT_EQ(errors.size(), 1);
  EXPECT_THAT(errors[0], testing::Not(HasSubstr("did you mean \"all\"?")));
}

TEST_F(GroupKey, RefusesAGpuTwiceInOneGroup) {
  EXPECT_THAT(errors_with("[[west, west/1]]"),
              ElementsAre("run.yaml:4:11: error: groups: a GPU is in one group twice; name each VM, GPU or site once"));
}

TEST_F(GroupKey, RefusesAGroupOfNothing) {
  EXPECT_THAT(errors_with("[[]]"), ElementsAre(HasSubstr("a group without GPUs; name at least one")));
  EXPECT_THAT(errors_with("[]"), ElementsAre("run.yaml:4:9: error: groups is empty; list at least one"));
}

TEST_F(GroupKey, RefusesAMapForAGroup) {
  EXPECT_THAT(errors_with("[{vm: west}]"),
              ElementsAre("run.yaml:4:10: error: groups: expected \"all\", \"pairs\", \"sites\", \"each\", the name of "
                          "a VM or site, or a list of names such as [gat, amst]"));
}

}  // namespace
}  // namespace slmsim::group_test
