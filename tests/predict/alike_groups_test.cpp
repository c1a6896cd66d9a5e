// Groups that are the same up to names: what one takes from another is what it would come to by itself.
#include <gmock/gmock.h>

#include "sim/predict/alike.h"
#include "sim/predict/predict.h"
#include "sim/technique/common/technique.h"

namespace slmsim::alike_groups_test {
namespace {

using testing::ElementsAre;

Scenario load(const std::string& groups, Overrides more = {}) {
  more.push_back("groups=" + groups);
  more.push_back("models=gpt2m");
  return load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml", more);
}

std::vector<std::size_t> firsts(const Scenario& scenario) { return first_alike(scenario.platform, scenario.groups); }

TEST(AlikeGroups, AreTheSameGpusOfEqualVms) {
  EXPECT_THAT(firsts(load("[all, gat, amst]")), ElementsAre(0, 1, 1));
  EXPECT_THAT(firsts(load("[gat/0, gat/1, amst/0, amst/1]")), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(firsts(load("[gat, amst/0]")), ElementsAre(0, 1));
}

TEST(AlikeGroups, AreNotOfVmsThatDifferInAnything) {
  for (const char* change : {"platform.vms.amst.gpus.1.memory_bandwidth=900GB/s",
                             "platform.vms.amst.type.pcie_share=0.5", "platform.vms.amst.gpus=[a30]"}) {
    SCOPED_TRACE(change);
    EXPECT_THAT(firsts(load("[gat, amst]", {change})), ElementsAre(0, 1));
  }
}

TEST(AlikeGroups, TakeWhatTheyWouldComeToAlone) {
  for (const std::size_t threads : {1U, 3U}) {
    const auto together = predict(load("[gat, amst, amst/0]"), {.threads = threads});
    const auto alone = predict(load("[amst]"));
    ASSERT_EQ(together.size(), 3 * alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const Prediction &a = alone[i], &b = together[alone.size() + i];
      SCOPED_TRACE(a.technique->name);
      EXPECT_EQ(b.group, a.group);
      EXPECT_EQ(b.technique, a.technique);
      EXPECT_EQ(b.job, a.job);
      EXPECT_EQ(b.iteration, a.iteration);
      EXPECT_EQ(b.first_iteration, a.first_iteration);
      EXPECT_EQ(b.trial, a.trial);
      EXPECT_EQ(b.tokens_per_second, a.tokens_per_second);
      EXPECT_EQ(b.breakdown.compute, a.breakdown.compute);
      EXPECT_EQ(b.breakdown.exposed_communication, a.breakdown.exposed_communication);
      EXPECT_EQ(b.breakdown.pipeline_bubble, a.breakdown.pipeline_bubble);
      EXPECT_EQ(b.connections, a.connections);
      EXPECT_EQ(b.plan, a.plan);
      EXPECT_EQ(b.assumed, a.assumed);
      ASSERT_EQ(b.memory.size(), a.memory.size());
      for (std::size_t gpu = 0; gpu < a.memory.size(); ++gpu) {
        EXPECT_EQ(b.memory[gpu].device, a.memory[gpu].device);
        EXPECT_EQ(b.memory[gpu].total(), a.memory[gpu].total());
      }
    }
  }
}

// By hand: a plan of the same stages on the other VM's devices, and one that differs in its micro-batches.
TEST(AlikeGroups, AnIterationIsOfItsPlanAlone) {
  const Scenario scenario = load("[gat, amst]");
  Plan plan;
  plan.stages = {{.mesh = {0, 1}}};
  Iteration iteration;
  iteration.times.times = {Seconds{2}};
  SharedIteration shared;
  EXPECT_EQ(shared.of(scenario.platform, plan), nullptr);
  shared.keep(scenario.platform, plan, iteration);
  plan.stages[0].mesh = {2, 3};
  ASSERT_NE(shared.of(scenario.platform, plan), nullptr);
  EXPECT_EQ(shared.of(scenario.platform, plan)->times.first(), Seconds{2});
  plan.stages[0].mesh = {3, 2};
  EXPECT_EQ(shared.of(scenario.platform, plan), nullptr);
  plan.stages[0].mesh = {2, 3};
  plan.micro_batches = 2;
  EXPECT_EQ(shared.of(scenario.platform, plan), nullptr);
}

}  // namespace
}  // namespace slmsim::alike_groups_test
