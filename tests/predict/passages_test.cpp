// Passes over layers in one task: the same as all of their tasks.
#include "sim/predict/passages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/collective/alone.h"
#include "sim/predict/alike.h"
#include "tests/predict/whole.h"
#include "tests/word_name.h"

namespace slmsim::passages_test {
namespace {

constexpr double kRounding = 1e-9;  // of sums in another order

struct Case {
  std::string name, degrees, more = {}, type = "dgx-h100", gpu = "h100";
  int hidden = 1024;
  bool holds = true;      // whether all passages do
  std::string slow = {};  // a GPU of the second node
};

// Sixteen GPUs on two nodes. The narrow model's hosts are later than its GPUs.
Scenario scenario_of(const Case& c) {
  std::string gpus;
  for (int i = 1; i < 8; ++i) gpus += ", " + c.gpu;
  const std::string node = fmt::format("{{site: lab, type: {}, gpus: [", c.type);
  return scenario_from(fmt::format(
      "models: [{{name: small, family: llama, hidden: {4}, heads: 16, layers: 4, sequence: 512, vocabulary: 8192, "
      "intermediate: 4096}}]\nsoftware: {{stack: nanotron}}\ngroups: all\n"
      "techniques: {{Megatron: {{{5}, micro_batches: 8{6}}}}}\n"
      "training: {{batch: 256, epochs: 1, blocks_per_epoch: 2560, precision: bf16, gradient_precision: fp32}}\n"
      "platform: {{name: two, sites: {{lab: {{rtt: 20 us}}}}, vms: {{one: {0}{1}{2}]}}, other: {0}{3}{2}]}}}}}}\n",
      node, c.gpu, gpus, c.slow.empty() ? c.gpu : c.slow, c.hidden, c.degrees, c.more));
}

std::vector<Case> cases() {
  const std::string two = "tensor: 4, pipeline: 2, data: 2", one = "tensor: 8, pipeline: 1, data: 2";
  return {
      {"OneGpu", "tensor: 1, pipeline: 4, data: 4"},
      {"Wide", two, "", "dgx-h100", "h100", 4096},
      {"Narrow", two},
      {"Block", two, ", overlap: no"},
      {"SequenceParallel", two, ", sequence_parallel: yes"},
      {"SequenceParallelBlock", one, ", sequence_parallel: yes, overlap: no"},
      {"Recompute", one, ", recompute: full"},
      {"Asynchronous", "tensor: 1, pipeline: 4, data: 4", ", order: asynchronous"},
      {"Chunks", "tensor: 1, pipeline: 2, data: 8", ", chunks: 2"},
      {"TwoNodesOfPcie", one, "", "gpu-server", "rtx3090"},
      // A message and an exchange meet on the links of a node.
      {"Meets", "tensor: 4, pipeline: 4, data: 1", ", order: asynchronous", "dgx-h100", "h100", 1024, false},
      {"MixedGroup", two, "", "dgx-h100", "h100", 4096, true, "a100-80"},
      {"MixedGroupOfANode", one, ", overlap: no", "dgx-h100", "h100", 4096, true, "a100-80"},
  };
}

class PassageCase : public testing::TestWithParam<Case> {};

TEST_P(PassageCase, SaysWhatAllTasksSay) {
  const Scenario scenario = scenario_of(GetParam());
  const Prediction part = predict(scenario, {.links = true, .ignore_memory = true}).front(),
                   whole = predict(scenario, {.links = true, .whole = true, .ignore_memory = true}).front();
  expect_times_of(whole, part, kRounding);
  expect_links_of(whole, part, kRounding);
}

TEST_P(PassageCase, TakesFewTasksWhereItMay) {
  const Scenario scenario = scenario_of(GetParam());
  PlanInputs inputs(scenario);
  const Lowered all = lower_alike(inputs.request);
  PassageRules rules;
  inputs.request.passages = &rules;
  std::set<int> apart;
  for (bool first = true; first || !apart.empty(); first = false) {
    const Lowered few = lower_alike(inputs.request);
    EXPECT_LT(few.graph.tasks().size(), all.graph.tasks().size() + (first ? 0 : 1));
    apart = out_of_step(few.graph, simulate(few.graph));
    EXPECT_TRUE(apart.empty() == GetParam().holds || !first);
    rules.in_full.merge(std::set<int>(apart));
  }
}

TEST(Passages, OfOtherGroupsRemainBesideOneInFull) {
  const Scenario scenario = scenario_of(cases()[1]);
  PlanInputs inputs(scenario);
  const TaskGraph all = lower_alike(inputs.request).graph;
  PassageRules rules;
  inputs.request.passages = &rules;
  const TaskGraph none = lower_alike(inputs.request).graph;
  rules.in_full.insert(inputs.plan.stages[0].mesh.begin(), inputs.plan.stages[0].mesh.end());
  const TaskGraph some = lower_alike(inputs.request).graph;
  EXPECT_LT(some.tasks().size(), all.tasks().size());
  EXPECT_GT(some.tasks().size(), none.tasks().size());
  const Timeline timeline = simulate(some), whole = simulate(all);
  EXPECT_TRUE(out_of_step(some, timeline).empty());
  EXPECT_NEAR(timeline.end.value, whole.end.value, kRounding * whole.end.value);
}

INSTANTIATE_TEST_SUITE_P(Plans, PassageCase, testing::ValuesIn(cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::passages_test
