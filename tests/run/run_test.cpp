#include "sim/run/run.h"

#include <filesystem>
#include <limits>

#include <gmock/gmock.h>

#include "sim/base/stopped.h"
#include "sim/run/choice.h"
#include "sim/run/iteration_trace.h"
#include "sim/run/time_limit.h"

namespace slmsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFile = SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml";

// One model, groups gat+amst, gat and amst, four techniques.
Scenario gpt2m() { return load_scenario(kFile, {"models=gpt2m"}); }

TEST(Run, SaysTheSameOnAnyNumberOfThreads) {
  const auto text_by = [](std::size_t threads) {
    PredictOptions options = json_options(gpt2m());
    options.threads = threads;
    return to_json({run_scenario(load_scenario(kFile), options)});
  };
  const std::string alone = text_by(1);
  EXPECT_EQ(text_by(2), alone);
  EXPECT_EQ(text_by(5), alone);
}

TEST(Run, EndsBetweenTwoPredictionsWhenItIsStopped) {
  int asked = 0;
  PredictOptions options;
  options.stop = [&asked] { return ++asked == 4; };
  EXPECT_THROW(run_scenario(gpt2m(), options), Stopped);
  EXPECT_EQ(asked, 4);  // before the fourth of twelve
}

TEST(Run, AsksBeforeEachPredictionWhetherToStop) {
  std::size_t asked = 0;
  PredictOptions options;
  options.stop = [&asked] { return ++asked == 0; };
  EXPECT_EQ(run_scenario(gpt2m(), options).predictions.size(), 3u * 4u);
  EXPECT_EQ(asked, 12u);
}

TEST(Run, TracesThePick) {
  const RunResult result = run_scenario(gpt2m(), {});
  const Prediction* traced = to_be_traced(result);
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->technique, result.selections.front().technique);
  EXPECT_EQ(traced->group, result.selections.front().group);
  EXPECT_THAT(trace_of(result, *traced), HasSubstr("gpt2m: Data on gat"));
}

TEST(Choice, LeavesWhatIsAskedForAndNamesWhatIsNotThere) {
  Scenario scenario = gpt2m();
  EXPECT_EQ(narrow(scenario, {{}, {"amst+gat"}, {"Shard", "Data"}}), "");
  EXPECT_THAT(scenario.groups.front().names, ElementsAre("gat", "amst"));
  EXPECT_EQ(scenario.groups.size(), 1u);
  EXPECT_EQ(scenario.techniques.size(), 2u);
  EXPECT_THAT(narrow(scenario, {{"gpt3"}, {}, {}}), HasSubstr("gat-amst has no model \"gpt3\"; it has gpt2m"));
}

TEST(Choice, FindsShippedScenariosByTheirNames) {
  EXPECT_EQ(scenario_file("./gat-amst"), "./gat-amst");  // a path
  EXPECT_EQ(scenario_file("no-such-scenario"), "no-such-scenario");
  EXPECT_TRUE(std::filesystem::equivalent(scenario_file("gat-amst"), kFile));
}

TEST(Choice, RefusesTwoValuesOfAKey) {
  EXPECT_NO_THROW(refuse_twice_overridden({"training.batch=8", "models=gpt2m"}));
  EXPECT_THROW(refuse_twice_overridden({"training.batch=8", "training.batch=8"}), InputError);
}

TEST(TimeLimit, IsOverAtOnceOrNever) {
  PlanJob none, all;
  limit_time(none, 0);
  limit_time(all, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(none.over());
  EXPECT_TRUE(none.deadline(0, 3));
  EXPECT_FALSE(all.over());
  EXPECT_FALSE(all.deadline(2, 3));
}

}  // namespace
}  // namespace slmsim
