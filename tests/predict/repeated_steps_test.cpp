// Rounds whose equal steps are counted: the same as simulating all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/collective/alone.h"
#include "sim/predict/alike.h"
#include "sim/predict/passages.h"
#include "tests/predict/whole.h"
#include "tests/word_name.h"

namespace slmsim::repeated_steps_test {
namespace {

constexpr double kRounding = 1e-9;  // relative: sums in another order are rounded otherwise

struct Case {
  std::string name, technique;
  std::string near = "t4, t4, t4, t4", far = near;  // GPUs of the two VMs
  bool repeats = true;                              // whether steps may
  std::string training = {};
  bool holds = true;  // whether each takes as long as the one before
  std::string stack = "compiled";
  std::string vms =
      "here: {site: lab, type: gpu-server, gpus: [%1]}, there: {site: cloud, type: gpu-server, gpus: [%2]}";
};

std::string with(std::string text, const std::string& mark, const std::string& value) {
  const auto at = text.find(mark);
  return at == std::string::npos ? text : text.replace(at, mark.size(), value);
}

// 350 steps: two rounds of 160, and one of 30.
Scenario scenario_of(const Case& c) {
  return scenario_from(fmt::format(
      "models: [{{name: small, family: gpt2, hidden: 1024, heads: 16, layers: 3, sequence: 256, vocabulary: 8192}}]\n"
      "groups: all\ntechniques: {{{}}}\nsoftware: {{stack: {}}}\n"
      "training: {{batch: 64, epochs: 1, blocks_per_epoch: 22400, precision: fp16{}}}\n"
      "platform: {{name: two, sites: {{lab: {{rtt: 20 us}}, cloud: {{rtt: 20 us}}}}, vms: {{{}}}, "
      "links: {{wan: {{between: [lab, cloud], rtt: 40 ms, bandwidth: 1 Gbps}}}}}}\n",
      c.technique, c.stack, c.training, with(with(c.vms, "%1", c.near), "%2", c.far)));
}

std::vector<Case> cases() {
  const std::string diloco = "DiLoCo: {inner_steps: 160, replica: vm", streaming = "Streaming" + diloco;
  return {
      {"ReplicasOfAGpu", "LocalSGD: {inner_steps: 160}"},
      {"ReplicasOfAVm", "LocalSGD: {inner_steps: 160, replica: vm}"},
      {"OuterOptimizer", diloco + "}"},
      {"OuterOptimizerOnHosts", "DiLoCo: {inner_steps: 160, replica: gpu, outer: host}",
       "a100-40, a100-40, a100-40, a100-40", "a100-40, a100-40, a100-40, a100-40", true, "", true, "compiled",
       "here: {site: lab, type: xe8545, gpus: [%1]}, there: {site: cloud, type: xe8545, gpus: [%2]}"},
      {"InCompressedParts", streaming + ", fragments: 3, delay: 5, format: int4}"},
      {"AlwaysUnderWay", streaming + ", fragments: 3, delay: 52}", "t4, t4", "t4, t4", false},
      {"OneVmFaster", diloco + "}", "t4, t4", "rtx3090, rtx3090"},
      {"MixedReplica", diloco + "}", "t4, rtx3090", "t4, rtx3090"},
      {"MicroBatches", diloco + ", micro_batches: 2}", "t4, t4"},
      {"Recompute", diloco + ", recompute: full}", "t4, t4"},
      {"BesideALaunch", diloco + "}", "t4, t4", "t4, t4", true, ", iteration_overhead: 10 ms"},
      {"PairOfAVm", "DiLoCo: {inner_steps: 160, replica: site}", "t4, t4", "t4, t4"},
      // Two VMs are one replica, whose windows change.
      {"OverTcp", "DiLoCo: {inner_steps: 160, replica: site}", "t4, t4", "t4, t4", false, "", true, "compiled",
       "here: {count: 2, site: lab, type: gpu-server, gpus: [%1]}, "
       "there: {count: 2, site: cloud, type: gpu-server, gpus: [%2]}"},
      {"LaterHosts", diloco + "}", "a100-40, a100-40", "a100-40, a100-40"},
      // Hosts that launch each kernel are later than these GPUs, and catch up with them while these exchange.
      {"LateHosts", streaming + ", fragments: 2}", "h100", "h100", true, ", micro_batch: 1", false, "eager"},
  };
}

class RepeatedStepsCase : public testing::TestWithParam<Case> {};

TEST_P(RepeatedStepsCase, SayWhatAllStepsSay) {
  const Scenario scenario = scenario_of(GetParam());
  const Prediction part = predict(scenario, {.links = true, .ignore_memory = true}).front(),
                   whole = predict(scenario, {.links = true, .whole = true, .ignore_memory = true}).front();
  ASSERT_TRUE(whole.round.has_value());
  EXPECT_EQ(whole.round->rest, 30);
  expect_times_of(whole, part, kRounding);
  EXPECT_NEAR(part.round->rest_time.value, whole.round->rest_time.value, kRounding * whole.round->rest_time.value);
  expect_links_of(whole, part, kRounding);
}

// Lossy rounds are simulated until each connection has lost often, however many of their steps are counted.
TEST(LossyRounds, AreSimulatedAsOftenAsWhereAllStepsAre) {
  const Scenario scenario = scenario_from(
      "models: [{name: small, family: gpt2, hidden: 512, heads: 8, layers: 6, sequence: 2048, vocabulary: 50304}]\n"
      "groups: all\ntechniques: {StreamingDiLoCo: {inner_steps: 20, micro_batches: 1, fragments: 3, delay: 5, format: "
      "int4}}\nsoftware: {stack: fused}\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 800000, precision: fp16}\n"
      "platform: {name: two, sites: {lab: {}, cloud: {}}, vms: {here: {site: lab, type: gpu-server, gpus: [a30]}, "
      "there: {site: cloud, type: workstation, gpus: [a30]}}, "
      "links: {wan: {between: [lab, cloud], rtt: 100 ms, bandwidth: 10 Gbps, loss: 1e-5}}}\n");
  const Prediction part = predict(scenario).front(), whole = predict(scenario, {.whole = true}).front();
  expect_times_of(whole, part, kRounding);
  EXPECT_NEAR(part.spread, whole.spread, kRounding);
}

TEST_P(RepeatedStepsCase, TakeFewTasks) {
  const Scenario scenario = scenario_of(GetParam());
  PlanInputs inputs(scenario);
  const std::size_t all = lower_alike(inputs.request).graph.tasks().size();
  PassageRules rules;
  inputs.request.passages = &rules;
  const TaskGraph first = lower_alike(inputs.request).graph;
  EXPECT_EQ(!first.repeated_steps().empty(), GetParam().repeats);
  if (!GetParam().repeats) return;
  EXPECT_LT(2 * first.tasks().size(), all);
  // Without a length, they are noticed to be none; with the one that was simulated, they hold.
  const Timeline timeline = simulate(first);
  EXPECT_FALSE(out_of_step(first, timeline).empty());
  rules.step = length_of_steps(first, timeline);
  const TaskGraph second = lower_alike(inputs.request).graph;
  EXPECT_EQ(out_of_step(second, simulate(second)).empty(), GetParam().holds);
  EXPECT_EQ(second.tasks().size(), first.tasks().size());
}

INSTANTIATE_TEST_SUITE_P(Rounds, RepeatedStepsCase, testing::ValuesIn(cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::repeated_steps_test
