// Calls of a communicator as a whole: what runs on GPUs and what on links.
#include "sim/nccl/communicator.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/small_world.h"

namespace slmsim {
namespace {

// An all-reduce by tree over two VMs of two GPUs whose links carry `rate`; the last rank is ready after `late` seconds.
double tree_seconds(double rate, double size, double late) {
  Scenario scenario = small_scenario(2, 2, rate);
  scenario.nccl.algorithm = NcclAlgorithm::kTree;
  scenario.nccl.buffer = Bytes{4 * kMebi};
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), 4);
  Communicator communicator(graph, network, scenario, {0, 1, 2, 3});
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

}  // namespace
}  // namespace slmsim
