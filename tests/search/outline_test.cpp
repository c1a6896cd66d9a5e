// Bounds from a plan's outline: by hand where links or one GPU decide, and never above a simulation.
#include "sim/search/outline.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/search/bound.h"
#include "sim/technique/alpa/planner/speed.h"
#include "tests/named.h"
#include "tests/search/clusters.h"

namespace slmsim::outline_test {
namespace {

// 4 sequences of 256 tokens, hidden size 512, fp16: 1 MiB of activations per batch between two stages.
constexpr double kActivations = 4 * 256 * 512 * 2;
constexpr double kMegabit = 1e6 / 8;

Cluster two_gpus(const char* link, const char* techniques) {
  return {"outlined", "{w: {}, e: {}}",
          "{a: {site: w, type: fabric-vm, gpus: [a30]}, b: {site: e, type: fabric-vm, gpus: [a30]}}", link, techniques};
}

// The largest and smallest bound of a step on both GPUs.
std::pair<double, double> bounds_on_both(const Space& space, const std::function<bool(const std::string&)>& counts) {
  OutlineBound outline(space);
  std::pair<double, double> out = {0, 1e300};
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Choice choice = space.choice(i);
    if (space.is_as_given(choice) || space.group(choice).devices.size() < 2 || !counts(space.describe(choice)))
      continue;
    const double step = outline.step(i).value;
    out = {std::max(out.first, step), std::min(out.second, step)};
  }
  return out;
}

TEST(Outline, SendsEveryActivationOverTheLinkBetweenStages) {
  const ClusterFile file(two_gpus("{l: {between: [w, e], rtt: 1 ms, bandwidth: 1 Mbps}}", "techniques: [Pipeshard]"));
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const auto [most, least] =
      bounds_on_both(space, [](const std::string& words) { return words.find("a stage per VM") != std::string::npos; });
  // 8.4 s each way at once; of one micro-batch there and then back, 16.8 s; computing takes milliseconds.
  EXPECT_GE(least, kActivations / kMegabit);
  EXPECT_LE(most, 2 * kActivations / kMegabit + 1);
  EXPECT_GE(most, 2 * kActivations / kMegabit);
}

TEST(Outline, ComparesAllCutsOfThePlannerWithALimit) {
  const ClusterFile file(two_gpus("{l: {between: [w, e], rtt: 1 ms, bandwidth: 1 Mbps}}", "techniques: [Pipeshard]"));
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  OutlineBound outline(space);
  // The only micro-batch goes there and back, wherever the planner cuts; computing takes milliseconds.
  const Seconds both_ways{2 * kActivations / kMegabit};
  int found = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const std::string words = space.describe(space.choice(i));
    if (!words.starts_with("1 micro-batch") || words.find("planned by slmsim, 2 stages") == std::string::npos) continue;
    ++found;
    EXPECT_LT(outline.step(i).value, 1) << words;
    EXPECT_LT(outline.step(i, both_ways + Seconds{1}).value, 1) << words;
    EXPECT_EQ(outline.step(i, both_ways).value, std::numeric_limits<double>::infinity()) << words;
  }
  EXPECT_GT(found, 0);
}

TEST(Outline, SendsTheGradientsOfAllParametersToEveryReplica) {
  const ClusterFile file(
      two_gpus("{l: {between: [w, e], rtt: 1 ms, bandwidth: 1 Mbps}}", "techniques: [Data, ZeRO-3]"));
  const Scenario scenario = file.load();
  const Space space(scenario, scenario.models.front());
  const auto [most, least] =
      bounds_on_both(space, [](const std::string& words) { return words.starts_with("1 micro-batch"); });
  // Embedding (8192 + 256) 512; a layer 12 h^2 + 13 h; the last norm 2 h.
  const double h = 512, parameters = (8192 + 256) * h + 3 * (12 * h * h + 13 * h) + 2 * h;
  EXPECT_NEAR(least, 2 * parameters / kMegabit, 1);
  EXPECT_NEAR(most, 2 * parameters / kMegabit, 1);
}

TEST(Outline, ComputesTheSequencesOfAReplicaOneMicroBatchAfterAnother) {
  // 100 Gbps: computing decides. Each GPU computes one sequence in each of two micro-batches.
  const ClusterFile file(two_gpus("{l: {between: [w, e], rtt: 0.01 ms, bandwidth: 100 Gbps}}", "techniques: [DDP]"));
  const Scenario scenario = file.load({"training.rematerialisation=no"});
  const Space space(scenario, scenario.models.front());
  const auto [most, least] = bounds_on_both(space, [](const std::string& words) {
    return words.starts_with("2 micro-batches") && words.find("rematerialisation") == std::string::npos;
  });
  const Seconds sequence =
      time_of_sequence(build_operator_graph(space.model()), scenario.platform.devices[0].gpu, scenario);
  EXPECT_NEAR(most, 2 * sequence.value, 1e-9);
  EXPECT_NEAR(least, 2 * sequence.value, 1e-9);
}

}  // namespace
}  // namespace slmsim::outline_test
