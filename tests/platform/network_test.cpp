#include "sim/platform/network.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/example.h"

namespace slmsim::network_test {
namespace {

using testing::ElementsAre;

// A second VM in the west, one in the east, and a link of 20 ms.
const std::string kCluster = kPair +
                             "  w2: {site: west, type: *box, gpus: [*g]}\n"
                             "  e: {site: east, type: *box, gpus: [*g]}\n"
                             "links:\n"
                             "  wan: {between: [west, east], rtt: 20 ms, bandwidth: 8 Gbps}\n";

std::string with(std::string text, const std::string& old, const std::string& now) {
  return text.replace(text.find(old), old.size(), now);
}

// A platform with its network, asked by the names of GPUs.
struct World {
  explicit World(const std::string& text) : platform(platform_of(text)), network(platform) {}
  Route route(const std::string& from, const std::string& to) const {
    return network.route(device(platform, from), device(platform, to));
  }
  std::vector<std::string> crossed(const std::string& from, const std::string& to) const {
    std::vector<std::string> names;
    for (const int link : route(from, to).links) names.push_back(network.links()[link].name);
    return names;
  }
  double bandwidth(const std::string& name) const {
    for (const auto& link : network.links()) {
      if (link.name == name) return link.bandwidth.value;
    }
    return -1;
  }
  double round_trip(const std::string& from, const std::string& to) const {
    return network.round_trip(device(platform, from), device(platform, to)).value;
  }
  Platform platform;
  Network network;
};

TEST(Network, CrossesTheWideAreaBetweenSites) {
  const World world(kCluster);
  EXPECT_THAT(world.crossed("w/1", "e/0"),
              ElementsAre("pcie:w/1:out", "nic:w:out", "wan:west->east", "nic:e:in", "pcie:e/0:in"));
  EXPECT_THAT(world.crossed("e/0", "w/1"),
              ElementsAre("pcie:e/0:out", "nic:e:out", "wan:east->west", "nic:w:in", "pcie:w/1:in"));
}

TEST(Network, KeepsATemporaryPlatform) {
  const World world(kCluster);
  const Network network(platform_of(kCluster));
  const int from = device(world.platform, "w/1"), to = device(world.platform, "e/0");
  EXPECT_EQ(network.route(from, to).links, world.route("w/1", "e/0").links);
  EXPECT_EQ(network.round_trip(from, to).value, 20e-3);
}

TEST(Network, StaysInsideASite) {
  EXPECT_THAT(World(kCluster).crossed("w/0", "w2/0"),
              ElementsAre("pcie:w/0:out", "nic:w:out", "nic:w2:in", "pcie:w2/0:in"));
}

TEST(Network, StaysInsideAVm) {
  // GPUs carry less for each other than their slots carry, and this traffic shares the slots.
  EXPECT_THAT(World(kCluster).crossed("w/0", "w/1"),
              ElementsAre("pcie:w/0:out", "peer:w/0:out", "peer:w/1:in", "pcie:w/1:in"));
}

TEST(Network, GivesEveryLinkItsRate) {
  const World world(kCluster);
  EXPECT_EQ(world.bandwidth("pcie:w/0:out"), 8e9);
  EXPECT_EQ(world.bandwidth("pcie:w/0:in"), 8e9);
  EXPECT_EQ(world.bandwidth("nic:e:in"), 10e9);       // 80 Gbit/s
  EXPECT_EQ(world.bandwidth("wan:west->east"), 1e9);  // 8 Gbit/s
  EXPECT_EQ(world.bandwidth("wan:east->west"), 1e9);
}

TEST(Network, AddsUpTheLatencyOfTheWay) {
  const World world(kCluster);
  // Half of the round trip and one hop of 10 us at each end.
  EXPECT_DOUBLE_EQ(world.route("w/0", "e/0").latency.value, 10.02e-3);
  EXPECT_DOUBLE_EQ(world.route("w/0", "w2/0").latency.value, 0.12e-3);  // 0.2 ms / 2 + 2 x 10 us
}

TEST(Network, StagesThroughHostMemoryInTwoHopsUnlessGpusArePeers) {
  EXPECT_DOUBLE_EQ(World(kCluster).route("w/0", "w/1").latency.value, 20e-6);
  const World peers(with(kCluster, "name: box", "name: box, peer_to_peer: yes"));
  EXPECT_DOUBLE_EQ(peers.route("w/0", "w/1").latency.value, 10e-6);
  EXPECT_TRUE(World(kCluster).route("w/0", "w/1").staged);
  EXPECT_FALSE(peers.route("w/0", "w/1").staged);
}

TEST(Network, LetsGpusReachAShareOfTheirSlotsRate) {
  // Slots of 8 GB/s.
  EXPECT_DOUBLE_EQ(World(kCluster).bandwidth("peer:w/0:out"), 0.36 * 8e9);
  EXPECT_DOUBLE_EQ(World(with(kCluster, "name: box", "name: box, peer_to_peer: yes")).bandwidth("peer:w/0:in"),
                   0.78 * 8e9);
  EXPECT_DOUBLE_EQ(World(with(kCluster, "name: box", "name: box, pcie_share: 0.5")).bandwidth("peer:w/1:in"), 4e9);
}

TEST(Network, PrefersNvlinkInsideAVm) {
  const World world(with(kCluster, "name: box", "name: box, nvlink: yes"));
  EXPECT_THAT(world.crossed("w/0", "w/1"), ElementsAre("peer:w/0:out", "peer:w/1:in"));
  EXPECT_EQ(world.bandwidth("peer:w/0:out"), 80e9);
  EXPECT_DOUBLE_EQ(world.route("w/0", "w/1").latency.value, 10e-6);
  EXPECT_EQ(world.crossed("w/0", "e/0").front(), "pcie:w/0:out");  // NVLink ends at the VM
}

TEST(Network, KnowsTheRoundTripBetweenVms) {
  const World world(kCluster);
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.02);
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "w2/0"), 0.2e-3);
  EXPECT_EQ(world.round_trip("w/0", "w/1"), 0.0);
}

TEST(Network, KeepsTheDirectionsOfAnAsymmetricLinkApart) {
  const World world(with(kCluster, "rtt: 20 ms", "rtt: 20 ms, forward_delay: 5 ms, reverse: {bandwidth: 16 Gbps}"));
  EXPECT_DOUBLE_EQ(world.route("w/0", "e/0").latency.value, 5.02e-3);   // 5 ms + 2 x 10 us
  EXPECT_DOUBLE_EQ(world.route("e/0", "w/0").latency.value, 15.02e-3);  // 20 - 5 ms + 2 x 10 us
  EXPECT_EQ(world.bandwidth("wan:west->east"), 1e9);
  EXPECT_EQ(world.bandwidth("wan:east->west"), 2e9);
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.02);
  EXPECT_DOUBLE_EQ(world.round_trip("e/0", "w/0"), 0.02);
}

TEST(Network, TakesTheFasterOfTwoLinks) {
  const World world(kCluster + "  fast: {between: [east, west], rtt: 10 ms, bandwidth: 8 Gbps}\n");
  EXPECT_THAT(world.crossed("w/0", "e/0"),
              ElementsAre("pcie:w/0:out", "nic:w:out", "fast:west->east", "nic:e:in", "pcie:e/0:in"));
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.01);
}

// West and east are joined by a link of 100 ms; it would be 20 + 30 ms through the middle.
const std::string kTriangle = with(kPair, "east: {}", "east: {}, mid: {}") +
                              "  e: {site: east, type: *box, gpus: [*g]}\n"
                              "links:\n"
                              "  direct: {between: [west, east], rtt: 100 ms, bandwidth: 8 Gbps}\n"
                              "  first: {between: [west, mid], rtt: 20 ms, bandwidth: 8 Gbps}\n"
                              "  second: {between: [east, mid], rtt: 30 ms, bandwidth: 8 Gbps}\n";

TEST(Network, TakesTheLinkThatIsStatedBetweenTwoSites) {
  const World world(kTriangle);
  EXPECT_THAT(world.crossed("w/0", "e/0"),
              ElementsAre("pcie:w/0:out", "nic:w:out", "direct:west->east", "nic:e:in", "pcie:e/0:in"));
  EXPECT_DOUBLE_EQ(world.route("w/0", "e/0").latency.value, 50.02e-3);  // 50 ms + 2 x 10 us
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.1);
}

const std::string kDetour = with(kTriangle, "  direct: {between: [west, east], rtt: 100 ms, bandwidth: 8 Gbps}\n", "");

TEST(Network, GoesOverASiteThatLetsTrafficPassWhereNoLinkJoinsTwo) {
  const World world(with(kDetour, "mid: {}", "mid: {transit: yes}"));
  EXPECT_THAT(world.crossed("w/0", "e/0"), ElementsAre("pcie:w/0:out", "nic:w:out", "first:west->mid",
                                                       "second:mid->east", "nic:e:in", "pcie:e/0:in"));
  EXPECT_THAT(world.crossed("e/0", "w/0"), ElementsAre("pcie:e/0:out", "nic:e:out", "second:east->mid",
                                                       "first:mid->west", "nic:w:in", "pcie:w/0:in"));
  EXPECT_DOUBLE_EQ(world.route("w/0", "e/0").latency.value, 25.02e-3);  // 10 + 15 ms + 2 x 10 us
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.05);
}

TEST(Network, GoesOverLinksThatLetTrafficPass) {
  const std::string one = with(kDetour, "[west, mid], rtt: 20 ms", "[west, mid], rtt: 20 ms, transit: yes");
  Reading reading;
  read_platform(parse_yaml(one, "p.yaml"), "", reading);
  EXPECT_EQ(reading.errors.size(), 1u);  // from one such link to another one
  const World world(with(one, "[east, mid], rtt: 30 ms", "[east, mid], rtt: 30 ms, transit: yes"));
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.05);
}

TEST(Network, RefusesTrafficThatNobodyLetsPass) {
  Reading reading;
  read_platform(parse_yaml(kDetour, "p.yaml"), "", reading);
  EXPECT_THAT(
      errors_of(reading),
      ElementsAre("p.yaml:1:1: error: no link leads from w (site west) to e (site east); add one under links, or "
                  "transit: yes on site mid, which lies between"));
}

TEST(Network, TakesTheQuickestOfTheWaysThatLetTrafficPass) {
  // Over the near site 10 ms, but nothing passes there; over the far one 50 ms.
  const std::string two = with(with(kDetour, "mid: {}", "mid: {transit: yes}, near: {}"), "links:\n",
                               "links:\n  a: {between: [west, near], rtt: 5 ms, bandwidth: 8 Gbps}\n"
                               "  b: {between: [near, east], rtt: 5 ms, bandwidth: 8 Gbps}\n");
  EXPECT_DOUBLE_EQ(World(two).round_trip("w/0", "e/0"), 0.05);
  EXPECT_DOUBLE_EQ(World(with(two, "near: {}", "near: {transit: yes}")).round_trip("w/0", "e/0"), 0.01);
}

TEST(Network, HasOneRoundTripWhicheverEndAsks) {
  // 5 ms forth and 95 ms back.
  const World world(with(kTriangle, "rtt: 100 ms", "rtt: 100 ms, forward_delay: 5 ms"));
  EXPECT_DOUBLE_EQ(world.route("w/0", "e/0").latency.value, 5.02e-3);
  EXPECT_DOUBLE_EQ(world.route("e/0", "w/0").latency.value, 95.02e-3);
  EXPECT_DOUBLE_EQ(world.round_trip("w/0", "e/0"), 0.1);
  EXPECT_DOUBLE_EQ(world.round_trip("e/0", "w/0"), 0.1);
}

}  // namespace
}  // namespace slmsim::network_test
