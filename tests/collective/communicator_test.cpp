// Calls of a communicator as a whole: what runs on GPUs and what on links.
#include "sim/collective/communicator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/small_world.h"

namespace slmsim::communicator_test {
namespace {

// An all-reduce by tree over two VMs of two GPUs whose links carry `rate`; the last rank is ready after `late` seconds.
double tree_seconds(double rate, double size, double late) {
  Scenario scenario = small_scenario(2, 2, rate);
  scenario.nccl.algorithm = NcclAlgorithm::kTree;
  scenario.nccl.buffer = Bytes{4 * kMebi};
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 4);
  Communicator communicator(graph, network, scenario.nccl_setup(), {0, 1, 2, 3});
  std::vector<TaskId> ready(4, graph.delay({0}, 0, {}));
  ready.back() = graph.compute(3, Seconds{late}, graph.tag({"work", TaskClass::kForward}), {});
  const auto done = communicator.run({Collective::kAllReduce, Bytes{size}}, graph.tag({.name = "all-reduce"}), ready);
  const Timeline timeline = simulate(graph);
  const auto first = *std::min_element(done.begin(), done.end(),
                                       [&](auto a, auto b) { return timeline.finish[a] < timeline.finish[b]; });
  return timeline.finish[first];
}

// Before Ampere a tree on two nodes passes 18.5 / 2 GB/s on two channels, so 4.625 on this one; its steps take
// 2 x (28 + 28) us.
TEST(Communicator, TreesWaitForTheirKernelsWhereLinksAreFast) {
  const double kernels = 112e-6 + kGibi / 4.625e9;
  EXPECT_NEAR(tree_seconds(1e15, kGibi, 0), kernels, kClock);
  EXPECT_NEAR(tree_seconds(1e15, kGibi, 0.5), 0.5 + kernels,
              kClock);  // the kernels of the others wait for the last one
}

TEST(Communicator, TreesTakeTheirLinksTimeWhereThoseAreSlow) {
  const double size = 64 * kMebi, rate = 1e6;
  // One channel is one tree. Its root has a child on its VM and one on the other, to each of which it sends the buffer over
  // its own PCIe link, chunk after chunk of 512 KiB.
  EXPECT_GE(tree_seconds(rate, size, 0), 2 * size / rate);
  EXPECT_LE(tree_seconds(rate, size, 0), 2 * size / rate + 4 * 512 * kKibi / rate);
}

// VMs a, b, c, ... with a GPU each, whose paths carry `rate`; everything else takes no time.
Scenario joined_by_paths(int vms, int gpus, double rate) {
  Scenario scenario = small_scenario(vms, gpus);
  for (auto& link : scenario.platform.links) link.forward.bandwidth = link.backward.bandwidth = BytesPerSecond{rate};
  return scenario;
}

double all_reduce_seconds(const Scenario& scenario, const CollectiveCall& call) {
  const Network network(scenario.platform);
  const int gpus = static_cast<int>(scenario.platform.devices.size());
  TaskGraph graph(network.links(), gpus);
  std::vector<int> devices(static_cast<std::size_t>(gpus));
  std::iota(devices.begin(), devices.end(), 0);
  Communicator communicator(graph, network, scenario.nccl_setup(), devices);
  communicator.run(call, graph.tag({.name = "all-reduce"}),
                   std::vector<TaskId>(devices.size(), graph.delay({0}, 0, {})));
  return simulate(graph).end.value;
}

// An all-reduce of 1000 B on two GPUs of four multiprocessors, 10 s at 100 B/s on one channel, beside 8 s of computing on the
// first; the second comes after `late` seconds. Returns when the first has computed.
double computed_beside(double late, bool beside, double bound = 1) {
  Scenario scenario = small_scenario(2, 1);
  for (auto& link : scenario.platform.links) link.forward.bandwidth = link.backward.bandwidth = BytesPerSecond{100};
  for (auto& device : scenario.platform.devices) device.gpu.multiprocessors = 4;
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 2);
  Communicator communicator(graph, network, scenario.nccl_setup(), {0, 1});
  const TagId work = graph.tag({"work", TaskClass::kForward});
  const std::array ready = {graph.delay({0}, 0, {}), graph.compute(1, Seconds{late}, work, {})};
  const CollectiveCall call{Collective::kAllReduce, Bytes{1000}};
  const TagId tag = graph.tag({.name = "all-reduce"});
  const auto done = beside ? communicator.run_beside(call, tag, ready) : communicator.run(call, tag, ready);
  const TaskId computed = graph.compute(0, Seconds{8}, work, {}, {Flops{1}, bound});
  const Timeline timeline = simulate(graph);
  EXPECT_NEAR(timeline.finish[done.front()], late + 10, kClock);
  return timeline.finish[computed];
}

TEST(Communicator, HoldsAMultiprocessorForEachChannelWhileItRuns) {
  EXPECT_EQ(computed_beside(0, false), 8);
  // A quarter is held for 10 s, in which 7.5 s are done; the last half second goes on alone.
  EXPECT_NEAR(computed_beside(0, true), 10.5, kClock);
  EXPECT_EQ(computed_beside(0, true, 0), 8);  // bound by memory
}

TEST(Communicator, HoldsThemWhileItWaitsForOthers) { EXPECT_NEAR(computed_beside(3, true), 8 * 4 / 3.0, kClock); }

TEST(Rings, GoAroundTheShortestCycleWhereTheyAreToldTo) {
  // a and b, and c and d, are 2 s apart, all others 0.02 s: the ring a, b, c, d passes six steps of 1, 0.01, 1, ... s,
  // a, c, b, d six of 0.01 s.
  Scenario scenario = small_scenario(4, 1);
  for (auto& link : scenario.platform.links) {
    const bool far = (link.from == 0 && link.to == 1) || (link.from == 2 && link.to == 3);
    link.forward.delay = link.backward.delay = Seconds{far ? 1 : 0.01};
  }
  const Network network(scenario.platform);
  EXPECT_EQ(cycle_of_vms(scenario.platform, network, {0, 1, 2, 3}), (std::vector{0, 2, 1, 3}));
  const CollectiveCall call{Collective::kAllReduce, Bytes{4}};
  EXPECT_NEAR(all_reduce_seconds(scenario, call), 3.03, kClock);
  scenario.nccl.ring_order = RingOrder::kByDistance;
  EXPECT_NEAR(all_reduce_seconds(scenario, call), 0.06, kClock);
}

TEST(Rings, OfManyVmsGoFromEachToTheNearest) {
  // Ten on a line, numbered from both ends in turn.
  Scenario scenario = small_scenario(10, 1);
  const auto place = [](int vm) { return vm % 2 == 0 ? vm / 2 : 9 - vm / 2; };
  for (auto& link : scenario.platform.links)
    link.forward.delay = link.backward.delay = Seconds{0.01 * std::abs(place(link.from) - place(link.to))};
  const Network network(scenario.platform);
  EXPECT_EQ(cycle_of_vms(scenario.platform, network, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
            (std::vector{0, 2, 4, 6, 8, 9, 7, 5, 3, 1}));
}

TEST(HierarchicalPieces, KeepLinksInsideAndBetweenVmsBusyAtOnce) {
  // Two VMs of two GPUs: inside each GPU sends 800 of 1600 B at 1600 B/s to scatter and to gather, 0.5 s each; between, two
  // GPUs send 800 B each over a path of 400 B/s, 4 s. In four pieces only the first scattering and the last gathering show:
  // 4 + 2 x 0.125 s.
  Scenario scenario = joined_by_paths(2, 2, 400);
  for (auto& device : scenario.platform.devices) device.gpu.pcie = BytesPerSecond{1600};
  CollectiveCall call{Collective::kAllReduce, Bytes{1600}};
  call.by_vm = true;
  EXPECT_NEAR(all_reduce_seconds(scenario, call), 5, kClock);
  call.pieces = 4;
  EXPECT_NEAR(all_reduce_seconds(scenario, call), 4.25, kClock);
}

}  // namespace
}  // namespace slmsim::communicator_test
