// The orders in which NCCL's rings go through GPUs: over links between pairs, and by the NICs of several rails.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "sim/nccl/communicator.h"
#include "tests/small_world.h"

namespace slmsim {
namespace {

using Orders = std::vector<std::vector<std::size_t>>;

std::vector<int> all_devices(const Platform& platform) {
  std::vector<int> out;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) out.push_back(static_cast<int>(i));
  return out;
}

// One VM of GPUs that are joined in these pairs.
Orders orders_of(int gpus, const std::vector<std::pair<int, int>>& pairs) {
  Platform platform = small_scenario(1, gpus).platform;
  NodeInside& inside = platform.vms.front().type.inside;
  for (int i = 0; i < gpus; ++i) inside.parts.push_back({"g" + std::to_string(i), PartKind::kGpu, {}, {}, {}, {}});
  for (const auto& [a, b] : pairs) inside.links.push_back({"Pair", a, b, BytesPerSecond{10e9}});
  return ring_orders(platform, all_devices(platform));
}

// How often each link is used in each direction; a ring that uses something else is an error.
std::map<std::pair<int, int>, int> uses(const Orders& orders, const std::vector<std::pair<int, int>>& pairs) {
  std::set<std::pair<int, int>> known;
  for (const auto& [a, b] : pairs) {
    known.insert({a, b});
    known.insert({b, a});
  }
  std::map<std::pair<int, int>, int> out;
  for (const auto& order : orders) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::pair edge{static_cast<int>(order[i]), static_cast<int>(order[(i + 1) % order.size()])};
      EXPECT_TRUE(known.contains(edge)) << edge.first << " to " << edge.second;
      ++out[edge];
    }
  }
  return out;
}

TEST(RingOrders, GoAlongTheOnlyRingThereIsHoweverItsGpusAreNumbered) {
  for (const std::vector<int>& numbers : {std::vector{0, 1, 2, 3, 4, 5, 6, 7}, {3, 0, 6, 1, 7, 4, 2, 5}}) {
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < 8; ++i) pairs.emplace_back(numbers[i], numbers[(i + 1) % 8]);
    const Orders orders = orders_of(8, pairs);
    EXPECT_EQ(orders.size(), 2);  // both ways round
    for (const auto& [edge, count] : uses(orders, pairs)) EXPECT_EQ(count, 1);
  }
}

TEST(RingOrders, UseEveryPairOfAMeshAtMostOnceEachWay) {
  for (const int gpus : {5, 6, 8}) {
    std::vector<std::pair<int, int>> pairs;
    for (int a = 0; a < gpus; ++a) {
      for (int b = 0; b < a; ++b) pairs.emplace_back(a, b);
    }
    const Orders orders = orders_of(gpus, pairs);
    EXPECT_GE(static_cast<int>(orders.size()), gpus - 3) << gpus;  // of gpus - 1 at most
    for (const auto& [edge, count] : uses(orders, pairs)) EXPECT_EQ(count, 1);
  }
}

TEST(RingOrders, OfFourGpusAreAllCycles) {
  EXPECT_EQ(orders_of(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}).size(), 6);
  EXPECT_EQ(orders_of(4, {}).size(), 1);
}

// Bridges join two GPUs each; all hang on a switch, whose links take half a millisecond each.
TEST(RingOrders, GoOverTheBridgesOfPairsAndAsSeldomAsCanBeOverTheRest) {
  Platform platform = small_scenario(1, 4).platform;
  NodeInside& inside = platform.vms.front().type.inside;
  for (int i = 0; i < 4; ++i) inside.parts.push_back({"g" + std::to_string(i), PartKind::kGpu, {}, {}, {}, {}});
  inside.parts.push_back({"hub", PartKind::kSwitch, {}, {}, {}, {}});
  for (int i = 0; i < 4; ++i) inside.links.push_back({"PCIe", 4, i, BytesPerSecond{1e9}, 1, false, Seconds{0.5e-3}});
  inside.links.push_back({"NVLink", 0, 2, BytesPerSecond{10e9}});
  inside.links.push_back({"NVLink", 1, 3, BytesPerSecond{10e9}});
  EXPECT_THAT(ring_orders(platform, {0, 1, 2, 3}), testing::ElementsAre(testing::ElementsAre(0, 1, 3, 2)));
}

// Four GPUs of a DGX-1: links 0-1, 0-2 and 1-3 are single, 0-3, 1-2 and 2-3 double. Four rings of a single link's rate:
// 0-1-2-3 and 0-2-1-3, both ways round.
TEST(RingOrders, UseDoubleLinksTwice) {
  Platform platform = small_scenario(1, 4).platform;
  NodeInside& inside = platform.vms.front().type.inside;
  for (int i = 0; i < 4; ++i) inside.parts.push_back({"g" + std::to_string(i), PartKind::kGpu, {}, {}, {}, {}});
  const std::vector<std::pair<int, int>> all = {{0, 1}, {0, 2}, {1, 3}, {0, 3}, {1, 2}, {2, 3}};
  for (std::size_t i = 0; i < all.size(); ++i)
    inside.links.push_back({"Pair", all[i].first, all[i].second, BytesPerSecond{i < 3 ? 10e9 : 20e9}});
  const Orders orders = ring_orders(platform, {0, 1, 2, 3});
  EXPECT_EQ(orders.size(), 4);
  const auto used = uses(orders, all);
  EXPECT_EQ(used.at({0, 1}), 1);
  EXPECT_EQ(used.at({1, 2}), 2);
}

TEST(RingOrders, OfRailsEnterAndLeaveANodeNextToTheirNic) {
  const Scenario scenario = load_scenario(
      SLMSIM_SOURCE_DIR "/scenarios/xe8545-2.yaml",
      {"platform=" SLMSIM_SOURCE_DIR "/platforms/dgx-a100-2.yaml", "training.batch=256", "nccl.NCCL_ALGO=Ring"});
  const Orders orders = ring_orders(scenario.platform, all_devices(scenario.platform));
  ASSERT_EQ(orders.size(), 8);
  for (std::size_t rail = 0; rail < orders.size(); ++rail) {
    // Two GPUs and two NICs on each PCIe switch.
    const std::size_t first = rail / 2 * 2;
    EXPECT_EQ(orders[rail][0], first) << rail;
    EXPECT_EQ(orders[rail][7], first + 1) << rail;
    EXPECT_EQ(orders[rail][8], 8 + first) << rail;
    EXPECT_EQ(orders[rail][15], 8 + first + 1) << rail;
  }
  // Every NIC carries its part of a call, each way.
  const Network network(scenario.platform);
  for (const char* algorithm : {"Ring", "Tree"}) {
    Scenario one = scenario;
    one.nccl.algorithm = std::string(algorithm) == "Ring" ? NcclAlgorithm::kRing : NcclAlgorithm::kTree;
    TaskGraph graph(network.links(), 16);
    Communicator communicator(graph, network, one, all_devices(scenario.platform));
    const TagId tag = graph.tag({.name = "all-reduce"});
    communicator.run({Collective::kAllReduce, Bytes{kGibi}}, tag, std::vector<TaskId>(16, graph.delay({0}, tag, {})));
    std::map<std::string, double> bytes;
    for (const Task& task : graph.tasks()) {
      if (task.kind != TaskKind::kTransfer) continue;
      for (const int link : graph.connections()[static_cast<std::size_t>(task.place)].route.links) {
        const std::string& name = graph.links()[static_cast<std::size_t>(link)].name;
        if (name.starts_with("InfiniBand:")) bytes[name] += task.amount;
      }
    }
    EXPECT_EQ(bytes.size(), 2 * 8 * 2) << algorithm;
    const double part = std::string(algorithm) == "Ring" ? kGibi / 8 * 30 / 16 : kGibi / 8;
    for (const auto& [name, sent] : bytes) EXPECT_NEAR(sent, part, 1e-3 * part) << algorithm << " " << name;
  }
}

}  // namespace
}  // namespace slmsim
