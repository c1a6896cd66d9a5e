// --set KEY=VALUE
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/scenario/folder.h"

namespace slmsim::override_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Override = Folder;

TEST_F(Override, ReplacesAValue) { EXPECT_EQ(load({"training.batch=16"}).training.batch, 16); }

TEST_F(Override, GivesTheLastOneTheSay) {
  EXPECT_EQ(load({"training.batch=16", "training.batch=24"}).training.batch, 24);
}

TEST_F(Override, ReachesIntoFilesThatTheScenarioNames) {
  EXPECT_EQ(load({"platform.links.wan.bandwidth=80 Gbps"}).platform.links[0].forward.bandwidth.value, 10e9);
  EXPECT_EQ(load({"models.0.layers=5"}).models[0].layers, 5);
}

TEST_F(Override, TakesTheStatedProvenanceAway) {
  const Scenario s = load({"platform.links.wan.rtt=50 ms"});
  EXPECT_DOUBLE_EQ(s.platform.links[0].forward.delay.value, 0.025);  // half of 50 ms
  for (const Parameter& parameter : s.parameters) EXPECT_NE(parameter.path, "platform.links.wan.rtt");
}

TEST_F(Override, FindsKeysThatHoldDots) {
  const Scenario s = load({"platform.vms.west.type.tcp.net.ipv4.tcp_rmem=16 MB"});
  EXPECT_EQ(s.platform.vms[0].type.tcp.receive_buffer.value, 16e6);
  EXPECT_EQ(s.platform.vms[1].type.tcp.receive_buffer.value, 8e6);  // the other VM has its own copy
}

TEST_F(Override, CountsItemsOfAListFromZero) {
  const Scenario s = load({"platform.vms.west.gpus.1=other"});
  EXPECT_EQ(s.platform.devices[0].gpu.name, "g");
  EXPECT_EQ(s.platform.devices[1].gpu.name, "other");
}

TEST_F(Override, NamesAnotherPlatformOrModel) {
  EXPECT_EQ(load({"platform=alone"}).platform.name, "alone");
  EXPECT_EQ(load({"models=[small, tiny]"}).models[0].name, "small");
  EXPECT_EQ(load({"models=small"}).models[0].name, "small");
}

TEST_F(Override, TakesAHuggingFaceFolderAndItsKeys) {
  write(
      "hf/small-llama/config.json",
      R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100,
            "max_position_embeddings": 2048, "intermediate_size": 128, "architectures": ["LlamaForCausalLM"]})");
  write("run.yaml", "platform: pair\nmodels: [tiny, ./hf/small-llama]\n" + kTraining);
  EXPECT_EQ(load().models[1].name, "small-llama");
  EXPECT_EQ(load({"models.1.layers=3", "models.1.sequence=512"}).models[1].sequence, 512);
  EXPECT_EQ(load({"models.1.num_hidden_layers=3"}).models[1].layers, 3);
  EXPECT_THAT(errors({"models.1.banana=4"}), ElementsAre(HasSubstr("unknown key \"banana\" in models.1")));
  // Selects models of the file by name, as `slmsim plan` prints them.
  EXPECT_EQ(load({"models=small-llama"}).models[0].hidden, 64);
  EXPECT_EQ(load({"models=[small-llama, small]"}).models[1].name, "small");
  EXPECT_EQ(load({"models=small-llama", "models.0.layers=5"}).models[0].layers, 5);
}

TEST_F(Override, FindsAModelByTheNameThatItsFileStates) {
  write("models/tiny-two.yaml",
        "name: Tiny\nfamily: gpt2\nhidden: 8\nheads: 2\nlayers: 1\nsequence: 2\nvocabulary: 10\n");
  EXPECT_EQ(load({"models=Tiny"}).models[0].hidden, 8);  // no file has this name, and tiny.yaml has not
  EXPECT_EQ(load({"models=tiny-two"}).models[0].name, "Tiny");
  EXPECT_EQ(load({"models=tiny"}).models[0].hidden, 4);
}

TEST_F(Override, TellsTwoConfigsOfOneFolderApart) {
  for (const char* name : {"a", "b"})
    write(std::string("hf/") + name + ".json",
          R"({"model_type": "gpt2", "n_embd": 4, "n_head": 2, "n_layer": 1, "n_positions": 8, "vocab_size": 10})");
  const Scenario scenario =
      load({"models=[" + (path_ / "hf/a.json").string() + ", " + (path_ / "hf/b.json").string() + "]"});
  EXPECT_EQ(scenario.models[0].name, "a");
  EXPECT_EQ(scenario.models[1].name, "b");
}

TEST_F(Override, SetsAnOptionOfATechniqueInAListToo) {
  write("run.yaml", kRun + "techniques: [Data, Pipeshard]\n");
  const Scenario listed = load({"techniques.Pipeshard.micro_batches=4"});
  ASSERT_EQ(listed.techniques.size(), 2u);
  EXPECT_EQ(listed.techniques[0].micro_batches(), 0);
  EXPECT_EQ(listed.techniques[1].micro_batches(), 4);
  EXPECT_THAT(errors({"techniques.Pipshard.micro_batches=4"}), ElementsAre(HasSubstr("did you mean \"Pipeshard\"?")));
  write("run.yaml", kRun);  // the usual techniques
  const Scenario usual = load({"techniques.Pipeshard.micro_batches=4"});
  EXPECT_EQ(usual.techniques.size(), load().techniques.size());
}

TEST_F(Override, TakesAWholeMap) {
  EXPECT_EQ(load({"training={batch: 2, epochs: 1, blocks_per_epoch: 4}"}).training.batch, 2);
}

TEST_F(Override, AddsAKeyThatTheFileLeavesOut) {
  EXPECT_TRUE(load({"training.rematerialisation=yes"}).training.rematerialisation);
  EXPECT_EQ(load({"nccl={NCCL_MIN_NCHANNELS: 4}"}).nccl.min_channels, 4);
}

TEST_F(Override, TakesAModelsPathFromTheCurrentFolder) {
  write("own.yaml", "name: own\nfamily: gpt2\nhidden: 4\nheads: 2\nlayers: 1\nsequence: 2\nvocabulary: 10\n");
  EXPECT_EQ(load({"models=" + (path_ / "own.yaml").string()}).models[0].name, "own");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path_);  // as a shell's user means it
  EXPECT_EQ(load({"models=./own.yaml"}).models[0].name, "own");
  std::filesystem::current_path(before);
}

TEST_F(Override, RefusesAKeyThatNobodyKnows) {
  EXPECT_THAT(errors({"training.bach=16"}),
              ElementsAre("--set:1:1: error: unknown key \"bach\" in training; did you mean \"batch\"?"));
}

TEST_F(Override, RefusesAPathThatLeadsNowhere) {
  EXPECT_THAT(errors({"trainin.batch=16"}), ElementsAre("--set:1:1: error: there is no \"trainin.batch\" to "
                                                        "override; did you mean \"training\"?"));
  EXPECT_THAT(errors({"platform.vms.wst.site=east"}), ElementsAre("--set:1:1: error: there is no \"wst.site\" to "
                                                                  "override; did you mean \"west\"?"));
}

TEST_F(Override, NamesTheLinksWhereOneIsMissing) {
  EXPECT_THAT(errors({"platform.links.internet.rtt=20ms"}),
              ElementsAre(HasSubstr("there is no link \"internet\" to override; known are: wan")));
  EXPECT_THAT(errors({"platform.vms.desk.nic=1Gbps"}), ElementsAre(HasSubstr("there is no VM \"desk\" to override")));
}

TEST_F(Override, RefusesAnItemThatTheListDoesNotHave) {
  for (const char* index : {"2", "-1", "first"}) {
    EXPECT_THAT(errors({std::string("platform.vms.west.gpus.") + index + "=g"}),
                ElementsAre(HasSubstr(std::string("there is no \"") + index + "\" to override")))
        << index;
  }
}

TEST_F(Override, RefusesAPathThroughASingleValue) {
  EXPECT_THAT(errors({"training.batch.size=16"}),
              ElementsAre("--set:1:1: error: \"training.batch.size\" leads into a single value; it has no keys "
                          "below it"));
}

TEST_F(Override, RefusesAPathThatIsDeeperThanAnyValue) {
  std::string path;
  for (int i = 0; i < 30'000; ++i) path += "a.";
  EXPECT_THAT(errors({path + "a=1"}), ElementsAre(HasSubstr("a path of more than 96 dots")));
}

TEST_F(Override, RefusesWhatIsNoKeyAndValue) {
  for (const char* text : {"training.batch", "=16", ""}) {
    EXPECT_THAT(errors({text}), ElementsAre(HasSubstr("an override has the form KEY=VALUE"))) << text;
  }
  EXPECT_THAT(errors({"training.batch="}), ElementsAre(HasSubstr("an override without a value")));
}

TEST_F(Override, SaysWhichOverrideHasABadValue) {
  EXPECT_THAT(errors({"training.batch=lots"}),
              ElementsAre("--set training.batch=lots:1:1: error: training.batch: \"lots\" is not a whole number; "
                          "expected a whole number from 1 to 1048576"));
  EXPECT_THAT(errors({"training.batch=[1"}), ElementsAre(StartsWith("--set training.batch=[1:1:")));
}

TEST_F(Override, AsksWhichNameItMeant) {
  EXPECT_THAT(errors({"platform=pari"}), ElementsAre("--set platform=pari:1:1: error: there is no platform \"pari\"; "
                                                     "did you mean \"pair\"?"));
  EXPECT_THAT(errors({"platform.vms.west.gpus.0=othr"}), ElementsAre(HasSubstr("did you mean \"other\"?")));
}

}  // namespace
}  // namespace slmsim::override_test
