// VMs by count, and names of many.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/group.h"
#include "sim/scenario/scenario.h"
#include "tests/own_file.h"

namespace slmsim::names_test {
namespace {

using testing::ElementsAre;

constexpr const char* kType =
    "type: {name: plain, nic: 10 Gbps, device_latency: 5 us, tcp: {net.ipv4.tcp_rmem: 6 MiB, net.ipv4.tcp_wmem: 4 MiB, "
    "copy_rate: 1 GB/s}}";

Scenario load(const std::string& vms, const std::string& groups) {
  const std::filesystem::path file = own_file(".yaml");
  std::ofstream(file) << "models: [gpt2m]\ntechniques: [DDP]\ngroups: " << groups
                      << "\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 80}\n"
                      << "platform: {name: counted, sites: {lab: {}}, vms: {" << vms << "}}\n";
  return load_scenario(file);
}

std::string several(const std::string& name, int count) {
  return name + ": {count: " + std::to_string(count) + ", site: lab, gpus: [t4, t4], " + kType + "}";
}
std::string one(const std::string& name) { return name + ": {site: lab, gpus: [a30], " + kType + "}"; }

TEST(Count, MakesVmsThatAreNumberedFromZero) {
  const Scenario scenario = load(one("desk") + ", " + several("node", 3), "all");
  ASSERT_EQ(scenario.platform.vms.size(), 4);
  EXPECT_EQ(scenario.platform.vms[3].name, "node2");
  EXPECT_EQ(scenario.platform.vms[3].first_device, 5);  // behind one GPU and twice two
  ASSERT_EQ(scenario.platform.devices.size(), 7);
  EXPECT_EQ(scenario.platform.devices[6].name, "node2/1");
  EXPECT_EQ(scenario.platform.devices[6].vm, 3);
  EXPECT_THAT(scenario.groups.front().names, ElementsAre("desk", "node0", "node1", "node2"));
}

TEST(Count, OfOneIsNumberedToo) { EXPECT_EQ(load(several("node", 1), "all").platform.vms.front().name, "node0"); }

TEST(Count, HasRoomForSixteenThousandGpus) {
  EXPECT_EQ(load(several("node", 8192), "all").platform.devices.size(), 16384);
}

TEST(Count, GivesGroupsFromOneVmToAnother) {
  const Scenario scenario = load(several("node", 12), "[node2..node10, [node0, node11..node11]]");
  ASSERT_EQ(scenario.groups.size(), 2);
  EXPECT_EQ(scenario.groups[0].devices.size(), 18);
  EXPECT_EQ(scenario.groups[0].devices.front(), 4);
  EXPECT_THAT(scenario.groups[1].names, ElementsAre("node0", "node11"));
}

TEST(Count, AndANameOfTheSameIsAnError) {
  try {
    load(one("node1") + ", " + several("node", 3), "all");
    FAIL() << "two VMs of one name were taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("two VMs are named \"node1\""));
  }
}

TEST(Names, OfFiveThatAreNumberedOnAreARange) {
  EXPECT_THAT(in_ranges({"n0", "n1", "n2", "n3", "n4"}), ElementsAre("n0..n4"));
  EXPECT_THAT(in_ranges({"n0", "n1", "n2", "n3"}), ElementsAre("n0", "n1", "n2", "n3"));
  EXPECT_THAT(in_ranges({"a", "n8", "n9", "n10", "n11", "n12", "m13"}), ElementsAre("a", "n8..n12", "m13"));
  EXPECT_THAT(in_ranges({"n00", "n01", "n02", "n03", "n04"}), ElementsAre("n00", "n01", "n02", "n03", "n04"));
  EXPECT_THAT(in_ranges({"7", "8", "9", "10", "11"}), ElementsAre("7..11"));
}

TEST(Names, OfGpusAreThoseOfVmsThatAreThereAsAWhole) {
  const Platform platform = load(several("node", 6), "all").platform;
  EXPECT_THAT(names_of_gpus(platform, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), ElementsAre("node0..node4"));
  EXPECT_THAT(names_of_gpus(platform, {1, 2, 3, 5, 4}), ElementsAre("node0/1", "node1", "node2/1", "node2/0"));
}

}  // namespace
}  // namespace slmsim::names_test
