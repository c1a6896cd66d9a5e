// Passes over layers in one task: the same as all of their tasks.
#include "sim/predict/passages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/predict/alike.h"
#include "tests/predict/whole.h"
#include "tests/word_name.h"

namespace slmsim::passages_test {
namespace {

constexpr double kRounding = 1e-9;  // of sums in another order

struct Case {
  std::string name, degrees, more = {}, type = "dgx-h100", gpu = "h100";
  int hidden = 1024;
  bool holds = true;  // whether passages are used
};

// Sixteen GPUs on two nodes. The narrow model's hosts are later than its GPUs.
Scenario scenario_of(const Case& c) {
  std::string gpus = c.gpu;
  for (int i = 1; i < 8; ++i) gpus += ", " + c.gpu;
  return scenario_from(fmt::format(
      "models: [{{name: small, family: llama, hidden: {}, heads: 16, layers: 4, sequence: 512, vocabulary: 8192, "
      "intermediate: 4096}}]\nsoftware: {{stack: nanotron}}\ngroups: all\n"
      "techniques: {{Megatron: {{{}, micro_batches: 8{}}}}}\n"
      "training: {{batch: 256, epochs: 1, blocks_per_epoch: 2560, precision: bf16, gradient_precision: fp32}}\n"
      "platform: {{name: two, sites: {{lab: {{rtt: 20 us}}}}, vms: {{node: {{count: 2, site: lab, type: {}, gpus: "
      "[{}]}}}}}}\n",
      c.hidden, c.degrees, c.more, c.type, gpus));
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
  inputs.request.passages = true;
  const Lowered few = lower_alike(inputs.request);
  EXPECT_LT(few.graph.tasks().size(), all.graph.tasks().size());
  EXPECT_EQ(passages_hold(few.graph, simulate(few.graph)), GetParam().holds);
}

INSTANTIATE_TEST_SUITE_P(Plans, PassageCase, testing::ValuesIn(cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::passages_test
