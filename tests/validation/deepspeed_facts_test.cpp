// The DeepSpeed study: its published facts, and what must hold of its techniques by hand calculation.
#include "tests/validation/deepspeed_facts.h"

#include <fstream>

#include <gmock/gmock.h>

#include "sim/compute/operator_graph.h"
#include "sim/predict/max_model.h"
#include "sim/predict/predict.h"
#include "tests/named.h"
#include "tests/own_file.h"

namespace slmsim::deepspeed_facts_test {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

const DeepSpeedValidation& validation() {
  static const DeepSpeedValidation kValidation = validate_deepspeed(kRoot, kRoot / "tests/reference/deepspeed.csv");
  return kValidation;
}

TEST(DeepSpeedStudy, HasAtMostSevenFittedValues) { EXPECT_LE(validation().fitted.size(), 7u); }

TEST(DeepSpeedStudy, ThroughputIsWithinFivePercentOnTheMeanAndTwelveAnywhere) {
  EXPECT_GE(validation().throughput.cells, 21);
  EXPECT_LE(validation().throughput.mean, 0.05);
  EXPECT_LE(validation().throughput.worst, 0.12);
}

TEST(LargestModels, OfAPipelineHaveAtLeastALayerPerStage) {
  const Scenario scenario = load_scenario(kRoot / "scenarios/gat-amst.yaml", {"models=gpt2m"});
  for (const LargestModel& largest : largest_models(scenario, named("Pipeshard"))) EXPECT_GT(largest.layers, 24);
}

// With Megatron-LM's micro-batches as the study describes them its largest model is predicted a fifth too large.
TEST(DeepSpeedStudy, LargestModelsAreWithinEightPercentOnTheMean) {
  EXPECT_EQ(validation().largest.cells, 5);
  EXPECT_LE(validation().largest.mean, 0.08);
  EXPECT_LE(validation().largest.worst, 0.25);
}

TEST(DeepSpeedStudy, LinkAveragesAreWithinFourteenPercent) {
  EXPECT_EQ(validation().links.cells, 5);
  EXPECT_LE(validation().links.worst, 0.14);
}

// The study writes NVME, the platform's drives NVMe.
TEST(DeepSpeedStudy, LinksAreFoundWhateverTheCaseOfTheirNames) {
  const auto file = own_file(".csv");
  std::ofstream(file) << "config,nodes,model_size_B,metric,value,unit\n"
                         "ZeRO-3 (2xNVMe opt),1,1.4,bw_PCIe-NVME_avg,5,GB/s\n"
                         "ZeRO-3 (2xNVMe opt),1,1.4,bw_PCIe-NVMe_avg,5,GB/s\n";
  const auto found = validate_deepspeed(kRoot, file).facts;
  ASSERT_EQ(found.size(), 2u);
  ASSERT_TRUE(found[0].predicted && found[1].predicted);
  EXPECT_GT(*found[0].predicted, 0);
  EXPECT_EQ(*found[0].predicted, *found[1].predicted);
}

Scenario sized(const std::string& name, double billions, const Overrides& overrides = {}) {
  Scenario scenario = load_scenario(kRoot / "scenarios" / (name + ".yaml"), overrides);
  scenario.models.front().layers = layers_of_size(billions, scenario.models.front());
  return scenario;
}

Prediction one(const Scenario& scenario, const Technique* technique) {
  return predict(scenario, {.links = true, .only = technique, .ignore_memory = true}).front();
}

TEST(DeepSpeedStudy, NvmePlacementsComeInThePublishedOrder) {
  double before = 0;
  for (const char* placement : {"a", "c", "b", "d", "e", "f", "g"}) {
    const Prediction p = one(sized(std::string("xe8545-nvme-") + placement, 33.3), named("Infinity"));
    ASSERT_EQ(p.status, Status::kOk) << p.reason;
    EXPECT_GT(p.rate_per_gpu.value, before) << placement;
    before = p.rate_per_gpu.value;
  }
}

TEST(DeepSpeedStudy, DdpEndsAtOnePointFourBillion) {
  const Scenario scenario = load_scenario(kRoot / "scenarios/xe8545-1.yaml");
  const auto largest = largest_models(scenario, named("DDP"));
  ASSERT_EQ(largest.size(), 1u);
  EXPECT_NEAR(largest.front().parameters, 1.4e9, 0.08 * 1.4e9);
  // The memory that does not suffice is that of one layer more.
  EXPECT_THAT(largest.front().limit, testing::StartsWith("at " + std::to_string(largest.front().layers + 1) +
                                                         " layers memory of node0/0, most of it "));
  // One more layer does not fit.
  Scenario more = scenario;
  more.models.front().layers = largest.front().layers + 1;
  EXPECT_EQ(predict(more, {.only = named("DDP")}).front().status, Status::kOutOfMemory);
}

const InterconnectUse& use_of(const Prediction& p, const std::string& interconnect) {
  static const InterconnectUse kNone;
  for (const auto& use : p.interconnects) {
    if (use.interconnect == interconnect) return use;
  }
  ADD_FAILURE() << "no " << interconnect;
  return kNone;
}

double parameters_of(const Scenario& scenario) {
  return parameter_count(build_operator_graph(scenario.models.front()));
}

// A ring over n GPUs sends (n - 1) / n of the buffer per GPU to gather or to scatter it, twice that to reduce it for all;
// NVLink counts each byte at both of its ends.
TEST(DeepSpeedStudy, BytesOnNvlinkAreThoseOfTheCollectives) {
  const Scenario scenario = sized("xe8545-1", 1.4);
  const double buffer = 2 * parameters_of(scenario), once = 4 * 0.75 * buffer * 2;
  EXPECT_NEAR(use_of(one(scenario, named("DDP")), "NVLink").bytes.value, 2 * once, 0.01 * once);
  EXPECT_NEAR(use_of(one(scenario, named("ZeRO-1")), "NVLink").bytes.value, 3 * once, 0.01 * once);
  EXPECT_NEAR(use_of(one(scenario, named("ZeRO-2")), "NVLink").bytes.value, 2 * once, 0.01 * once);
  EXPECT_NEAR(use_of(one(scenario, named("ZeRO-3")), "NVLink").bytes.value, 3 * once, 0.01 * once);
  // Megatron-LM: six all-reduces of 2 b S h bytes per layer (two of them recomputation's), and one for embedding and head.
  const double activation = 2.0 * 64 * 256 * 2048;
  const double megatron = (6 * 26 + 2) * 4 * 1.5 * activation * 2;
  EXPECT_NEAR(use_of(one(scenario, named("Megatron")), "NVLink").bytes.value, megatron, 0.08 * megatron);
}

TEST(DeepSpeedStudy, OffloadMovesGradientsAndParametersOverPcieAndAdamsBytesThroughMemory) {
  const Scenario scenario = sized("xe8545-1", 1.4);
  const double parameters = parameters_of(scenario);
  const Prediction p = one(scenario, named("ZeRO-2-CPU"));
  EXPECT_NEAR(use_of(p, "PCIe-GPU").bytes.value, 4 * parameters, 1e-3 * parameters);  // 2 down, 2 back
  EXPECT_NEAR(use_of(p, "DRAM").bytes.value, (51 + 4) * parameters, 1e-2 * parameters);
  EXPECT_NEAR(use_of(p, "xGMI").bytes.value, 0, 1);
  EXPECT_EQ(use_of(one(scenario, named("DDP")), "PCIe-GPU").bytes.value, 0);
}

TEST(DeepSpeedStudy, DrivesCarryTwelveBytesPerParameterEachWay) {
  const Scenario scenario = sized("xe8545-nvme-d", 11.4);
  const double parameters = parameters_of(scenario);
  EXPECT_NEAR(use_of(one(scenario, named("Infinity")), "PCIe-NVMe").bytes.value, 24 * parameters, 1e-3 * parameters);
  // With the parameters as well: 2 bytes read in either pass and written once.
  EXPECT_NEAR(use_of(one(scenario, named("Infinity-P")), "PCIe-NVMe").bytes.value, 30 * parameters, 1e-3 * parameters);
}

TEST(DeepSpeedStudy, OnlySpanningVolumesCrossTheSockets) {
  EXPECT_EQ(use_of(one(sized("xe8545-nvme-g", 11.4), named("Infinity")), "xGMI").bytes.value, 0);
  const Scenario spanning = sized("xe8545-nvme-e", 11.4);
  EXPECT_NEAR(use_of(one(spanning, named("Infinity")), "xGMI").bytes.value, 12 * parameters_of(spanning),
              0.01 * parameters_of(spanning));
}

// ZeRO (arXiv 1910.02054, figure 1): weights and the optimizer's state, which are there at any moment.
TEST(DeepSpeedStudy, StatesAreDividedAsTheStageSays) {
  const Scenario scenario = sized("xe8545-1", 1.4);
  const double parameters = parameters_of(scenario);
  const auto states = [&](const Technique* technique) {
    const DeviceMemory m = one(scenario, technique).memory.front();
    return (m.parameters + m.optimizer).value / parameters;
  };
  EXPECT_NEAR(states(named("DDP")), 2 + 12, 1e-9);
  EXPECT_NEAR(states(named("ZeRO-1")), 2 + 12 / 4.0, 1e-9);
  EXPECT_NEAR(states(named("ZeRO-2")), 2 + 12 / 4.0, 1e-9);
  EXPECT_NEAR(states(named("ZeRO-3")), 14 / 4.0, 1e-9);
  EXPECT_NEAR(states(named("ZeRO-1-CPU")), 2, 1e-9);
  EXPECT_NEAR(states(named("ZeRO-2-CPU")), 2, 1e-9);
  EXPECT_NEAR(states(named("ZeRO-3-CPU")), 2 / 4.0, 1e-9);
  EXPECT_NEAR(states(named("Infinity-P")), 0, 1e-9);
}

// A drive reads and writes one after the other: 12 bytes per parameter at 7 and at 4.3 GB/s, 0.7 of it reached. The
// remainder is the passes and the first and the last group, which nothing hides.
TEST(DeepSpeedStudy, InfinityIsBoundByItsDrives) {
  const Scenario scenario = sized("xe8545-nvme-g", 33.3);
  const double drives = parameters_of(scenario) * 12 * (1 / 7e9 + 1 / 4.3e9) / 0.7 / 4;
  const double iteration = one(scenario, named("Infinity")).iteration.value;
  EXPECT_GT(iteration, drives);
  EXPECT_LT(iteration, 1.25 * drives);
}

TEST(DeepSpeedStudy, CpuAdamTakesWhatItsRateLetsThrough) {
  const Scenario scenario = sized("xe8545-1", 11.4);
  const double adam = parameters_of(scenario) / 4 * 51 / 29e9;
  Scenario free = scenario;
  free.framework.cpu_adam = 0;
  const double with = one(scenario, named("ZeRO-2-CPU")).iteration.value;
  const double without = one(free, named("ZeRO-2-CPU")).iteration.value;
  EXPECT_NEAR(with - without, adam, 1e-3 * adam);
}

// Whatever shares a link: what flows at any time is no more than the link carries.
TEST(DeepSpeedStudy, NoLinkCarriesMoreThanItCan) {
  for (const char* name : {"xe8545-1", "xe8545-2"}) {
    Scenario scenario = load_scenario(kRoot / "scenarios" / (std::string(name) + ".yaml"));
    for (auto& vm : scenario.platform.vms) {
      for (auto& link : vm.type.inside.links) {
        if (link.interconnect == "DRAM") link.peak = BytesPerSecond{10e9};
        link.efficiency = 1;
      }
    }
    for (const Prediction& p : predict(scenario, {.links = true})) {
      ASSERT_EQ(p.status, Status::kOk) << p.reason;
      for (const InterconnectUse& use : p.interconnects) {
        SCOPED_TRACE(std::string(p.technique->name) + " " + use.interconnect);
        EXPECT_LE(use.average, use.peak);
        EXPECT_LE(use.p90, use.peak);
        EXPECT_LE(use.peak.value, use.capacity.value * (1 + 1e-6));
      }
    }
  }
}

// Two volumes on one drive are as fast as one volume for all.
TEST(DeepSpeedStudy, ADriveInTwoVolumesIsNoSlower) {
  const Scenario one = sized("xe8545-nvme-a", 11.4);
  Scenario two = one;
  auto& volumes = two.platform.vms.front().type.inside.volumes;
  volumes.push_back(volumes.front());
  volumes.front().gpus = {0, 1};
  volumes.back().gpus = {2, 3};
  volumes.back().name = "other";
  EXPECT_NEAR(slmsim::predict(two, {.only = named("Infinity")}).front().iteration.value,
              slmsim::predict(one, {.only = named("Infinity")}).front().iteration.value, 1e-6);
}

// With equal stages and no other cost an iteration of M micro-batches takes (M + (p - 1) / v) / M of its computation
// (Narayanan et al., arXiv 2104.04473, section 2.2).
TEST(Megatron, InterleavingShrinksTheBubbleByTheChunks) {
  const auto bubble = [](const std::string& options) {
    const Scenario scenario =
        sized("xe8545-1", 1.4,
              {"techniques={Megatron: {pipeline: 4, tensor: 1, micro_batches: 16, " + options + "}}",
               "training.iteration_overhead=0 s"});
    Scenario even = scenario;
    even.models.front().layers = 64;
    const Prediction p = one(even, named("Megatron"));
    EXPECT_EQ(p.status, Status::kOk) << p.reason;
    return (p.breakdown.pipeline_bubble + p.breakdown.exposed_communication) / p.iteration;
  };
  const double plain = bubble("chunks: 1"), interleaved = bubble("chunks: 4");
  EXPECT_GT(plain, 0.08);  // of 3 / 19, less what the head makes the last stage compute longer
  EXPECT_LT(plain, 3.0 / 19);
  EXPECT_LT(interleaved, 0.5 * plain);
}

Bytes nvlink_bytes(const std::string& options, std::int64_t layers) {
  Scenario scenario = sized("xe8545-1", 1.4, {"techniques={Megatron: {" + options + "}}"});
  scenario.models.front().layers = layers;
  const Prediction p = one(scenario, named("Megatron"));
  EXPECT_EQ(p.status, Status::kOk) << p.reason;
  return use_of(p, "NVLink").bytes;
}

// The table of 50257 words and 256 positions in fp16, there and back, counted at both ends; between four stages three
// activations (and their gradients) of 16 sequences x 256 tokens x 2048 per micro-batch.
TEST(Megatron, AddsUpTheTiedEmbeddingsGradientsOfFirstAndLastStage) {
  const double table = (50257 + 256) * 2048 * 2.0, activation = 16 * 256 * 2048 * 2.0;
  const double sent = 2 * table + 4 * 3 * 2 * activation;
  EXPECT_NEAR(nvlink_bytes("pipeline: 4, tensor: 1, micro_batches: 4", 28).value, 2 * sent, 1e-3 * sent);
}

// Without recomputation four all-reduces per layer, or four pairs of gather and scatter and two more gathers.
TEST(Megatron, SequenceParallelismGathersTheInputsAgainGoingBackward) {
  const auto per_layer = [](const std::string& options) {
    return nvlink_bytes(options, 20).value - nvlink_bytes(options, 10).value;
  };
  const double plain = per_layer("tensor: 4, recompute: none");
  EXPECT_NEAR(per_layer("tensor: 4, recompute: none, sequence_parallel: yes"), 1.25 * plain, 1e-3 * plain);
}

// Korthikanti et al., section 5: s b h (10 + 24 / t) bytes per layer, and the logits' 10 bytes per word.
TEST(Megatron, SelectiveRecomputationKeepsWhatItComputesAnewFrom) {
  const double sbh = 256.0 * 64 * 2048;
  const auto held = [](std::int64_t layers) {
    Scenario scenario = sized("xe8545-1", 1.4, {"techniques={Megatron: {tensor: 4, recompute: selective}}"});
    scenario.models.front().layers = layers;
    const Prediction prediction = one(scenario, named("Megatron"));
    return fullest(prediction.memory)->activations.value;
  };
  EXPECT_NEAR((held(26) - held(13)) / 13, sbh * (10 + 24 / 4.0), 0.01 * sbh);
}

// FLOPs of three passes where nothing is computed anew, of four where every layer is.
TEST(Megatron, ReportsTheFlopsOfWhatItComputes) {
  const auto flops = [](const char* recompute) {
    const Prediction p =
        one(sized("xe8545-1", 1.4, {std::string("techniques={Megatron: {recompute: ") + recompute + "}}"}),
            named("Megatron"));
    return p.rate_per_gpu.value * p.iteration.value;
  };
  EXPECT_NEAR(flops("full") / flops("none"), 4.0 / 3, 0.03);
  EXPECT_DOUBLE_EQ(flops("selective"), flops("none"));
}

TEST(Megatron, RefusesDegreesThatDoNotMakeTheGpus) {
  const Scenario scenario = sized("xe8545-1", 1.4, {"techniques={Megatron: {tensor: 3}}"});
  const Prediction p = one(scenario, named("Megatron"));
  EXPECT_EQ(p.status, Status::kUnsupported);
  EXPECT_EQ(p.reason, "tensor 3 x pipeline 1 x data 1 is not 4 GPUs");
}

TEST(Megatron, SelectiveRecomputationNeedsMoreMemoryThanFullAndLessThanNone) {
  const auto held = [](const char* recompute) {
    const Scenario scenario =
        sized("xe8545-1", 1.4, {std::string("techniques={Megatron: {recompute: ") + recompute + "}}"});
    const Prediction prediction = one(scenario, named("Megatron"));
    return fullest(prediction.memory)->activations.value;
  };
  EXPECT_LT(held("full"), held("selective"));
  EXPECT_LT(held("selective"), held("none"));
}

}  // namespace
}  // namespace slmsim::deepspeed_facts_test
