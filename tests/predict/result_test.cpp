#include "sim/predict/result.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "sim/base/work.h"
#include "sim/fit/intervals.h"
#include "sim/report/report.h"
#include "sim/scenario/scenario.h"
#include "sim/search/plan_job.h"
#include "tests/own_file.h"

namespace slmsim::run_test {
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

// On 4 GPUs: 2 micro-batches of 6 sequences give a GPU 2 at a time, 4 in all and not 3; 3 of 4 sequences give it 1.
TEST(Run, RemarksOnMicroBatchesThatDoNotDivide) {
  const auto remarks = [](const std::string& count) {
    const Overrides set = {"models=gpt2m", "groups=all", "training.batch=12",
                           "techniques={DDP: {micro_batches: " + count + "}}"};
    return run_scenario(load_scenario(kFile, set), {}).predictions.front().remarks;
  };
  EXPECT_THAT(remarks("2"),
              testing::Contains("micro-batches do not divide evenly: DDP on gat+amst takes the time of 16 "
                                "sequences, not 12 (4 x 4 GPUs)"));
  EXPECT_THAT(remarks("3"), testing::Not(testing::Contains(HasSubstr("evenly"))));
}

// No number of micro-batches divides 13 sequences but 1 and 13, and 13 leave GPUs without one: 4 GPUs compute 4, 3, 3 and 3 at
// once. 12 are three micro-batches of one sequence each.
TEST(Run, RemarksOnAMicroBatchThatIsExceeded) {
  const auto remarks = [](const std::string& batch, const std::string& techniques = "[FSDP]") {
    const Overrides set = {"models=gpt2m", "groups=all", "training.batch=" + batch, "training.micro_batch=1",
                           "techniques=" + techniques};
    return run_scenario(load_scenario(kFile, set), {}).predictions.front().remarks;
  };
  EXPECT_THAT(remarks("13"),
              testing::Contains("micro_batch 1 does not divide a batch of 13 over 4 GPUs, batches of 12 and "
                                "16 do: FSDP on gat+amst computes up to 4 at once"));
  EXPECT_THAT(remarks("12"), testing::Not(testing::Contains(HasSubstr("micro_batch"))));
  // A technique that states its own number of micro-batches does not follow it.
  EXPECT_THAT(remarks("12", "{FSDP: {micro_batches: 1}}"), testing::Not(testing::Contains(HasSubstr("micro_batch"))));
}

TEST(Run, TracesThePick) {
  const RunResult result = run_scenario(gpt2m(), {});
  const Prediction* traced = to_be_traced(result);
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->technique, result.selections.front().technique);
  EXPECT_EQ(traced->group, result.selections.front().group);
  EXPECT_THAT(trace_of(result, *traced), HasSubstr("gpt2m: Data on gat"));
}

// A fit of what one group needs leaves the path of another unknown.
class FittedIntervals : public testing::Test {
 protected:
  FittedIntervals() {
    const LinkedScenario given = link_scenario(kFile, {"groups=[gat]"});
    FitReport report{given.scenario.name, identity_of(given.file), "runs.csv", 1, {}, {}};
    report.posterior = prior_of(unknowns_of(given.scenario, given.linked), 16, 1);
    report.residuals = {{{{"gpt2m", "Data", {"gat"}}, Measure::kIteration, 5}, 5, 4, 6}};
    request_.fitted = own_file(".yaml");
    std::ofstream(request_.fitted) << to_yaml(report);
  }
  IntervalRequest request_;
};

TEST_F(FittedIntervals, DrawWhatTheFitDoesNotHold) {
  const std::string path = "platform.vms.gat.type.tcp.copy_rate";
  const Draws own = Intervals(request_, kFile, {"groups=[gat]"}).draws_for(kFile, 16);
  for (const auto& text : own.unknowns) EXPECT_THAT(text, testing::Not(HasSubstr("not fitted")));
  const Draws more = Intervals(request_, kFile, {}).draws_for(kFile, 16);
  EXPECT_THAT(more.unknowns, testing::Contains(path + ": 600 MB/s, within a factor of 1.7 (not fitted)"));
  std::set<std::string> drawn;
  for (const auto& point : more.points) {
    for (const auto& override : point.overrides) {
      if (override.starts_with(path + "=")) drawn.insert(override);
    }
  }
  EXPECT_EQ(drawn.size(), 16u);
}

TEST_F(FittedIntervals, DoNotTellWhatIsSetOverTheFit) {
  const Draws draws = Intervals(request_, kFile, {"groups=[gat]", "training.batch=8"}).draws_for(kFile, 16);
  EXPECT_THAT(draws.unknowns, testing::Not(testing::Contains(HasSubstr("training.batch"))));
}

TEST_F(FittedIntervals, OfAnotherScenarioSayThatItIsAnother) {
  const std::string other = SLMSIM_SOURCE_DIR "/scenarios/xe8545-1.yaml";
  try {
    Intervals(request_, other, {});
    FAIL() << "it has no link called wan";
  } catch (const InputError& refused) {
    EXPECT_THAT(refused.errors().front().text, HasSubstr("its values are invalid for " + other));
    EXPECT_EQ(refused.errors().front().place.source->name, request_.fitted);
  }
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

}  // namespace
}  // namespace slmsim::run_test
