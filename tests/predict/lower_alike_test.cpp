// Equal parts are simulated once: the same as simulating all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/predict/alike.h"
#include "tests/predict/whole.h"
#include "tests/word_name.h"

namespace slmsim::lower_alike_test {
namespace {

// Rounding of sums in another order.
constexpr double kRounding = 1e-9;

struct Case {
  std::string name, technique, platform;
  bool folds = true;  // whether fewer tasks than those of all GPUs do
  std::string batch = "64";
  std::string model = "{name: small, family: gpt2, hidden: 512, heads: 16, layers: 8, sequence: 256, vocabulary: 8192}";
};

constexpr const char* kDgx =
    "sites: {lab: {rtt: 20 us}}, vms: {node: {count: 4, site: lab, type: dgx-a100, gpus: [a100-40, a100-40, a100-40, "
    "a100-40, "
    "a100-40, a100-40, a100-40, a100-40]}}";
constexpr const char* kOneDgx =
    "sites: {lab: {rtt: 20 us}}, vms: {node: {site: lab, type: dgx-a100, gpus: [a100-40, a100-40, a100-40, a100-40, "
    "a100-40, a100-40, a100-40, a100-40]}}";
// Four nodes, two of them far away.
constexpr const char* kFarDgx =
    "sites: {lab: {rtt: 20 us}, far: {rtt: 20 us}}, vms: {"
    "node: {count: 2, site: lab, type: dgx-a100, gpus: &g [a100-40, a100-40, a100-40, a100-40, "
    "a100-40, a100-40, a100-40, a100-40]}, other: {count: 2, site: far, type: dgx-a100, gpus: *g}}, "
    "links: {wan: {between: [lab, far], rtt: 20 ms, bandwidth: 100 Gbps}}";
// One network card for four GPUs, over TCP.
constexpr const char* kSlots =
    "sites: {lab: {rtt: 20 us}}, vms: {node: {count: 8, site: lab, type: {name: plain, nic: 10 Gbps, device_latency: 5 "
    "us, tcp: "
    "{net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, copy_rate: 4 GB/s}}, "
    "gpus: [a30, a30, a30, a30]}}";
// TCP between sites, whose windows bind, lose segments and fill the link both ways.
constexpr const char* kFarSlots =
    "sites: {lab: {rtt: 20 us}, far: {rtt: 20 us}}, vms: {"
    "near: {count: 3, site: lab, type: &t {name: plain, nic: 10 Gbps, device_latency: 5 us, tcp: "
    "{net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, copy_rate: 4 GB/s}}, gpus: &g [a30, a30, a30, a30]}, "
    "away: {count: 3, site: far, type: *t, gpus: *g}}, "
    "links: {wan: {between: [lab, far], rtt: 30 ms, bandwidth: 2 Gbps, loss: 2e-4}}";
// The last of them with a slower card.
constexpr const char* kUneven =
    "sites: {lab: {rtt: 20 us}}, vms: {node: {count: 7, site: lab, type: &t {name: plain, nic: 10 Gbps, "
    "device_latency: 5 us, tcp: "
    "{net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, copy_rate: 4 GB/s}}, "
    "gpus: [a30, a30, a30, a30]}, slow: {site: lab, type: {name: slow, nic: 2 Gbps, "
    "device_latency: 5 us, tcp: {net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, "
    "copy_rate: 4 GB/s}}, gpus: [a30, a30, a30, a30]}}";

// One GPU with slower memory than all others.
constexpr const char* kSlowGpu =
    "sites: {lab: {rtt: 20 us}}, vms: {node: {count: 7, site: lab, type: dgx-a100, gpus: [a100-80, a100-80, a100-80, "
    "a100-80, a100-80, a100-80, a100-80, a100-80]}, slow: {site: lab, type: dgx-a100, gpus: [a100-80, a100-80, "
    "a100-80, a100-40, a100-80, a100-80, a100-80, a100-80]}}";

Scenario scenario_of(const Case& c) {
  return scenario_from(
      fmt::format("models: [{}]\ntechniques: {{{}}}\ngroups: all\n"
                  "training: {{batch: {}, epochs: 1, blocks_per_epoch: 640, precision: fp16}}\n"
                  "platform: {{name: many, {}}}\n",
                  c.model, c.technique, c.batch, c.platform));
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
  both("FsdpTensor", "FSDP: {tensor: 4, recompute: full}", false);
  both("FsdpGroups", "FSDP: {strategy: hybrid_shard, shard: 4}", false);
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
  out.push_back({"InNodesWithASlowGpu", "Megatron: {tensor: 8, pipeline: 2, data: 4, micro_batches: 4}", kSlowGpu});
  out.push_back({"FsdpStagesOnSlots", "FSDP: {tensor: 4, pipeline: 2, micro_batches: 4}", kSlots, true, "64",
                 "{name: small, family: gpt2, hidden: 512, heads: 16, layers: 8, sequence: 256, vocabulary: 8192, "
                 "tied_embedding: no}"});
  // Replicas in rings over several NICs of a node, each through its GPUs in an order of its own.
  out.push_back({"PairsInRings", "Megatron: {tensor: 2, pipeline: 2, data: 8, micro_batches: 2}", kDgx});
  // A GPU in two sets of two, with another one each.
  out.push_back({"OneNode", "Megatron: {tensor: 2, pipeline: 2, data: 2, micro_batches: 4}", kOneDgx});
  // Rings share their links with what goes between stages in a node: all of these are then different.
  out.push_back({"HalvesOfNodesWithASlowGpu",
                 "Megatron: {tensor: 4, pipeline: 4, data: 4, micro_batches: 8, sequence_parallel: yes}", kSlowGpu,
                 false});
  out.push_back({"DdpBesideASlowGpu", "DDP: {}", kSlowGpu, false});
  out.push_back({"FsdpBesideASlowGpu", "FSDP: {strategy: hybrid_shard}", kSlowGpu, false});
  const auto far = [&](const std::string& name, const std::string& technique, const char* platform, bool folds,
                       const std::string& batch) {
    out.push_back({name, technique, platform, folds, batch});
  };
  far("DdpOnRailsFarAway", "DDP: {}", kFarDgx, true, "64");
  far("FsdpOnRailsFarAway", "FSDP: {}", kFarDgx, true, "64");
  far("LocalSgdOnRailsFarAway", "LocalSGD: {inner_steps: 20}", kFarDgx, true, "64");
  far("RingsOverTcp", "Megatron: {tensor: 4, pipeline: 1, data: 6, micro_batches: 2}", kFarSlots, true, "48");
  far("PipelinesOverTcp", "Megatron: {tensor: 4, pipeline: 2, data: 3, micro_batches: 8}", kFarSlots, false, "48");
  far("OneRingOverTcp", "Data: {}", kFarSlots, false, "48");
  far("HybridOverTcp", "FSDP: {strategy: hybrid_shard}", kFarSlots, false, "48");
  return out;
}

class Alike : public testing::TestWithParam<Case> {};

TEST_P(Alike, TakenOnceTheySayWhatAllOfThemSay) {
  const Scenario scenario = scenario_of(GetParam());
  const auto once = predict(scenario, {.ignore_memory = true}),
             all = predict(scenario, {.whole = true, .ignore_memory = true});
  ASSERT_EQ(once.size(), all.size());
  for (std::size_t i = 0; i < once.size(); ++i) expect_times_of(all[i], once[i], kRounding);
}

TEST_P(Alike, LinksCarryTheSame) {
  const Scenario scenario = scenario_of(GetParam());
  const auto once = predict(scenario, {.links = true, .ignore_memory = true}),
             all = predict(scenario, {.links = true, .whole = true, .ignore_memory = true});
  for (std::size_t i = 0; i < all.size(); ++i) expect_links_of(all[i], once[i], kRounding);
}

TEST_P(Alike, GivesFewerTasksWhereReplicasAreEqual) {
  const Scenario scenario = scenario_of(GetParam());
  const PlanInputs planned(scenario);
  const std::size_t folded = lower_alike(planned.request).graph.tasks().size(),
                    whole = planned.plan.technique->lower(planned.request).graph.tasks().size();
  if (GetParam().folds) {
    EXPECT_LE(2 * folded, whole);
  } else {
    EXPECT_LE(folded, whole);
  }
}

TEST_P(Alike, FoundByColoursThatHeldBefore) {
  const Scenario scenario = scenario_of(GetParam());
  const PlanInputs planned(scenario);
  Colouring colours;
  const TaskGraph first = lower_alike(planned.request, colours).graph,
                  again = lower_alike(planned.request, colours).graph;
  EXPECT_EQ(first.tasks().size(), again.tasks().size());
  ASSERT_EQ(first.connections().size(), again.connections().size());
  for (std::size_t i = 0; i < first.connections().size(); ++i)
    EXPECT_EQ(first.connections()[i].route.links, again.connections()[i].route.links);
  EXPECT_EQ(simulate(first).end, simulate(again).end);
}

INSTANTIATE_TEST_SUITE_P(Gpus, Alike, testing::ValuesIn(cases()),
                         [](const auto& one) { return word_name(one.param.name); });

}  // namespace
}  // namespace slmsim::lower_alike_test
