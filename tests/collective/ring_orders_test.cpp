// The orders in which NCCL's rings go through GPUs: over links between pairs, and by the NICs of several rails.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "sim/collective/communicator.h"
#include "tests/small_world.h"

namespace slmsim::ring_orders_test {
namespace {

using Orders = std::vector<std::vector<std::size_t>>;

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

using Pairs = std::vector<std::pair<int, int>>;

// The first GPUs of a DGX-1 with V100.
const Pairs kSingle = {{0, 1}, {0, 2}, {1, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}};
const Pairs kDouble = {{0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {4, 7}, {5, 6}, {6, 7}};

Platform cube_mesh(int gpus) {
  Platform platform = small_scenario(1, gpus).platform;
  NodeInside& inside = platform.vms.front().type.inside;
  for (int i = 0; i < gpus; ++i) inside.parts.push_back({"g" + std::to_string(i), PartKind::kGpu, {}, {}, {}, {}});
  for (const auto& [pairs, rate] : {std::pair(kSingle, 10e9), std::pair(kDouble, 20e9)}) {
    for (const auto& [a, b] : pairs) {
      if (a < gpus && b < gpus) inside.links.push_back({"Pair", a, b, BytesPerSecond{rate}});
    }
  }
  return platform;
}

// Each ring enters and leaves every GPU. With 3 GPUs, 0 and 1 share one link: a ring each way. With 4 each has four links, and
// so has GPU 4 of 7; with 8 each has six. With 6 only 0 and 5 lead to 4, 5 over one link each way; with 5 only 0, over two.
TEST(RingOrders, OfAHybridCubeMeshAreAsManyAsLinksAllow) {
  const std::map<int, std::size_t> rings = {{3, 2}, {4, 4}, {5, 2}, {6, 2}, {7, 4}, {8, 6}};
  for (const auto& [gpus, count] : rings) {
    const Platform platform = cube_mesh(gpus);
    const Orders orders = ring_orders(platform, all_devices(platform));
    EXPECT_EQ(orders.size(), count) << gpus;
    const Relays relays = relays_of(platform, all_devices(platform));
    std::map<std::pair<int, int>, int> used;
    for (const auto& order : orders) {
      EXPECT_EQ(std::set(order.begin(), order.end()).size(), static_cast<std::size_t>(gpus));
      for (std::size_t i = 0; i < order.size(); ++i) {
        const int from = static_cast<int>(order[i]), to = static_cast<int>(order[(i + 1) % order.size()]);
        const int by = relay_between(relays, from, to);
        EXPECT_TRUE(by < 0 || gpus == 5) << from << " to " << to;
        if (by < 0) {
          ++used[{from, to}];
        } else {
          ++used[{from, by}];
          ++used[{by, to}];
        }
      }
    }
    for (const auto& [edge, count_of] : used) {
      const auto [least, most] = std::minmax(edge.first, edge.second);
      const auto among = [&, pair = std::pair(least, most)](const Pairs& pairs) {
        return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
      };
      EXPECT_LE(count_of, among(kDouble) ? 2 : among(kSingle) ? 1 : 0) << gpus << ": " << least << "-" << most;
    }
  }
}

// 0 - 1 - 2 in a line, 10 GB/s each way: the one ring goes from 2 to 0 by 1's memory. Four steps of a third of 30 GB each, and GPU 0
// reads its last third from GPU 1: five seconds.
TEST(RingOrders, GoThroughAThirdGpuWhereNoLinkClosesARing) {
  Scenario scenario = small_scenario(1, 3);
  scenario.nccl.buffer = Bytes{200e9};
  NodeInside& inside = scenario.platform.vms.front().type.inside;
  for (int i = 0; i < 3; ++i) inside.parts.push_back({"g" + std::to_string(i), PartKind::kGpu, {}, {}, {}, {}});
  inside.links.push_back({"Pair", 0, 1, BytesPerSecond{10e9}});
  inside.links.push_back({"Pair", 1, 2, BytesPerSecond{10e9}});
  EXPECT_THAT(ring_orders(scenario.platform, {0, 1, 2}), testing::ElementsAre(testing::ElementsAre(0, 1, 2)));
  EXPECT_EQ(relays_of(scenario.platform, std::vector{0, 1, 2}), (Relays{{0, 2, 1}, {2, 0, 1}}));
  EXPECT_TRUE(relays_of(scenario.platform, std::vector{0, 2}).empty());  // 1 is not of the communicator
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 3);
  Communicator communicator(graph, network, scenario.nccl_setup(), {0, 1, 2});
  communicator.run({Collective::kAllReduce, Bytes{30e9}}, graph.tag({.name = "all-reduce"}),
                   std::vector<TaskId>(3, graph.delay({0}, 0, {})));
  EXPECT_NEAR(simulate(graph).end.value, 5, 1e-3);
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
    Communicator communicator(graph, network, one.nccl_setup(), all_devices(scenario.platform));
    const TagId tag = graph.tag({.name = "all-reduce"});
    communicator.run({Collective::kAllReduce, Bytes{kGibi}}, tag, std::vector<TaskId>(16, graph.delay({0}, tag, {})));
    std::map<std::string, double> bytes;
    for (const Task& task : graph.tasks()) {
      if (task.kind != TaskKind::kTransfer) continue;
      for (const int link : graph.connections()[task.place].route.links) {
        const std::string& name = graph.links()[link].name;
        if (name.starts_with("InfiniBand:")) bytes[name] += task.amount;
      }
    }
    EXPECT_EQ(bytes.size(), 2 * 8 * 2) << algorithm;
    const double part = std::string(algorithm) == "Ring" ? kGibi / 8 * 30 / 16 : kGibi / 8;
    for (const auto& [name, sent] : bytes) EXPECT_NEAR(sent, part, 1e-3 * part) << algorithm << " " << name;
  }
}

}  // namespace
}  // namespace slmsim::ring_orders_test
