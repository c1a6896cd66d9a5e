// The first facts of a result. Each is checked by predicting again what it claims.
#include "sim/search/verdict.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/fit/intervals.h"
#include "sim/predict/algorithm.h"
#include "sim/search/suggestion.h"

namespace slmsim::verdict_test {
namespace {

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

struct Case {
  RunResult result;
  VerdictOptions options;
  std::filesystem::path file;
  Overrides set;

  explicit Case(const std::string& name, const Overrides& given = {}) : file(kRoot / name), set(given) {
    result = run_scenario(load_scenario(file, set), {});
    options = verdict_options_of(ScenarioFile(file), set);
  }
  std::vector<Verdict> verdicts() const { return verdicts_of(result, options); }
  // The pick with a suggestion's command.
  Seconds job_with(const Suggestion& suggestion) const {
    Overrides all = set;
    std::string words = " " + suggestion.command;
    for (std::size_t at = words.find(" --set "); at != std::string::npos;) {
      const std::size_t begin = at + 7, next = words.find(" --set ", begin);
      std::string word = words.substr(begin, next == std::string::npos ? next : next - begin);
      std::erase(word, '\'');
      all.push_back(word);
      at = next;
    }
    const RunResult again = run_scenario(load_scenario(file, all), {});
    const Selection& pick = again.selections.front();
    EXPECT_NE(pick.technique, nullptr) << suggestion.command;
    Seconds best{0};
    for (const auto& p : again.predictions) {
      if (p.technique == pick.technique && p.group == pick.group) best = p.job;
    }
    return best;
  }
};

TEST(Verdict, IsThePickWithItsEquals) {
  const Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  const Verdict verdict = gat.verdicts().front();
  ASSERT_TRUE(verdict.best);
  const Prediction& best = gat.result.predictions[*verdict.best];
  EXPECT_EQ(best.technique, gat.result.selections[0].technique);
  ASSERT_FALSE(verdict.as_good.empty());
  for (const std::size_t row : verdict.as_good) {
    const Prediction& p = gat.result.predictions[row];
    EXPECT_EQ(p.status, Status::kOk);
    EXPECT_LE(p.job.value, best.job.value * (1 + gat.result.scenario.selection.delta));
    EXPECT_NE(p.job, best.job);  // Data on amst repeats Data on gat
  }
}

// slmsim's planner lets the far GPU repeat the near one's work.
TEST(Verdict, ListsNothingAsGoodThatTakesMoreGpuHours) {
  const Case far("docs/examples/4-two-sites/scenario.yaml",
                 {"techniques={DDP: {}, Pipeshard: {planner: slmsim}}", "groups=[all, each]", "training.batch=16",
                  "training.micro_batch=2", "software.stack=compiled", "platform.links.internet.rtt=60ms",
                  "platform.links.internet.bandwidth=100Mbps"});
  const Verdict verdict = far.verdicts().front();
  ASSERT_TRUE(verdict.best);
  const Prediction& best = far.result.predictions[*verdict.best];
  EXPECT_EQ(best.gpus, 1);
  EXPECT_TRUE(std::ranges::any_of(far.result.predictions, [&](const Prediction& p) {
    return p.gpus == 2 && p.job.value < best.job.value * (1 + far.result.scenario.selection.delta);
  }));
  for (const std::size_t row : verdict.as_good) EXPECT_EQ(far.result.predictions[row].gpus, 1);
}

// DDP takes 2 % longer there, and 7.9 of 7.9 GiB.
TEST(Verdict, ListsNothingAsGoodAtTheEdgeOfMemory) {
  const Case node("scenarios/reported/lambda.yaml",
                  {"models=[gpt2m]", "techniques={DDP: {}, Pipeshard: {planner: slmsim}}", "software.stack=compiled",
                   "training={batch: 16, micro_batch: 1, precision: bf16, epochs: 1, blocks_per_epoch: 20000}",
                   "platform.vms.node.gpus=[rtx3060ti, rtx3060ti]"});
  const Verdict verdict = node.verdicts().front();
  ASSERT_TRUE(verdict.best);
  EXPECT_NE(node.result.predictions[*verdict.best].fit, Fit::kAtEdge);
  EXPECT_TRUE(std::ranges::any_of(node.result.predictions, [](const Prediction& p) { return p.fit == Fit::kAtEdge; }));
  EXPECT_TRUE(verdict.as_good.empty());
}

// Data, ZeRO2 and a pipeline of one stage do the same on one GPU.
TEST(Verdict, ListsNoOtherTechniqueOnTheSameGpu) {
  const Case gat("scenarios/gat-amst.yaml", {"models=gpt2m", "groups=[[gat/0], [amst/0]]"});
  const Verdict verdict = gat.verdicts().front();
  ASSERT_TRUE(verdict.best);
  const Prediction& best = gat.result.predictions[*verdict.best];
  ASSERT_EQ(best.gpus, 1);
  for (const std::size_t row : verdict.as_good) EXPECT_NE(gat.result.predictions[row].group, best.group);
}

TEST(Verdict, ContainsThePredictionInItsInterval) {
  for (const char* name : {"scenarios/gat-amst.yaml", "scenarios/utah-gpn.yaml", "scenarios/a100-gpt2-124m.yaml",
                           "docs/examples/4-two-sites/scenario.yaml"}) {
    const Case one(name);
    for (const auto& verdict : one.verdicts()) {
      ASSERT_TRUE(verdict.best) << name;
      ASSERT_TRUE(verdict.job && verdict.right && verdict.fits) << name;
      const double job = one.result.predictions[*verdict.best].job.value;
      EXPECT_LE(verdict.job->low, job) << name;
      EXPECT_GE(verdict.job->high, job) << name;
      EXPECT_LT(verdict.job->low, verdict.job->high) << name;
      EXPECT_GE(*verdict.right, 0);
      EXPECT_LE(*verdict.right, 1);
    }
  }
}

TEST(Verdict, DependsOnTheInputAlone) {
  Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  const Verdict first = gat.verdicts().front();
  gat.options.threads = 3;
  const Verdict second = gat.verdicts().front();
  EXPECT_EQ(first.job->low, second.job->low);
  EXPECT_EQ(first.right, second.right);
  EXPECT_EQ(first.key_assumption->value, second.key_assumption->value);
}

TEST(Verdict, TakesTheIntervalsThatWereAskedFor) {
  Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  IntervalRequest request;
  request.intervals = true;
  request.level = 0.9;
  Intervals(request, gat.file, gat.set).add(gat.file, gat.result);
  const Verdict verdict = gat.verdicts().front();
  EXPECT_EQ(verdict.level, 0.9);
  EXPECT_EQ(verdict.right, gat.result.uncertainty->picks.front().right);
  EXPECT_LE(verdict.job->low, gat.result.predictions[*verdict.best].job.value);
}

TEST(Verdict, HasNoDrawsWithoutUnknowns) {
  const Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  const Verdict verdict = verdicts_of(gat.result).front();
  EXPECT_TRUE(verdict.best && verdict.nearest);
  EXPECT_FALSE(verdict.job || verdict.right || verdict.faster || verdict.key_assumption);
}

// With twice the work between both ends of its 80 % interval, all else being known to a tenth.
TEST(Verdict, NamesTheValueThatMovesTheJobMost) {
  const Case gat("scenarios/gat-amst.yaml", {"models=gpt2m", "groups=[[gat]]", "techniques=[Data]",
                                             "training.blocks_per_epoch={value: 570, between: [100, 10100]}"});
  const Verdict verdict = gat.verdicts().front();
  ASSERT_TRUE(verdict.key_assumption);
  EXPECT_THAT(verdict.key_assumption->value, testing::StartsWith("training: blocks_per_epoch"));
  // From 1100 to 9100 sequences per epoch; the job has a start-up beside them.
  const auto job_of = [&](const std::string& blocks) {
    Overrides set = gat.set;
    set.back() = "training.blocks_per_epoch=" + blocks;
    return run_scenario(load_scenario(gat.file, set), {}).predictions.front().job.value;
  };
  EXPECT_NEAR(verdict.key_assumption->job.low, job_of("1100"), 1e-3 * job_of("1100"));
  EXPECT_NEAR(verdict.key_assumption->job.high, job_of("9100"), 1e-3 * job_of("9100"));
}

TEST(Verdict, SuggestsWhatIsFaster) {
  const Case eager("docs/examples/2-two-gpus/scenario.yaml", {"software={stack: eager}"});
  const Verdict verdict = eager.verdicts().front();
  ASSERT_TRUE(verdict.faster);
  EXPECT_LT(verdict.faster->job, eager.result.predictions[*verdict.best].job * 0.95);
  EXPECT_NEAR(eager.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value);
}

// Four old GPUs beat an H100 on single sequences, which it waits for: with more of them at once it is the faster one.
TEST(Verdict, SuggestsFewerMicroBatchesOnOtherGpus) {
  const Case two("docs/examples/4-two-sites/scenario.yaml",
                 {"models=gpt2", "software={stack: compiled}", "techniques=DDP", "groups=each", "training.batch=64",
                  "training.micro_batch=1", "training.precision=fp16",
                  "platform.vms.desk.gpus=[rtx6000, rtx6000, rtx6000, rtx6000]", "platform.vms.rented.gpus=[h100]"});
  const Verdict verdict = two.verdicts().front();
  EXPECT_EQ(two.result.predictions[*verdict.best].group, std::vector<std::string>{"desk"});
  ASSERT_TRUE(verdict.faster);
  EXPECT_EQ(verdict.faster->choice, "DDP on rented");
  EXPECT_NEAR(two.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value);
}

// Another technique than the pick's may gain more by a change, and rounds of many steps are tried, too: the suggestion is what its
// command gives.
TEST(Verdict, SuggestsTheBestChoiceOfItsCommand) {
  const Overrides small = {"models=gpt2", "software={stack: eager}", "training.batch=16", "training.micro_batch=2"};
  for (const std::string techniques :
       {"techniques=[ZeRO-1, ZeRO-2-CPU, FSDP]", "techniques={FSDP: {}, DiLoCo: {inner_steps: 50, replica: site}}"}) {
    Overrides set = small;
    set.push_back(techniques);
    const Case two("docs/examples/4-two-sites/scenario.yaml", set);
    const Verdict verdict = two.verdicts().front();
    ASSERT_TRUE(verdict.faster) << techniques;
    EXPECT_NEAR(two.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value)
        << techniques;
  }
}

// Eager kernels on one sequence at a time: a compiled stack, and then all that one step computes at once.
TEST(Verdict, SuggestsFewerMicroBatchesTogetherWithOtherKernels) {
  const Case gpu("docs/examples/1-one-gpu/scenario.yaml",
                 {"software={stack: eager}", "techniques=[DDP]", "training.batch=16", "training.micro_batch=1",
                  "training.precision=bf16", "platform.vms.desk.gpus=[a100-80]"});
  const Verdict verdict = gpu.verdicts().front();
  ASSERT_TRUE(verdict.faster);
  EXPECT_THAT(verdict.faster->command, testing::AllOf(testing::HasSubstr("--set software.stack=compiled"),
                                                      testing::HasSubstr("--set techniques.DDP.micro_batches=")));
  EXPECT_NEAR(gpu.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value);
  EXPECT_LT(verdict.faster->job.value, 0.95 * gpu.job_with({"--set software.stack=compiled", "", {}}).value);
  // One more halving is worth less than 5 %, or does not fit.
  const std::string& command = verdict.faster->command;
  const std::size_t at = command.rfind('=') + 1;
  const int count = std::stoi(command.substr(at));
  if (count > 1) {
    const Suggestion next{command.substr(0, at) + std::to_string(count / 2), "", {}};
    EXPECT_GT(gpu.job_with(next).value, 0.95 * verdict.faster->job.value);
  }
}

TEST(Verdict, ComparesSuggestionsToAFitAtTheSameValues) {
  // A fit whose median over all points is twice what its centre predicts.
  Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  const Suggestion stated = *gat.verdicts().front().faster;
  for (auto& p : gat.result.predictions) {
    scale_times(p, 2);
    p.job = p.job * 2.0;
  }
  gat.result.uncertainty.emplace().fitted_to = "runs.csv";
  gat.result.uncertainty->cells.resize(gat.result.predictions.size());
  const Suggestion fitted = *gat.verdicts().front().faster;
  EXPECT_EQ(fitted.command, stated.command);
  EXPECT_NEAR(fitted.job / stated.job, 2, 1e-9);
}

TEST(Verdict, SuggestsMixedPrecisionInPlaceOfFp32) {
  const Case fp32("docs/examples/2-two-gpus/scenario.yaml", {"training.precision=fp32"});
  const Verdict verdict = fp32.verdicts().front();
  ASSERT_TRUE(verdict.faster);
  EXPECT_THAT(verdict.faster->command, testing::AllOf(testing::HasSubstr("--set training.precision=bf16"),
                                                      testing::HasSubstr("--set training.gradient_precision=fp32"),
                                                      testing::HasSubstr("autocast")));
  EXPECT_NEAR(fp32.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value);
  // V100 have fp16 alone; in fp16 there is nothing to suggest.
  Overrides v100 = fp32.set;
  v100.emplace_back("platform.vms.desk.gpus=[v100, v100]");
  const auto faster = Case("docs/examples/2-two-gpus/scenario.yaml", v100).verdicts().front().faster;
  ASSERT_TRUE(faster);
  EXPECT_THAT(faster->command, testing::HasSubstr("--set training.precision=fp16"));
}

// FSDP needs both GPUs and waits for the network; with the optimizer on the host one GPU holds the model.
TEST(Verdict, SuggestsFewerGpusThatAnotherTechniqueFits) {
  const Case far("docs/examples/4-two-sites/scenario.yaml",
                 {"models=gpt2-xl", "techniques=[FSDP]", "groups=[all, each]", "training.micro_batch=1",
                  "training.rematerialisation=yes", "platform.vms.desk.type=campus-server",
                  "platform.vms.rented.type=campus-server"});
  const Verdict verdict = far.verdicts().front();
  ASSERT_TRUE(verdict.best && verdict.faster);
  EXPECT_EQ(far.result.predictions[*verdict.best].gpus, 2);
  EXPECT_THAT(verdict.faster->choice, testing::AnyOf(testing::EndsWith(" on desk"), testing::EndsWith(" on rented")));
  EXPECT_NEAR(far.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value);
}

// With 4 micro-batches in place of 8 it is faster, at the edge of memory for sequences of 4096 tokens, but not of 3072.
TEST(Verdict, SuggestsNothingAtTheEdgeOfMemory) {
  const auto faster = [](const std::string& tokens) {
    return Case("docs/examples/2-two-gpus/scenario.yaml",
                {"models=llama-3.2-1b", "models.0.sequence=" + tokens, "groups=all", "training.batch=32",
                 "software={stack: compiled}", "platform.vms.desk.gpus=[rtx3090, rtx3090, rtx3090, rtx3090]",
                 "techniques={FSDP: {micro_batches: 8}}"})
        .verdicts()
        .front()
        .faster;
  };
  ASSERT_TRUE(faster("3072"));
  EXPECT_EQ(faster("3072")->command, "--set techniques.FSDP.micro_batches=4");
  EXPECT_FALSE(faster("4096"));
}

// 1.2 billion parameters in fp32 do not fit in 8 GiB, in 16 bits with the optimizer on the host they do.
TEST(Verdict, SuggestsSixteenBitsWhereFp32DoesNotFit) {
  const Case gpu("docs/examples/1-one-gpu/scenario.yaml",
                 {"training.precision=fp32", "platform.vms.desk.type=workstation", "platform.vms.desk.gpus=[rtx4060ti]",
                  "models=llama-3.2-1b", "models.0.sequence=2048"});
  const Verdict verdict = gpu.verdicts().front();
  ASSERT_TRUE(verdict.would_fit);
  EXPECT_THAT(verdict.would_fit->command, testing::HasSubstr("--set training.precision=bf16"));
  EXPECT_NEAR(gpu.job_with(*verdict.would_fit).value, verdict.would_fit->job.value,
              1e-6 * verdict.would_fit->job.value);
}

TEST(Verdict, SuggestsWhatWouldFit) {
  const Case gat("docs/examples/1-one-gpu/scenario.yaml", {"techniques=[DDP]"});
  const Verdict verdict = gat.verdicts().front();
  ASSERT_FALSE(verdict.best);
  ASSERT_TRUE(verdict.would_fit);
  EXPECT_NEAR(gat.job_with(*verdict.would_fit).value, verdict.would_fit->job.value,
              1e-6 * verdict.would_fit->job.value);
}

// Two regions of 4 GPUs, with layers that leave no room as it is. What would fit is no slower than the changes that `run` names
// for a technique that does not fit.
TEST(Verdict, SuggestsTheFastestWayToFit) {
  const Overrides regions = {"groups=[all, each]",
                             "models=qwen2.5-0.5b",
                             "models.0.sequence=4096",
                             "training.batch=64",
                             "training.micro_batch=2",
                             "training.precision=bf16",
                             "software={stack: compiled}",
                             "platform.vms.desk.gpus=[l4, l4, l4, l4]",
                             "platform.vms.rented.gpus=[l4, l4, l4, l4]"};
  int timed = 0;
  const std::map<std::string, std::string> techniques = {{"46", "[DDP]"},
                                                         {"300", "{DDP: {}, FSDP: {}, Pipeshard: {planner: slmsim}}"}};
  for (const auto& [layers, those] : techniques) {
    Overrides set = regions;
    set.insert(set.end(), {"models.0.layers=" + layers, "techniques=" + those});
    const Case far("docs/examples/4-two-sites/scenario.yaml", set);
    const Verdict verdict = far.verdicts().front();
    ASSERT_FALSE(verdict.best) << layers;
    ASSERT_TRUE(verdict.would_fit) << layers;
    for (const auto* change : {"training.micro_batch=1", "training.rematerialisation=yes"}) {
      Overrides changed = set;
      changed.emplace_back(change);
      for (const auto& p : run_scenario(load_scenario(far.file, changed), {}).predictions) {
        if (p.status != Status::kOk || p.fit == Fit::kAtEdge) continue;
        ++timed;
        EXPECT_LE(verdict.would_fit->job.value, p.job.value * (1 + 1e-9)) << layers << " layers, " << change;
      }
    }
    EXPECT_LE(far.job_with(*verdict.would_fit).value, verdict.would_fit->job.value * (1 + 1e-9));
  }
  EXPECT_GT(timed, 2);
}

// Shard over both sites runs, and takes weeks; with activations computed anew one site holds the model.
TEST(Verdict, SuggestsAChangeThatLetsFewerGpusHoldTheModel) {
  const Case gat("scenarios/gat-amst.yaml", {"models=gpt2m", "models.0.layers=200"});
  const Verdict verdict = gat.verdicts().front();
  ASSERT_TRUE(verdict.best && verdict.faster);
  EXPECT_THAT(verdict.faster->command, testing::HasSubstr("training.rematerialisation=yes"));
  EXPECT_LT(verdict.faster->job.value * 10, gat.result.predictions[*verdict.best].job.value);
  EXPECT_NEAR(gat.job_with(*verdict.faster).value, verdict.faster->job.value, 1e-6 * verdict.faster->job.value);
}

TEST(Verdict, SaysThatWhatWouldFitMayBeOnOtherGpus) {
  const std::filesystem::path file = kRoot / "scenarios/gat-amst.yaml";
  const Overrides set = {"models=gpt2m", "techniques=[Data]", "platform.vms.gat.gpus=[rtx3070, rtx3070]",
                         "software.framework_memory=4GiB"};
  const Filter filter{.groups = {"gat"}};
  Scenario scenario = load_scenario(file, set);
  ASSERT_TRUE(narrow(scenario, filter).empty());
  const RunResult result = run_scenario(scenario, {});
  const auto fits = verdicts_of(result, verdict_options_of(ScenarioFile(file), set, filter)).front().would_fit;
  ASSERT_TRUE(fits);
  EXPECT_THAT(fits->choice, testing::HasSubstr(" (leave --group out)"));
}

TEST(Verdict, SuggestsNothingWhereNothingCanFit) {
  Overrides none = {"models=gpt2m", "groups=[[gat]]", "memory.framework_memory=21 GiB"};
  none.back() = "software.framework_memory=23 GiB";
  const Case gat("scenarios/gat-amst.yaml", none);
  const Verdict verdict = gat.verdicts().front();
  EXPECT_FALSE(verdict.best || verdict.would_fit);
}

TEST(Suggestion, PredictsNoCellOfMoreTasksThanTheLimit) {
  const Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  const std::vector<Candidate> cells = {cell_of(gat.result.predictions.front())};
  EXPECT_EQ(predict_cells(gat.result.scenario, cells, {.most_tasks = 10}).front().status, Status::kUnsupported);
  const Prediction whole = predict_cells(gat.result.scenario, cells).front();
  EXPECT_EQ(whole.status, Status::kOk);
  EXPECT_EQ(whole.job, gat.result.predictions.front().job);
}

TEST(Verdict, StopsWhenAsked) {
  Case gat("scenarios/gat-amst.yaml", {"models=gpt2m"});
  gat.options.stop = [] { return true; };
  const Verdict verdict = gat.verdicts().front();
  EXPECT_TRUE(verdict.best);
  EXPECT_FALSE(verdict.right || verdict.faster || verdict.key_assumption);
}

}  // namespace
}  // namespace slmsim::verdict_test
