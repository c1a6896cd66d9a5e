// The last chunk of a ring's loop: what it is read at, and what that costs.
#include <cmath>

#include <gmock/gmock.h>

#include "sim/collective/communicator.h"
#include "sim/collective/ring.h"
#include "tests/small_world.h"

namespace slmsim::last_copy_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kChannel = 24.5e9;  // what one channel copies

// Slots of 20 GB/s, half of which pass through host memory.
Scenario staged(int gpus) {
  Scenario scenario = small_scenario(1, gpus, 20e9);
  scenario.platform.vms.front().type.peer_to_peer = false;
  scenario.platform.vms.front().type.pcie_share = 0.5;
  for (Device& device : scenario.platform.devices) device.gpu.buses = {};
  return scenario;
}

std::vector<double> rates(const Scenario& scenario, const std::vector<int>& ring) {
  const Network network(scenario.platform);
  std::vector<double> out;
  const auto all = last_copies(network, std::vector<std::vector<int>>{ring}, 2);
  if (all.empty()) return out;
  for (const BytesPerSecond rate : all.front()) out.push_back(rate.value);
  return out;
}

double all_reduce_seconds(const Scenario& scenario, int gpus, double size) {
  const Network network(scenario.platform);
  TaskGraph graph(network.links(), gpus);
  std::vector<int> devices;
  for (int i = 0; i < gpus; ++i) devices.push_back(i);
  Communicator communicator(graph, network, scenario.nccl_setup(), devices);
  const std::vector<TaskId> ready(devices.size(), graph.delay({0}, 0, {}));
  communicator.run({Collective::kAllReduce, Bytes{size}}, graph.tag({.name = "all-reduce"}), ready);
  return simulate(graph).end.value;
}

TEST(LastCopy, ReadsHostMemoryAtTheRateOfAStep) { EXPECT_THAT(rates(staged(2), {0, 1}), ElementsAre(10e9, 10e9)); }

TEST(LastCopy, IsOfTheChannelsWhereAChunkLiesInTheGpusOwnMemory) {
  Scenario peers = staged(2);
  peers.platform.vms.front().type.peer_to_peer = true;
  EXPECT_THAT(rates(peers, {0, 1}), ElementsAre(2 * kChannel, 2 * kChannel));
}

TEST(LastCopy, TakesNothingWhereNothingIsLost) {
  Scenario ideal = staged(2);
  ideal.platform.vms.front().type.pcie_share = 1;
  EXPECT_THAT(rates(ideal, {0, 1}), ElementsAre(INFINITY, INFINITY));
  EXPECT_NEAR(all_reduce_seconds(ideal, 2, 20e9), 2 * 20e9 / 2 / 20e9, kClock);
}

TEST(LastCopy, IsInWhatWasMeasuredAndInTheNetworksBuffersAlready) {
  Scenario measured = staged(2);
  for (Device& device : measured.platform.devices) device.gpu.buses.peer = BytesPerSecond{1e9};
  EXPECT_THAT(rates(measured, {0, 1}), ElementsAre(INFINITY, INFINITY));
  EXPECT_THAT(rates(small_scenario(2, 1), {0, 1}), IsEmpty());
}

// 2 (n-1) steps of 1 / n of the buffer, and a copy as long as a step.
TEST(LastCopy, MakesTwoGpusReachTwoThirdsOfTheirWayAndEightNearlyAllOfIt) {
  EXPECT_NEAR(all_reduce_seconds(staged(2), 2, 20e9), 3 * 20e9 / 2 / 10e9, kClock);
  EXPECT_NEAR(all_reduce_seconds(staged(8), 8, 80e9), 15 * 80e9 / 8 / 10e9, kClock);
}

// LL doubles the bytes and marks each line.
TEST(LastCopy, IsNoneWhereLinesAreFlagged) {
  Scenario scenario = staged(2);
  scenario.nccl.protocol = NcclProtocol::kLl;
  scenario.nccl.buffer = Bytes{1e12};
  EXPECT_NEAR(all_reduce_seconds(scenario, 2, 1e6), 2 * 2e6 / 2 / 10e9, kClock);
}

}  // namespace
}  // namespace slmsim::last_copy_test
