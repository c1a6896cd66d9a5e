#include "sim/scenario/technique.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/technique/alpa/planner/option.h"
#include "sim/technique/replicas/replicas.h"
#include "tests/named.h"
#include "tests/scenario/folder.h"

namespace slmsim::technique_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

struct Example {
  explicit Example(const std::string& text)
      : node(parse_yaml(text, "run.yaml")), options(read_techniques(node, "techniques", reading)) {}
  std::vector<const Technique*> techniques() const {
    std::vector<const Technique*> out;
    for (const auto& option : options) out.push_back(option.technique);
    return out;
  }
  // An option's value as YAML has it; empty where it is left out.
  std::string text(std::size_t i, const std::string& key) const {
    for (const OptionSpec* option : options_of(*options[i].technique)) {
      const OptionValue& value = options[i].values.value(*option);
      if (option->key == key && value != option->fallback) return option->text(value);
    }
    return "";
  }
  bool cuts() const { return planner_cuts_stages(options.front()); }

  Reading reading;
  Node node;
  std::vector<TechniqueOptions> options;
};

TEST(Technique, IsNamedAsInTheStudy) {
  EXPECT_THAT(technique_names(),
              ElementsAre("Data", "ZeRO2", "Shard", "Pipeshard", "DDP", "Megatron", "ZeRO-1", "ZeRO-2", "ZeRO-3",
                          "ZeRO-1-CPU", "ZeRO-2-CPU", "ZeRO-3-CPU", "Infinity", "Infinity-P", "FSDP", "LocalSGD",
                          "DiLoCo", "StreamingDiLoCo", "OneBitAdam"));
  EXPECT_STREQ(named("Pipeshard")->name, "Pipeshard");
}

TEST(Technique, MayBeListedByName) {
  EXPECT_THAT(Example("[Shard, Data]").techniques(), ElementsAre(named("Shard"), named("Data")));
  EXPECT_THAT(Example("Shard").techniques(), ElementsAre(named("Shard")));
}

TEST(Technique, TakesOptions) {
  const Example e(
      "Data:\n"
      "ZeRO2: {micro_batches: 2, gradient_collective: all-reduce, gathered: fp32}\n"
      "Pipeshard: {micro_batches: 8, schedule: gpipe, stages: 3, startup: 2 min}\n");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  ASSERT_EQ(e.options.size(), 3);
  EXPECT_EQ(e.options[0].startup().value, 0.0);
  EXPECT_EQ(e.options[1].micro_batches(), 2);
  EXPECT_EQ(e.text(1, "gradient_collective"), "all-reduce");
  EXPECT_EQ(e.text(1, "gathered"), "fp32");
  EXPECT_EQ(e.options[2].micro_batches(), 8);
  EXPECT_EQ(e.options[2].get(kSchedule), Schedule::kGpipe);
  EXPECT_EQ(e.options[2].get(kStages), 3);
  EXPECT_EQ(e.options[2].startup().value, 120.0);
}

TEST(Technique, TakesDegreesAndWaysToSplit) {
  const Example e(
      "Data: {batch_split: speed, hierarchical: yes}\n"
      "Shard: {tensor: 2}\n"
      "Pipeshard: {tensor: 4, split: speed}\n");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  ASSERT_EQ(e.options.size(), 3);
  EXPECT_EQ(e.options[0].get(kBatchSplit), BatchSplit::kSpeed);
  EXPECT_TRUE(e.options[0].get(kHierarchical));
  EXPECT_EQ(e.options[1].get(kTensor), 2);
  EXPECT_EQ(e.options[2].get(kTensor), 4);
  EXPECT_EQ(e.options[2].get(kSplit), StageSplit::kSpeed);
}

TEST(Technique, RunsOneForwardOneBackwardUnlessToldOtherwise) {
  const Example e("Pipeshard: {}");
  EXPECT_EQ(e.options[0].get(kSchedule), Schedule::kOneForwardOneBackward);
  EXPECT_EQ(e.options[0].get(kStages), 0);  // one per VM
  EXPECT_EQ(e.options[0].get(kTensor), 0);  // as the planner likes
}

TEST(Technique, NamesItsPlannerMeshAndMemory) {
  const Example e(
      "Shard: {planner: slmsim, mesh: [2, 4], memory_limit: 20 GiB}\n"
      "Pipeshard: {planner: slmsim}\n");
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  ASSERT_EQ(e.options.size(), 2);
  EXPECT_EQ(e.options[0].get(kPlanner), Planner::kSlmsim);
  EXPECT_THAT(e.options[0].get(kMesh), ElementsAre(2, 4));
  EXPECT_EQ(e.options[0].get(kMemoryLimit), Bytes{20 * kGibi});
  EXPECT_TRUE(planner_cuts_stages(e.options[1]));
  EXPECT_FALSE(Example("Pipeshard").cuts());  // Alpa's uniform stages
  EXPECT_EQ(Example("Shard").options[0].get(kPlanner), Planner::kAlpa);
  EXPECT_TRUE(Example("Pipeshard: {stages: auto}").cuts());
  EXPECT_EQ(Example("Pipeshard: {planner: slmsim, stages: 2}").options[0].get(kStages), 2);
}

TEST(Technique, RefusesMeshesThatAreNone) {
  EXPECT_THAT(
      errors_of(Example("Shard: {mesh: [2, 2, 2], planner: alpha}").reading),
      ElementsAre("run.yaml:1:35: error: techniques.Shard.planner: unknown value \"alpha\"; did you mean \"alpa\"?",
                  "run.yaml:1:15: error: techniques.Shard.mesh has 3 axes; one or two are possible"));
  EXPECT_THAT(
      errors_of(Example("Shard: {mesh: [2, two]}").reading),
      ElementsAre("run.yaml:1:19: error: techniques.Shard.mesh: GPUs along one or two axes are expected, such as "
                  "[2, 2]"));
}

TEST(Technique, IsAskedForByItsRightName) {
  EXPECT_THAT(
      errors_of(Example("[Data, Zero2]").reading),
      ElementsAre(
          "run.yaml:1:8: error: techniques: unknown technique \"Zero2\"; did you mean \"ZeRO2\" or \"ZeRO-2\"?"));
  EXPECT_THAT(errors_of(Example("Pipeshrad: {stages: 2}\n").reading),
              ElementsAre("run.yaml:1:1: error: techniques: unknown technique \"Pipeshrad\"; did you mean "
                          "\"Pipeshard\"?"));
}

TEST(Technique, RefusesAnOptionOfAnother) {
  EXPECT_THAT(errors_of(Example("Data: {stages: 2}").reading),
              ElementsAre("run.yaml:1:8: error: unknown key \"stages\" in techniques.Data; known are: batch_split, "
                          "hierarchical, hierarchical_pieces, micro_batches, recompute, startup, steps_factor"));
}

TEST(Technique, KnowsItsOptionsThatAreLeftOut) {
  EXPECT_THAT(errors_of(Example("ZeRO2: {gatherd: fp32}").reading),
              ElementsAre("run.yaml:1:9: error: unknown key \"gatherd\" in techniques.ZeRO2; did you mean "
                          "\"gathered\"?"));
}

TEST(Technique, IsListedOnce) {
  EXPECT_THAT(errors_of(Example("[Data, Data]").reading),
              ElementsAre("run.yaml:1:8: error: techniques: \"Data\" is listed twice; name each technique once"));
}

TEST(Technique, IsNeededOnceAtLeast) {
  for (const char* text : {"[]", "{}", "~"}) {
    EXPECT_THAT(errors_of(Example(text).reading),
                ElementsAre(StartsWith("run.yaml:1:1: error: techniques is empty; name at "
                                       "least one of Data, ZeRO2, Shard, Pipeshard, DDP")))
        << text;
  }
}

TEST(Technique, RefusesValuesOutOfRange) {
  EXPECT_THAT(errors_of(Example("Pipeshard: {micro_batches: 0, stages: 0, schedule: gpip}").reading),
              ElementsAre("run.yaml:1:28: error: techniques.Pipeshard.micro_batches: \"0\" is out of range; expected "
                          "a whole number from 1 to 4096",
                          "run.yaml:1:52: error: techniques.Pipeshard.schedule: unknown value \"gpip\"; did you mean "
                          "\"gpipe\"?",
                          "run.yaml:1:39: error: techniques.Pipeshard.stages: \"0\" is out of range; expected a whole "
                          "number from 2 to 1024"));
}

using Techniques = Folder;

TEST_F(Techniques, AreAllOfThemUnlessTheScenarioSaysWhich) {
  std::vector<const Technique*> techniques;
  for (const auto& options : load().techniques) techniques.push_back(options.technique);
  EXPECT_THAT(techniques, ElementsAre(named("Data"), named("ZeRO2"), named("Shard"), named("Pipeshard")));
}

TEST_F(Techniques, CannotCutABatchIntoMoreMicroBatchesThanSequences) {
  write("run.yaml", kRun + "techniques: {Data: {micro_batches: 8}, Shard: {micro_batches: 9}}\n");
  EXPECT_THAT(errors(), ElementsAre("run.yaml:3:19: error: a batch of 8 cannot be cut into the 9 micro-batches of "
                                    "Shard; choose at most one per sequence"));
}

}  // namespace
}  // namespace slmsim::technique_test
