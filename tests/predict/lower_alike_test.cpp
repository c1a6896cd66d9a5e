// What is alike is simulated once: the same as simulating all of it.
#include "sim/predict/lower_alike.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/predict/predict.h"
#include "tests/word_name.h"

namespace slmsim {
namespace {

// Rounding of sums in another order.
constexpr double kRounding = 1e-9;

struct Case {
  std::string name, technique, vms;
  bool folds = true;  // whether fewer tasks than those of all GPUs do
  std::string batch = "64";
  std::string model = "{name: small, family: gpt2, hidden: 512, heads: 16, layers: 8, sequence: 256, vocabulary: 8192}";
};

constexpr const char* kDgx =
    "node: {count: 4, site: lab, type: dgx-a100, gpus: [a100-40, a100-40, a100-40, a100-40, "
    "a100-40, a100-40, a100-40, a100-40]}";
// One network card for four GPUs, over TCP.
constexpr const char* kSlots =
    "node: {count: 8, site: lab, type: {name: plain, nic: 10 Gbps, device_latency: 5 us, tcp: "
    "{net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, copy_rate: 4 GB/s}}, "
    "gpus: [a30, a30, a30, a30]}";
// The last of them with a slower card.
constexpr const char* kUneven =
    "node: {count: 7, site: lab, type: &t {name: plain, nic: 10 Gbps, device_latency: 5 us, tcp: "
    "{net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, copy_rate: 4 GB/s}}, "
    "gpus: [a30, a30, a30, a30]}, slow: {site: lab, type: {name: slow, nic: 2 Gbps, "
    "device_latency: 5 us, tcp: {net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, "
    "copy_rate: 4 GB/s}}, gpus: [a30, a30, a30, a30]}";

Scenario scenario_of(const Case& c) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / fmt::format("alike-{}.yaml", c.name);
  std::ofstream(file) << fmt::format(
      "models: [{}]\ntechniques: {{{}}}\ngroups: all\n"
      "training: {{batch: {}, epochs: 1, blocks_per_epoch: 640, precision: fp16}}\n"
      "platform: {{name: many, sites: {{lab: {{rtt: 20 us}}}}, vms: {{{}}}}}\n",
      c.model, c.technique, c.batch, c.vms);
  return load_scenario(file);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  // `folds`: on nodes. Those of whose GPUs several are in one ring between nodes, on rails of theirs, are all different.
  const auto both = [&](const std::string& name, const std::string& technique, bool folds = true) {
    out.push_back({name + "OnNodes", technique, kDgx, folds});
    out.push_back({name + "OnSlots", technique, kSlots, true});
    out.push_back({name + "BesideASlowCard", technique, kUneven, false});
  };
  both("Ddp", "DDP: {}");
  both("Zero1", "ZeRO-1: {}");
  both("Zero3", "ZeRO-3: {}");
  both("Fsdp", "FSDP: {}");
  both("Data", "Data: {}");
  both("Zero2", "ZeRO2: {}");
  both("LocalSgd", "LocalSGD: {}");
  both("TensorAndPipeline", "Megatron: {tensor: 4, pipeline: 2, data: 4, micro_batches: 4}", false);
  both("WholePipeline", "Megatron: {tensor: 4, pipeline: 8, data: 1, micro_batches: 16}", false);
  both("Chunks", "Megatron: {tensor: 4, pipeline: 4, data: 2, chunks: 2, micro_batches: 4}", false);
  both("SequenceParallel",
       "Megatron: {tensor: 4, pipeline: 2, data: 4, micro_batches: 2, sequence_parallel: yes, "
       "distributed_optimizer: yes, recompute: full}",
       false);
  both("DataAlone", "Megatron: {tensor: 1, pipeline: 1, data: 32, micro_batches: 2}");
  both("WideTensor", "Megatron: {tensor: 16, pipeline: 1, data: 2, micro_batches: 2}");
  return out;
}

class Alike : public testing::TestWithParam<Case> {};

TEST_P(Alike, TakenOnceTheySayWhatAllOfThemSay) {
  const Scenario scenario = scenario_of(GetParam());
  const auto once = predict(scenario, {.ignore_memory = true}),
             all = predict(scenario, {.whole = true, .ignore_memory = true});
  ASSERT_EQ(once.size(), all.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    ASSERT_TRUE(all[i].is_timed()) << all[i].reason;
    const auto near = [&](Seconds a, Seconds b) { EXPECT_NEAR(a.value, b.value, kRounding * all[i].iteration.value); };
    near(once[i].iteration, all[i].iteration);
    near(once[i].first_iteration, all[i].first_iteration);
    EXPECT_NEAR(once[i].job.value, all[i].job.value, kRounding * all[i].job.value);
    near(once[i].breakdown.compute, all[i].breakdown.compute);
    near(once[i].breakdown.exposed_communication, all[i].breakdown.exposed_communication);
    near(once[i].breakdown.pipeline_bubble, all[i].breakdown.pipeline_bubble);
    near(once[i].breakdown.optimizer, all[i].breakdown.optimizer);
    near(once[i].breakdown.overhead, all[i].breakdown.overhead);
  }
}

TEST_P(Alike, GivesFewerTasksWhereReplicasAreEqual) {
  const Scenario scenario = scenario_of(GetParam());
  const OperatorGraph operators = build_operator_graph(scenario.models.front());
  const Network network(scenario.platform);
  const PlanRequest request{scenario, scenario.models.front(), operators, scenario.groups.front(),
                            scenario.techniques.front()};
  const PlanResult plan = make_plan(request);
  ASSERT_TRUE(plan.plan) << plan.reason;
  const LowerRequest lower{*plan.plan, operators, scenario, network};
  const std::size_t folded = lower_alike(lower).graph.tasks().size(),
                    whole = plan.plan->technique->lower(lower).graph.tasks().size();
  if (GetParam().folds) {
    EXPECT_LE(2 * folded, whole);
  } else {
    EXPECT_LE(folded, whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, Alike, testing::ValuesIn(cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim
