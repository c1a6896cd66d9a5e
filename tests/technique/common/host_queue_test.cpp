#include "sim/technique/common/host_queue.h"

#include <gtest/gtest.h>

#include "sim/technique/common/layer_work.h"
#include "sim/compute/operator_graph.h"
#include "tests/small_world.h"

namespace slmsim::host_queue_test {
namespace {

// One GPU, `stretches` one after the other.
double end_of(const std::vector<HostQueue::Stretch>& stretches, bool binds) {
  TaskGraph graph({}, 1);
  HostQueue hosts({binds});
  const TagId tag = graph.tag({"fwd", TaskClass::kForward, Pass::kForward});
  TaskId last = kNoTask;
  for (const auto& stretch : stretches) last = hosts.run(graph, 0, 0, stretch, tag, {last, kNoTask});
  return simulate(graph).end.value;
}

TEST(HostQueue, IsTheGpusTimeWhereTheHostIsFaster) {
  // The host is ahead: 3 x 5 s.
  const std::vector<HostQueue::Stretch> stretches(3, {Seconds{5}, Seconds{1}});
  EXPECT_NEAR(end_of(stretches, false), 15, kClock);
  EXPECT_NEAR(end_of(stretches, true), 15, kClock);
}

TEST(HostQueue, IsTheHostsTimeWhereTheGpuIsFaster) {
  EXPECT_NEAR(end_of(std::vector<HostQueue::Stretch>(3, {Seconds{1}, Seconds{5}}), true), 15, kClock);
}

TEST(HostQueue, LetsTheHostGoAheadWhileTheGpuIsBusy) {
  // The GPU has 10 s of work first; the host needs 1 s for that and 4 s each for two short stretches, and is done at 9 s.
  EXPECT_NEAR(end_of({{Seconds{10}, Seconds{1}}, {Seconds{1}, Seconds{4}}, {Seconds{1}, Seconds{4}}}, true), 12,
              kClock);
  // The other way round nothing is gained: 4 + 4 until the long one is launched, which begins then.
  EXPECT_NEAR(end_of({{Seconds{1}, Seconds{4}}, {Seconds{1}, Seconds{4}}, {Seconds{10}, Seconds{1}}}, true), 18,
              kClock);
}

TEST(HostQueue, IsLaunchedAfterWhatTheFirstStretchWaitsFor) {
  TaskGraph graph({}, 1);
  HostQueue hosts({true});
  const TaskId launch = graph.compute(0, Seconds{2}, graph.tag({"launch", TaskClass::kLaunch}), {});
  hosts.run(graph, 0, 0, {Seconds{1}, Seconds{5}}, graph.tag({"fwd", TaskClass::kForward, Pass::kForward}),
            {launch, kNoTask});
  EXPECT_NEAR(simulate(graph).end.value, 7, kClock);
}

TEST(HostQueue, MergesWhatWasMerged) {
  // By turns the host and the GPU of a stretch are the longer one; three of these, one by one and as a whole.
  const std::vector<HostQueue::Stretch> once = {
      {Seconds{1}, Seconds{4}}, {Seconds{10}, Seconds{1}}, {Seconds{2}, Seconds{3}}, {Seconds{1}, Seconds{5}}};
  HostQueue::Stretch merged;
  std::vector<HostQueue::Stretch> all;
  for (int i = 0; i < 3; ++i) all.insert(all.end(), once.begin(), once.end());
  for (const auto& stretch : once) merged.append(stretch);
  EXPECT_NEAR(end_of({merged.repeated(3)}, true), end_of(all, true), kClock);
  EXPECT_NEAR(end_of({merged.repeated(1), merged.repeated(2)}, true), end_of(all, true), kClock);
}

// Twelve operators a layer: an eager stack at one small sequence is bound by its host.
TEST(HostQueue, BindsSmallModelsAndNotLargeOnes) {
  Scenario scenario = small_scenario(1, 1);
  scenario.software.host = {Seconds{1}, Seconds{2}};
  const OperatorGraph operators = build_operator_graph(small_model(2));
  const auto units = [&](double bandwidth) {
    Gpu gpu = scenario.platform.devices.front().gpu;
    gpu.memory_bandwidth = BytesPerSecond{bandwidth};
    return layer_work(operators, {}, 1, gpu, scenario);
  };
  EXPECT_TRUE(host_binds(units(1e9)));
  EXPECT_FALSE(host_binds(units(1)));
  // Two norms, four products with weights, scores, softmax, values, GELU and two residuals.
  EXPECT_DOUBLE_EQ(units(1)[1].host_forward.value, 12);
  EXPECT_DOUBLE_EQ(units(1)[1].host_backward.value, 24);
}

}  // namespace
}  // namespace slmsim::host_queue_test
