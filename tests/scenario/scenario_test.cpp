#include "sim/scenario/scenario.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/data_root.h"
#include "tests/scenario/folder.h"

namespace slmsim::scenario_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using ScenarioFile = Folder;

TEST_F(ScenarioFile, IsReadWithWhatItNames) {
  const Scenario s = load();
  EXPECT_EQ(s.name, "run");  // its file's name where it has none of its own
  EXPECT_EQ(s.platform.name, "pair");
  ASSERT_EQ(s.platform.devices.size(), 4);
  EXPECT_EQ(s.platform.devices[0].gpu.name, "g");
  EXPECT_EQ(s.platform.vms[1].type.name, "box");
  ASSERT_EQ(s.models.size(), 1);
  EXPECT_EQ(s.models[0].hidden, 4);
  EXPECT_EQ(s.training.batch, 8);
  EXPECT_EQ(s.training.epochs, 3);
  EXPECT_EQ(s.training.blocks_per_epoch, 10.0);
}

TEST_F(ScenarioFile, NeedNotSayWhatSoftwareDoesByDefault) {
  const Scenario s = load();
  EXPECT_EQ(s.training.precision, Precision::kFp16);
  EXPECT_EQ(s.training.gradient_precision, Precision::kFp16);
  EXPECT_FALSE(s.training.rematerialisation);
  EXPECT_EQ(s.nccl.algorithm, NcclAlgorithm::kAuto);
  EXPECT_EQ(s.nccl.protocol, NcclProtocol::kAuto);
  EXPECT_EQ(s.nccl.min_channels, 0);
  EXPECT_EQ(s.nccl.max_channels, 32);
  EXPECT_FALSE(s.nccl.sockets_per_thread);
  EXPECT_EQ(s.nccl.buffer.value, 4 * kMebi);  // NCCL_BUFFSIZE
  EXPECT_EQ(s.memory.usable_share, 0.985);    // PyTorch's
  EXPECT_EQ(s.selection.algorithm, Algorithm::kAmended);
  EXPECT_EQ(s.selection.objective, Objective::kTime);
  EXPECT_EQ(s.selection.delta, 0.1);
}

TEST_F(ScenarioFile, ReadsNcclsSettingsByTheirNames) {
  write("run.yaml", kRun +
                        "nccl: {NCCL_ALGO: Tree, NCCL_PROTO: LL128, NCCL_MIN_NCHANNELS: 3, NCCL_MAX_NCHANNELS: 7,"
                        " NCCL_NSOCKS_PERTHREAD: 8, NCCL_SOCKET_NTHREADS: 2, NCCL_BUFFSIZE: 1 MiB}\n");
  const Nccl nccl = load().nccl;
  EXPECT_EQ(nccl.algorithm, NcclAlgorithm::kTree);
  EXPECT_EQ(nccl.protocol, NcclProtocol::kLl128);
  EXPECT_EQ(nccl.min_channels, 3);
  EXPECT_EQ(nccl.max_channels, 7);
  EXPECT_EQ(nccl.sockets_per_thread, 8);
  EXPECT_EQ(nccl.socket_threads, 2);
  EXPECT_EQ(nccl.buffer.value, kMebi);
}

TEST_F(ScenarioFile, RefusesAlgorithmsThatNcclDoesNotHave) {
  EXPECT_THAT(
      errors({"nccl={NCCL_ALGO: Treee, NCCL_PROTO: simple, NCCL_MAX_CHANNELS: 2}"}),
      ElementsAre(HasSubstr("\"Treee\"; did you mean \"Tree\"?"), HasSubstr("\"simple\"; did you mean \"Simple\"?"),
                  HasSubstr("\"NCCL_MAX_CHANNELS\" in nccl; did you mean \"NCCL_MAX_NCHANNELS\"?")));
}

TEST_F(ScenarioFile, ExchangesGradientsInTheTrainingPrecisionUnlessItSaysSo) {
  EXPECT_EQ(load({"training.precision=fp32"}).training.gradient_precision, Precision::kFp32);
  EXPECT_EQ(load({"training.gradient_precision=fp32"}).training.precision, Precision::kFp16);
}

TEST_F(ScenarioFile, RefusesAutocastWhereNothingIsCast) {
  const auto told = [&](const std::string& training) {
    return errors({"software.stack=autocast", "training.precision=" + training});
  };
  EXPECT_THAT(told("fp32"), ElementsAre(HasSubstr("stack autocast casts to 16 bits; set training.precision")));
  EXPECT_THAT(told("bf16"),
              ElementsAre(HasSubstr("with stack autocast gradients are in fp32; set training.gradient_")));
  EXPECT_THAT(errors({"software.stack=autocast", "training.precision=bf16", "training.gradient_precision=fp32"}),
              IsEmpty());
}

TEST_F(ScenarioFile, RefusesMomentsIn16BitsWhereWeightsAreNot) {
  EXPECT_THAT(errors({"training.optimizer=adam16bit", "training.precision=fp32"}),
              ElementsAre(HasSubstr("training.optimizer: adam16bit keeps its moments as weights in 16 bits; with "
                                    "precision fp32 it is adam")));
  EXPECT_THAT(errors({"software.stack=autocast", "training.precision=bf16", "training.gradient_precision=fp32",
                      "training.optimizer=adam16bit"}),
              ElementsAre(HasSubstr("with stack autocast weights are in fp32")));
  EXPECT_THAT(errors({"training.optimizer=adam16bit", "training.precision=bf16"}), IsEmpty());
}

TEST_F(ScenarioFile, MayStateSingleKernelsInPlaceOfTheStacks) {
  const std::string moves = "{forward: {elements: 1}, backward: {elements: 2}, provenance: typical, source: here}";
  const Scenario s = load({"software.kernels={loss: " + moves + "}"});
  EXPECT_EQ(s.software.kernels[static_cast<std::size_t>(KernelPart::kLoss)], (KernelTraffic{{1}, {2}}));
  EXPECT_TRUE(s.software.kernels[static_cast<std::size_t>(KernelPart::kNorm)]);
  const auto told = [&](const std::string& path) {
    return std::count_if(s.parameters.begin(), s.parameters.end(), [&](const auto& p) { return p.path == path; });
  };
  EXPECT_EQ(told("software.kernels.loss"), 1);
  EXPECT_EQ(told("software.stack.kernels.loss"), 0);
  EXPECT_EQ(told("software.stack.kernels.norm"), 1);
  EXPECT_THAT(errors({"software.kernels={rotary: " + moves + "}"}),
              ElementsAre(HasSubstr("software.kernels.rotary has no effect: no model runs it")));
}

TEST_F(ScenarioFile, TellsOneFlashAttentionOnly) {
  const auto told = [](const Scenario& s, std::string_view begin) {
    return std::count_if(s.parameters.begin(), s.parameters.end(),
                         [&](const auto& p) { return p.path.starts_with(begin); });
  };
  EXPECT_GT(told(load({"software.attention=flash"}), "software.stack.flash."), 0);
  const Scenario own = load({"software.attention=flash", "software.flash={forward: 0.5, backward: 0.4}"});
  EXPECT_EQ(own.software.flash.forward, (FlashPass{0.5, 0}));
  EXPECT_EQ(told(own, "software.stack.flash."), 0);
}

TEST_F(ScenarioFile, KeepsTheProvenanceOfWhatItNames) {
  const Scenario s = load();
  // Behind it follow those of the software stack that it has by default.
  ASSERT_GT(s.parameters.size(), 1);
  EXPECT_EQ(s.parameters[1].path.rfind("software.stack", 0), 0);
  EXPECT_EQ(s.parameters[0].path, "platform.links.wan.rtt");
  EXPECT_EQ(s.parameters[0].value, "100 ms");
  EXPECT_EQ(s.parameters[0].provenance, Provenance::kMeasured);
  EXPECT_EQ(s.parameters[0].source, "ping");
}

TEST_F(ScenarioFile, TakesModelsByPathAndNamesHuggingFacesByTheirFolder) {
  write("hf/gpt/config.json",
        "{\"model_type\": \"gpt2\", \"n_embd\": 4, \"n_head\": 2, \"n_layer\": 1, \"n_positions\": 2, "
        "\"vocab_size\": 10}");
  write("run.yaml", "platform: pair\nmodels: [tiny, hf/gpt/config.json]\n" + kTraining);
  const Scenario s = load();
  ASSERT_EQ(s.models.size(), 2);
  EXPECT_EQ(s.models[1].name, "gpt");
  EXPECT_EQ(s.models[1].hidden, 4);
}

TEST_F(ScenarioFile, TakesAModelThatStandsInIt) {
  write("run.yaml",
        "platform: pair\nmodels: [{name: own, family: gpt2, hidden: 8, heads: 2, layers: 1, sequence: 2, "
        "vocabulary: 10}]\n" +
            kTraining);
  EXPECT_EQ(load().models[0].name, "own");
}

TEST_F(ScenarioFile, AsksWhichNameWasMeant) {
  write("run.yaml", "platform: pari\nmodels: [tiny, tinny]\n" + kTraining);
  EXPECT_THAT(errors(), ElementsAre("run.yaml:2:16: error: there is no model \"tinny\"; did you mean \"tiny\"?",
                                    "run.yaml:1:11: error: there is no platform \"pari\"; did you mean \"pair\"?"));
}

TEST_F(ScenarioFile, SaysHowAFileBesideItIsNamed) {
  write("own.yaml", "name: own\n");
  write("Tiny/config.json", "{}");
  write("run.yaml", "platform: own.yaml\nmodels: [Tiny]\n" + kTraining);
  EXPECT_THAT(
      errors(),
      ElementsAre("run.yaml:2:10: error: there is no model \"Tiny\"; did you mean the file \"./Tiny\"?",
                  "run.yaml:1:11: error: there is no platform \"own.yaml\"; did you mean the file \"./own.yaml\"?"));
}

TEST_F(ScenarioFile, PointsIntoThePlatformsFileForAnUnknownGpuOrVmType) {
  write("platforms/wrong.yaml",
        "name: wrong\nsites: {west: {}}\nvms:\n  west: {site: west, type: boks, gpus: [g, othr]}\n");
  write("run.yaml", "platform: wrong\nmodels: tiny\n" + kTraining);
  // Names are looked up beside the scenario first, then among what slmsim brings.
  EXPECT_THAT(
      errors(),
      ElementsAre(
          testing::AllOf(
              testing::StartsWith("platforms/wrong.yaml:4:28: error: there is no VM type \"boks\"; known are: box, "),
              testing::HasSubstr(", cloud-vm, dgx-1v, ")),
          "platforms/wrong.yaml:4:44: error: there is no GPU \"othr\"; did you mean \"other\"?"));
}

TEST_F(ScenarioFile, SaysThatAModelsPathLeadsNowhere) {
  write("run.yaml", "platform: pair\nmodels: ./none.yaml\n" + kTraining);
  EXPECT_THAT(errors(), ElementsAre("run.yaml:2:9: error: model \"./none.yaml\": no such file"));
}

TEST_F(ScenarioFile, RefusesTwoModelsOfOneName) {
  write("run.yaml", "platform: pair\nmodels: [tiny, tiny]\n" + kTraining);
  EXPECT_THAT(errors(),
              ElementsAre(HasSubstr("two models are named \"tiny\"; names must differ, and models.1.name sets one")));
}

TEST_F(ScenarioFile, ReportsAllItsErrorsAtOnce) {
  write("run.yaml",
        "platform: pair\nmodels: tiny\ntraining: {batch: 0, epochs: 3, blocks_per_epoch: ten, precison: fp16}\n"
        "selection: {delta: 2}\nmodel: tiny\n");
  EXPECT_THAT(errors(),
              ElementsAre("run.yaml:3:19: error: training.batch: \"0\" is out of range; expected a whole number from "
                          "1 to 1048576",
                          "run.yaml:3:51: error: training.blocks_per_epoch: \"ten\" is not a number; expected a "
                          "number from 1 to 1e+12",
                          "run.yaml:3:56: error: unknown key \"precison\" in training; did you mean \"precision\"?",
                          "run.yaml:4:20: error: selection.delta: \"2\" is out of range; expected a number from "
                          "1e-09 to 1",
                          "run.yaml:5:1: error: unknown key \"model\"; did you mean \"models\"?"));
}

TEST_F(ScenarioFile, SaysOnceAndInItsFileThatTrainingIsMissing) {
  write("run.yaml", "platform: pair\nmodels: tiny\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:1:1: error: the file has no \"training\"; it is required"));
}

TEST_F(ScenarioFile, MustNotBeMissing) {
  EXPECT_THAT(errors({}, "gone.yaml"), ElementsAre("gone.yaml: error: no such file"));
}

TEST_F(ScenarioFile, FindsItsDataInTheNearestFolderAbove) {
  EXPECT_EQ(data_roots(path_ / "deep" / "down" / "run.yaml").front(), path_);
  EXPECT_THAT(names_in(path_ / "platforms" / "gpus"), ElementsAre("g", "other"));
  EXPECT_THAT(names_in(path_ / "nowhere"), IsEmpty());
}

TEST(Training, CountsALastSmallerBatchAsAnIteration) {
  Training training;
  training.blocks_per_epoch = 10;
  training.epochs = 3;
  training.batch = 10;
  EXPECT_EQ(training.steps(), 3.0);
  training.batch = 8;
  EXPECT_EQ(training.steps(), 4.0);  // 30 / 8 = 3.75
}

TEST(Scenario, LoadsEveryBundledOne) {
  int files = 0;
  for (const auto& name : names_in(SLMSIM_SOURCE_DIR "/scenarios")) {
    const std::filesystem::path file = SLMSIM_SOURCE_DIR "/scenarios/" + name + ".yaml";
    Scenario s;
    EXPECT_THAT(errors_of([&] { s = load_scenario(file); }), IsEmpty()) << name;
    EXPECT_EQ(s.name, name);
    EXPECT_FALSE(s.models.empty()) << name;
    EXPECT_FALSE(s.groups.empty()) << name;
    EXPECT_FALSE(s.techniques.empty()) << name;
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST(Scenario, TellsTheStudysSlicesApartByTheirRoundTrips) {
  // arXiv 2602.02632, Table I.
  const auto rtt = [](const std::string& name) {
    const Platform p = load_scenario(SLMSIM_SOURCE_DIR "/scenarios/" + name + ".yaml").platform;
    return p.links[0].forward.delay.value + p.links[0].backward.delay.value;
  };
  EXPECT_DOUBLE_EQ(rtt("utah-gpn"), 0.0202);
  EXPECT_DOUBLE_EQ(rtt("utah-mass"), 0.0574);
  EXPECT_DOUBLE_EQ(rtt("bris-star"), 0.0959);
  EXPECT_DOUBLE_EQ(rtt("gat-amst"), 0.103);
}

}  // namespace
}  // namespace slmsim::scenario_test
