// NCCL 2.15's choices against its formulas by hand.
#include "sim/collective/nccl_rules.h"

#include <gtest/gtest.h>

#include "sim/compute/operator_graph.h"
#include "sim/collective/communicator.h"
#include "tests/named.h"
#include "tests/small_world.h"

namespace slmsim::nccl_rules_test {
namespace {

// VMs with 100 Gbit/s NICs and GPUs on PCIe 3 x16, or with NVLink of 25 GB/s times `nvlinks`.
Platform cluster(int vms, int gpus, int capability = 75, int nvlinks = 0) {
  Platform platform = small_scenario(vms, gpus).platform;
  for (auto& vm : platform.vms) {
    vm.type.nic = BytesPerSecond{12.5e9};
    vm.type.nvlink = nvlinks > 0;
  }
  for (auto& device : platform.devices) {
    device.gpu.pcie = BytesPerSecond{15.75e9};
    device.gpu.nvlink = BytesPerSecond{25e9 * nvlinks};
    device.gpu.compute_capability = capability;
  }
  return platform;
}

NcclView view_of(const Platform& platform) {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(platform.devices.size()); ++i) all.push_back(i);
  return nccl_view(platform, all);
}

Nccl by_default() {
  Nccl nccl;
  nccl.buffer = Bytes{4 * kMebi};
  return nccl;
}

constexpr auto kRing = NcclAlgorithm::kRing, kTree = NcclAlgorithm::kTree;
constexpr auto kLl = NcclProtocol::kLl, kLl128 = NcclProtocol::kLl128, kSimple = NcclProtocol::kSimple;

double microseconds(const NcclView& view, double size, NcclChoice choice,
                    Collective collective = Collective::kAllReduce) {
  return nccl_expected_time(by_default(), view, collective, Bytes{size}, choice)->value * 1e6;
}

NcclChoice chosen(const NcclView& view, double size, const Nccl& nccl = by_default(),
                  Collective collective = Collective::kAllReduce) {
  return nccl_choice(nccl, view, collective, Bytes{size});
}

constexpr NcclChoice kRingSimple{kRing, kSimple}, kTreeSimple{kTree, kSimple}, kRingLl{kRing, kLl}, kTreeLl{kTree, kLl};

// Channels that NCCL prints ("24 coll channels"): of DGX A100, of H100 and of H800 (github.com/NVIDIA/nccl/issues/892).
TEST(NcclView, HasAsManyChannelsInsideNodesAsNcclPrints) {
  EXPECT_EQ(nccl_channels(by_default(), view_of(cluster(1, 8, 80, 12))), 24);
  EXPECT_EQ(nccl_channels(by_default(), view_of(cluster(1, 8, 90, 18))), 24);
  EXPECT_EQ(nccl_channels(by_default(), view_of(cluster(1, 8, 90, 8))), 16);
}

TEST(NcclView, OfTwoVmsWithTwoGpus) {
  const NcclView view = view_of(cluster(2, 2));
  EXPECT_EQ(view.ranks, 4);
  EXPECT_EQ(view.nodes, 2);
  EXPECT_EQ(view.ring_speed, 12);  // PCIe 3 x16 is 12 GB/s to NCCL, a step of its list
  EXPECT_EQ(view.tree_speed, 12);
  EXPECT_EQ(view.tree_depth(), 2);  // 4 / 2 - 1 + log2 2
}

TEST(NcclView, OfMixedGpusHasTheirLeastAndMostCapability) {
  Platform platform = cluster(2, 1);
  platform.devices[0].gpu.compute_capability = 80;
  EXPECT_EQ(view_of(platform).least_capability, 75);
  EXPECT_EQ(view_of(platform).most_capability, 80);
}

TEST(NcclTuning, OfTwoVmsWithTwoGpusByHand) {
  const NcclView view = view_of(cluster(2, 2));
  // Ring: 1.9 (8.4 + 2 x 5.7 + 4 x 9.6) us, 12 x 4/6 GB/s. Tree: 2 (28 + 28) us, 0.92 x 12 / 2 GB/s.
  EXPECT_NEAR(microseconds(view, 512 * kMebi, kRingSimple), 110.58 + 536870912 / 8000.0, 1e-6);
  EXPECT_NEAR(microseconds(view, 512 * kMebi, kTreeSimple), 112 + 536870912 / 5520.0, 1e-6);
  EXPECT_EQ(chosen(view, 512 * kMebi), kRingSimple);
  // LL: 3.6 + 2 x 1.8 + 4 x 2.7 us, a quarter of the ring's; tree 4.4 + 2 (1.8 + 5), 11.04 / 3.8 / 2 x 0.7 GB/s.
  EXPECT_NEAR(microseconds(view, 4096, kRingLl), 18 + 4096 / 2000.0, 1e-6);
  EXPECT_NEAR(microseconds(view, 4096, kTreeLl), 18 + 4096 / (11040 / 3.8 / 2 * 0.7), 1e-6);
  EXPECT_EQ(chosen(view, 4096), kRingLl);
}

TEST(NcclTuning, OfSixteenVmsTakesATreeForMediumSizes) {
  const NcclView view = view_of(cluster(16, 1));
  // Ring: 1.9 (8.4 - 2 x 5.7 + 32 x 9.6) us, 12 x 16/30 GB/s. Tree: 2 x 4 x 28 us, 10 / 2 GB/s (the most of a channel
  // on more than two nodes), half of it at 1 MiB.
  EXPECT_NEAR(microseconds(view, kMebi, kRingSimple), 577.98 + kMebi / 6400, 1e-6);
  EXPECT_NEAR(microseconds(view, kMebi, kTreeSimple), 224 + kMebi / 2500, 1e-6);
  EXPECT_EQ(chosen(view, kMebi), kTreeSimple);
  EXPECT_EQ(chosen(view, 4 * kGibi), kRingSimple);
}

TEST(NcclTuning, OfTwoNvlinkNodesTakesATreeForLargeBuffers) {
  // Inside the nodes the search finds 24 GB/s beside the NIC's 12: 18.5 / 2 GB/s against 12 x 16/30.
  const NcclView view = view_of(cluster(2, 8, 70, 6));
  EXPECT_EQ(view.ring_speed, 12);
  EXPECT_EQ(view.tree_speed, 24);
  EXPECT_NEAR(microseconds(view, kGibi, kTreeSimple), 2 * (7 * 28 + 28) + kGibi / 9250, 1e-6);
  EXPECT_EQ(chosen(view, kGibi), kTreeSimple);
}

TEST(NcclTuning, HasOnlyRingsForGatherAndScatter) {
  const NcclView view = view_of(cluster(16, 1));
  for (const auto collective : {Collective::kAllGather, Collective::kReduceScatter}) {
    EXPECT_FALSE(nccl_expected_time(by_default(), view, collective, Bytes{kMebi}, kTreeSimple));
    Nccl tree = by_default();
    tree.algorithm = kTree;
    EXPECT_EQ(chosen(view, 64 * kMebi, tree, collective), kRingSimple);
  }
  // 15 steps, all between nodes: 8.4 + 15 x 9.6 us without the plateau, 12 x 16/15 GB/s.
  EXPECT_NEAR(microseconds(view, kMebi, kRingSimple, Collective::kAllGather), 152.4 + kMebi / 12800, 1e-6);
}

TEST(NcclTuning, KnowsNothingOfTheWan) {
  Platform platform = cluster(2, 2);
  const NcclChoice near = chosen(view_of(platform), kMebi);
  for (auto& link : platform.links) {
    link.forward = link.backward = {BytesPerSecond{1e6}, Seconds{5}, 0.1};
  }
  EXPECT_EQ(chosen(view_of(platform), kMebi), near);
}

TEST(NcclTuning, DoesAsTheUserSays) {
  const NcclView view = view_of(cluster(2, 2));
  for (const auto algorithm : {kRing, kTree}) {
    for (const auto protocol : {kLl, kLl128, kSimple}) {
      Nccl nccl = by_default();
      nccl.algorithm = algorithm;
      nccl.protocol = protocol;
      for (const double size : {100.0, kMebi, kGibi})
        EXPECT_EQ(chosen(view, size, nccl), (NcclChoice{algorithm, protocol}));
    }
  }
}

TEST(NcclTuning, KeepsLl128ForEqualNvlinkGpusOfOneNode) {
  const auto used = [](const Platform& platform) {
    for (double size = 1; size < kGibi; size *= 1.5) {
      if (chosen(view_of(platform), size).protocol == kLl128) return true;
    }
    return false;
  };
  EXPECT_TRUE(used(cluster(1, 8, 80, 12)));
  EXPECT_FALSE(used(cluster(1, 8, 86, 12)));
  EXPECT_FALSE(used(cluster(1, 8, 80)));
  EXPECT_FALSE(used(cluster(2, 8, 80, 12)));
}

TEST(NcclTrees, NeedTheirKernelsTimeHoweverFastTheLinksAre) {
  // 2 x (3 x 28 + 28) us, and half of 23.6 GB/s on a channel; at 25 MiB 0.7 of it, at 1 GiB all.
  const double latency = 224e-6;
  for (const int nvlinks : {4, 12}) {
    const NcclView view = view_of(cluster(2, 4, 80, nvlinks));
    const auto seconds = [&](double size, const Nccl& nccl = by_default()) {
      return nccl_tree_time(nccl, view, kTreeSimple, Bytes{size}).value;
    };
    EXPECT_NEAR(seconds(25 * kMebi), latency + 25 * kMebi / (0.7 * 11.8e9), 1e-9);
    EXPECT_NEAR(seconds(kGibi), latency + kGibi / 11.8e9, 1e-9);
    Nccl more = by_default();
    more.min_channels = 4;  // of 2
    EXPECT_NEAR(seconds(kGibi, more), latency + kGibi / 23.6e9, 1e-9);
    more.min_channels = 0;
    more.max_channels = 1;
    EXPECT_NEAR(seconds(kGibi, more), latency + kGibi / 5.9e9, 1e-9);
  }
}

TEST(NcclChannels, AreDoubledThenCutThenRaised) {
  const NcclView view = view_of(cluster(2, 2));
  Nccl nccl = by_default();
  EXPECT_EQ(nccl_channels(nccl, view), 2);
  nccl.max_channels = 1;
  EXPECT_EQ(nccl_channels(nccl, view), 1);
  nccl.min_channels = 3;
  EXPECT_EQ(nccl_channels(nccl, view), 3);
  // 6 and 12 NVLinks at 22 GB/s are 3 and 6 channels of 44 GB/s, split in two and doubled.
  EXPECT_EQ(nccl_channels(by_default(), view_of(cluster(1, 8, 70, 6))), 12);
  EXPECT_EQ(nccl_channels(by_default(), view_of(cluster(1, 8, 80, 12))), 24);
}

// 24 channels; over NVLink a ring's connection and two of a tree, each with 512 KiB of LL (8 lines x 512 threads x 8 steps x
// 16 B), 4800 KiB of LL128 (120 x 640 x 8 x 8 B) and 4 MiB of Simple.
TEST(NcclBuffers, AreThoseOfEachConnection) {
  Nccl nccl;
  nccl.buffer = Bytes{4194304};
  NcclView view;
  view.ranks = 8;
  view.nodes = 1;
  view.nvlink = true;
  view.search_channels = 12;
  constexpr double kConnection = 524288 + 4915200 + 4194304;
  EXPECT_DOUBLE_EQ(nccl_buffers(nccl, view).value, 24 * 3 * kConnection);
  view.ranks = 2;  // a chain of two has one edge
  EXPECT_DOUBLE_EQ(nccl_buffers(nccl, view).value, 24 * 2 * kConnection);
  view.nodes = 2;  // no peer inside a node
  EXPECT_DOUBLE_EQ(nccl_buffers(nccl, view).value, 24 * 2 * 4194304.0);
  view.ranks = view.nodes = 1;
  EXPECT_EQ(nccl_buffers(nccl, view).value, 0);
}

TEST(NcclSockets, AreOneUnlessTheCloudOrTheUserHasMore) {
  Nccl nccl = by_default();
  EXPECT_EQ(nccl_sockets(nccl, Cloud::kOther), 1);
  EXPECT_EQ(nccl_sockets(nccl, Cloud::kAws), 16);
  EXPECT_EQ(nccl_sockets(nccl, Cloud::kGcp), 4);
  nccl.sockets_per_thread = 8;
  EXPECT_EQ(nccl_sockets(nccl, Cloud::kOther), 8);
  EXPECT_EQ(nccl_sockets(nccl, Cloud::kGcp), 32);
  nccl.socket_threads = 16;
  EXPECT_EQ(nccl_sockets(nccl, Cloud::kAws), 64);  // 4 of the 8 per thread
}

TEST(NcclChunks, OfARingAreHalfTheBuffer) {
  const NcclView view = view_of(cluster(2, 2));
  EXPECT_EQ(nccl_chunk(by_default(), view, kRingSimple, Bytes{kGibi}).value, 2 * kMebi);
  EXPECT_EQ(nccl_chunk(by_default(), view, kRingLl, Bytes{kGibi}).value, 64 * kKibi);  // 32 KiB of data
  EXPECT_EQ(nccl_wire_factor(kLl), 2);
  EXPECT_EQ(nccl_wire_factor(kSimple), 1);
}

TEST(NcclChunks, OfATreeShrinkUntilThereAreEnoughForItsDepth) {
  const NcclView view = view_of(cluster(2, 2));  // depth 2: 16, 8 and 2 chunks
  const auto chunk = [&](double size) { return nccl_chunk(by_default(), view, kTreeSimple, Bytes{size}).value; };
  EXPECT_EQ(chunk(kGibi), 512 * kKibi);
  EXPECT_EQ(chunk(8 * kMebi), 256 * kKibi);  // 8 of 512 KiB in 2 channels, 16 of 256
  EXPECT_EQ(chunk(2 * kMebi), 128 * kKibi);  // 8 of 128: not below that for want of 16, and 8 are enough
  EXPECT_EQ(chunk(kMebi), 64 * kKibi);
  EXPECT_EQ(chunk(100 * kKibi), 32 * kKibi);
}

TEST(NcclCalls, RunAsChosen) {
  Scenario scenario = small_scenario(2, 2);
  scenario.training.batch = 4;
  scenario.nccl.max_channels = 2;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  const Plan plan = plan_of(scenario, model, operators, with(named("Data"), 1));
  const auto lower_with = [&](NcclAlgorithm algorithm, NcclProtocol protocol) {
    scenario.nccl.algorithm = algorithm;
    scenario.nccl.protocol = protocol;
    return lowered(plan, operators, scenario);
  };
  // 16704 B of gradients: 6 edge-ways of a tree, or 4 x 2 x 3/4 of a ring, carry 100224 B; over the WAN a tree sends
  // half of them up and half down each way, a ring 3/2.
  const TaskGraph tree = lower_with(kTree, kSimple), ring = lower_with(kRing, kSimple);
  EXPECT_EQ(bytes_over(tree, "all-reduce grads"), 100224);
  EXPECT_EQ(bytes_over(ring, "all-reduce grads"), 100224);
  EXPECT_EQ(bytes_over(tree, "", "wan:a->b"), 16704);
  EXPECT_EQ(bytes_over(ring, "", "wan:a->b"), 25056);
  EXPECT_EQ(bytes_over(lower_with(kRing, kLl), ""), 2 * 100224);
  EXPECT_EQ(bytes_over(lower_with(kTree, kLl), ""), 2 * 100224);
}

TEST(NcclCalls, OpenTheSocketsThatTheReceiversCloudHas) {
  Scenario scenario = small_scenario(2, 1);
  scenario.training.batch = 2;
  scenario.platform.vms[1].type.cloud = Cloud::kAws;
  const Transformer model = small_model(2);
  const OperatorGraph operators = build_operator_graph(model);
  for (const auto algorithm : {kRing, kTree}) {
    scenario.nccl.algorithm = algorithm;
    const TaskGraph graph = lowered(plan_of(scenario, model, operators, with(named("Data"), 1)), operators, scenario);
    ASSERT_EQ(graph.connections().size(), 2u);
    for (const auto& connection : graph.connections()) EXPECT_EQ(connection.sockets, connection.to == 1 ? 16 : 1);
  }
}

// Four GPUs behind one PCIe 4.0 switch, joined in pairs: 0-1 and 2-3.
Platform pairs_on_a_switch() {
  Platform platform = cluster(1, 4, 86);
  VmType& type = platform.vms.front().type;
  type.peer_to_peer = false;
  type.pcie_share = 0.36;
  for (auto& device : platform.devices) {
    device.gpu.pcie = BytesPerSecond{31.51e9};
    device.gpu.nvlink = BytesPerSecond{56.25e9};
  }
  NodeInside& inside = type.inside;
  for (int i = 0; i < 4; ++i) inside.parts.push_back({"gpu" + std::to_string(i), PartKind::kGpu, {}, {}, {}, {}});
  inside.parts.push_back({"pcie", PartKind::kSwitch, {}, {}, {}, {}});
  inside.parts.push_back({"cpu", PartKind::kSwitch, {}, {}, {}, {}});
  inside.parts.push_back({"dram", PartKind::kMemory, {}, {}, {}, {}});
  inside.links = {{"NVLink", 0, 1, BytesPerSecond{56.25e9}}, {"NVLink", 2, 3, BytesPerSecond{56.25e9}}};
  for (int i = 0; i < 4; ++i) inside.links.push_back({"PCIe-GPU", 4, i, BytesPerSecond{31.51e9}});
  inside.links.push_back({"PCIe-CPU", 5, 4, BytesPerSecond{31.51e9}});
  inside.links.push_back({"DRAM", 5, 6, BytesPerSecond{204.8e9}});
  return platform;
}

// NCCL takes 24 GB/s for PCIe 4.0 x16. Two edges of a ring, 1-2 and 3-0, go up the switch's link, one of a chain: 12 and 22 of its
// speeds. A ring then carries 12 x 4/6 = 8 GB/s; a tree 22 x 0.92 / 2 = 10.12, of which it gets 0.8 from 64 MiB on, 0.9 from 128.
TEST(NcclView, CountsHowOftenARingAndATreeUseALinkThatGpusShare) {
  const Platform platform = pairs_on_a_switch();
  const NcclView view = view_of(platform);
  EXPECT_FALSE(view.nvlink);
  EXPECT_EQ(view.ring_speed, 12);
  EXPECT_EQ(view.tree_speed, 22);
  EXPECT_NEAR(microseconds(view, 8e6, kRingSimple), 8.4 + 6 * 5.7 + 1000, 1e-6);
  EXPECT_NEAR(microseconds(view, 256e6, kTreeSimple), 2 * 3 * 28 + 256e3 / (10.12 * 0.9), 1e-6);
  EXPECT_EQ(chosen(view, 64e6), kRingSimple);
  EXPECT_EQ(chosen(view, 256e6), kTreeSimple);
  // On PCIe 5.0 a chain's 44 is split in two channels of 22, of which a ring, at 22 as it is, has one.
  Platform faster = platform;
  for (auto& device : faster.devices) device.gpu.pcie = BytesPerSecond{63.02e9};
  for (PartLink& link : faster.vms.front().type.inside.links) {
    if (link.interconnect.starts_with("PCIe")) link.peak = BytesPerSecond{63.02e9};
  }
  const NcclView fast = view_of(faster);
  EXPECT_EQ(fast.search_channels, 1);
  EXPECT_EQ(fast.ring_speed, 22);
  EXPECT_EQ(fast.tree_speed, 22);
  // Two behind the switch use its link for nothing.
  EXPECT_TRUE(nccl_view(platform, std::vector{0, 1}).nvlink);
  EXPECT_EQ(nccl_view(platform, std::vector{0, 2}).ring_speed, 22);
}

// Kernels reach 0.36 of the switch's link each way, for both edges of the ring through host memory together: six steps of a
// quarter, and the last quarter read.
TEST(NcclView, GpusBehindASwitchShareWhatKernelsReachOfItsLink) {
  Scenario scenario = small_scenario(1, 4);
  scenario.platform = pairs_on_a_switch();
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 4);
  Communicator communicator(graph, network, scenario.nccl_setup(), {0, 1, 2, 3});
  const double size = 4e9;
  communicator.run({Collective::kAllReduce, Bytes{size}}, graph.tag({.name = "all-reduce"}),
                   std::vector<TaskId>(4, graph.delay({0}, 0, {})));
  EXPECT_NEAR(simulate(graph).end.value, 7 * (size / 4) / (0.36 * 31.51e9 / 2), 1e-3);
}

}  // namespace
}  // namespace slmsim::nccl_rules_test
