// Tables of runs and training logs.
#include "sim/fit/pilot.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/errors_of.h"
#include "tests/fit/written.h"

namespace slmsim::pilot_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Scenario& scenario() {
  static const Scenario kScenario = load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml");
  return kScenario;
}

TEST(Pilots, AreReadWithTheirUnits) {
  const auto pilots = read_pilots(written("runs.csv",
                                          "model,technique,group,what,value,noise\n"
                                          "gpt2m,Data,gat+amst,iteration,1500 ms,0.05\n"
                                          "gpt2m,Shard,gat,job,2 h,\n"
                                          "gpt2L,Data,gat,fits,no,\n"
                                          "gpt2m,Data,gat,tflops_per_gpu,3.5,\n"
                                          "gpt2m,Data,gat,peak_memory,8 GiB,\n"),
                                  scenario());
  ASSERT_EQ(pilots.size(), 5);
  EXPECT_EQ(pilots[0].value, 1.5);
  EXPECT_EQ(pilots[0].noise, 0.05);
  EXPECT_THAT(pilots[0].cell.group, ElementsAre("gat", "amst"));
  EXPECT_EQ(pilots[1].value, 7200);
  EXPECT_EQ(pilots[1].noise, kUsualNoise);
  EXPECT_EQ(pilots[2].value, 0);
  EXPECT_EQ(pilots[3].value, 3.5e12);
  EXPECT_EQ(pilots[4].value, 8 * kGibi);
}

TEST(Pilots, ErrorsNameLineAndNearest) {
  const auto file = written("bad.csv",
                            "model,technique,group,what,value\n"
                            "gpt2n,Data,gat,job,2 h\n"
                            "gpt2m,Data,gat,jobs,2 h\n"
                            "gpt2m,Data,gat,job,2\n"
                            "gpt2m,Data,gat,fits,perhaps\n");
  const auto errors = errors_of([&] { read_pilots(file, scenario()); });
  ASSERT_EQ(errors.size(), 4);
  EXPECT_THAT(errors[0], HasSubstr("bad.csv:2:1: error: model: the scenario has no \"gpt2n\""));
  EXPECT_THAT(errors[1], HasSubstr(":3:1: error: what: unknown \"jobs\""));
  EXPECT_THAT(errors[2], HasSubstr(":4:1: error: value: "));
  EXPECT_THAT(errors[3], HasSubstr(":5:1: error: value: \"perhaps\"; fits is yes or no"));
}

TEST(Pilots, ErrorsCountTheLinesOfTheFile) {
  const auto errors = errors_of([&] {
    read_pilots(written("blank.csv", "model,technique,group,what,value\n\n\ngpt2m,Data,gat,jobs,2 h\n"), scenario());
  });
  ASSERT_EQ(errors.size(), 1);
  EXPECT_THAT(errors[0], HasSubstr(":4:1: error: what: unknown \"jobs\""));
}

TEST(Pilots, AFileThatIsNoneIsToldWithItsRowAndTheOtherErrors) {
  const auto errors = errors_of([&] {
    read_pilots(written("logs.csv",
                        "model,technique,group,what,value\n"
                        "gpt2m,Data,gat,log,absent.log\n"
                        "gpt2m,Data,gat,log,.\n"
                        ",,gat+amst,netprobe,absent.yaml\n"
                        "gpt2m,Data,gat,jobs,2 h\n"),
                scenario());
  });
  ASSERT_EQ(errors.size(), 4);
  EXPECT_THAT(errors[0],
              testing::AllOf(HasSubstr("logs.csv:2:1: error: value: "), HasSubstr("absent.log: no such file")));
  EXPECT_THAT(errors[1], testing::AllOf(HasSubstr("logs.csv:3:1: error: value: "), HasSubstr("this is a folder")));
  EXPECT_THAT(errors[2],
              testing::AllOf(HasSubstr("logs.csv:4:1: error: value: "), HasSubstr("absent.yaml: no such file")));
  EXPECT_THAT(errors[3], HasSubstr(":5:1: error: what: unknown"));
}

TEST(Pilots, ColumnsThatStandTwiceOrDoNothingAreErrors) {
  EXPECT_THAT(errors_of([&] {
                read_pilots(written("twice.csv", "model,technique,group,what,value,value\na,b,c,d,e,f\n"), scenario());
              }).front(),
              HasSubstr("twice.csv:1:34: error: duplicate column \"value\""));
  EXPECT_THAT(errors_of([&] {
                read_pilots(
                    written("nois.csv", "model,technique,group,what,value,nois,note\ngpt2m,Data,gat,job,2 h,1,x\n"),
                    scenario());
              }).front(),
              HasSubstr("nois.csv:1:1: error: column \"nois\" has no effect; did you mean \"noise\"?"));
}

TEST(Pilots, FiguresThatNoRunShowsAreErrors) {
  const auto errors = errors_of([&] {
    read_pilots(written("far.csv",
                        "model,technique,group,what,value\n"
                        "gpt2m,Data,gat,job,1e300 s\n"
                        "gpt2m,Data,gat,iteration,1e-300 s\n"
                        "gpt2m,Data,gat,tflops_per_gpu,-3\n"
                        "gpt2m,Data,gat,peak_memory,1 B\n"),
                scenario());
  });
  ASSERT_EQ(errors.size(), 4);
  for (const auto& error : errors) EXPECT_THAT(error, HasSubstr("is out of range"));
}

TEST(Pilots, FiguresBeyondTheDataSheetAreErrors) {
  // Two A30 of 24 GiB and 165 TFLOP/s; a sequence of gpt2m is 6 x 353 M x 1024 FLOPs and more, 2.2 T.
  const auto errors = errors_of([&] {
    read_pilots(written("beyond.csv",
                        "model,technique,group,what,value\n"
                        "gpt2m,Data,gat,iteration,40 ms\n"
                        "gpt2m,Data,gat,tokens_per_second,200000\n"
                        "gpt2m,Data,gat,tflops_per_gpu,170\n"
                        "gpt2m,Data,gat,peak_memory,25 GiB\n"
                        "gpt2m,Data,gat,job,60 s\n"),
                scenario());
  });
  ASSERT_EQ(errors.size(), 5);
  for (const auto& error : errors) EXPECT_THAT(error, HasSubstr("is impossible"));
  EXPECT_THAT(errors[3], HasSubstr("its GPUs have 24 GiB"));
}

// Made-up logs in each program's words; the first step warms up, the median of the others counts.
TEST(TrainingLog, OfMegatronHasItsIterations) {
  const auto log = read_training_log(
      written(
          "megatron.log",
          " iteration       1/  10 | consumed samples: 8 | elapsed time per iteration (ms): 9000.0 | lm loss: 9.1 |\n"
          " iteration       2/  10 | consumed samples: 16 | elapsed time per iteration (ms): 1000.0 | lm loss: 9.0 |\n"
          " iteration       3/  10 | consumed samples: 24 | elapsed time per iteration (ms): 1100.0 | lm loss: 8.9 |\n"
          " iteration       4/  10 | consumed samples: 32 | elapsed time per iteration (ms): 1200.0 | lm loss: 8.8 "
          "|\n"),
      4, 1024);
  EXPECT_EQ(log.program, "Megatron-LM");
  ASSERT_EQ(log.figures.size(), 1);
  EXPECT_EQ(log.figures[0].measure, Measure::kIteration);
  EXPECT_NEAR(log.figures[0].value, 1.1, 1e-12);
}

TEST(TrainingLog, OfDeepSpeedHasSequencesAndMemory) {
  const auto log = read_training_log(
      written("deepspeed.log",
              "[INFO] [timer.py:258:stop] epoch=0/micro_step=1/global_step=1, RunningAvgSamplesPerSec=1.0, "
              "CurrSamplesPerSec=1.0, MemAllocated=1.5GB, MaxMemAllocated=4.0GB\n"
              "[INFO] [timer.py:258:stop] epoch=0/micro_step=2/global_step=2, RunningAvgSamplesPerSec=7.0, "
              "CurrSamplesPerSec=8.0, MemAllocated=1.5GB, MaxMemAllocated=4.5GB\n"),
      4, 1024);
  EXPECT_EQ(log.program, "DeepSpeed");
  ASSERT_EQ(log.figures.size(), 2);
  EXPECT_EQ(log.figures[0].value, 8 * 1024);  // tokens of sequences of 1024
  EXPECT_EQ(log.figures[1].value, 4.5 * kGibi);
}

TEST(TrainingLog, OfTorchtitanCountsTokensPerGpu) {
  const auto log = read_training_log(written("titan.log",
                                             "step:  1  loss: 9  memory:  9.46GiB(64.99%)  tps: 1,000  tflops: 0.5\n"
                                             "step:  2  loss: 9  memory:  9.50GiB(65.10%)  tps: 7,000  tflops: 0.5\n"),
                                     4, 1024);
  ASSERT_EQ(log.figures.size(), 2);
  EXPECT_EQ(log.figures[0].value, 28000);
  EXPECT_EQ(log.figures[1].value, 9.5 * kGibi);
}

// Colours stand right before the words, and in 2024 tokens were words.
TEST(TrainingLog, OfTorchtitanIsReadInColoursAndOfOlderVersions) {
  for (const std::string word : {"tps", "wps"}) {
    std::string text;
    for (const std::string rate : {"1,000", "7,000"})
      text += "\x1b[36m[titan] \x1b[31mstep:  1  \x1b[38;2;54;234;195mmemory:  9.50GiB(65%)  \x1b[34m" + word + ": " +
              rate + "  \x1b[36mtflops: 26.66\x1b[39m\n";
    const auto log = read_training_log(written("colours.log", text), 4, 1024);
    EXPECT_EQ(log.program, "torchtitan");
    ASSERT_EQ(log.figures.size(), 2);
    EXPECT_EQ(log.figures[0].value, 28000);
    EXPECT_EQ(log.figures[1].value, 9.5 * kGibi);
  }
}

TEST(TrainingLog, OfBigScienceIsInSecondsAndOfMegatronHasItsMemory) {
  const auto log = read_training_log(
      written(
          "bigscience.log",
          " iteration 1/ 5 | elapsed time per iteration (s): 20.0 | samples per second: 21.5 |\n"
          "[Rank 0] (after 1 iterations) memory (MB) | allocated: 6689.8 | max allocated: 8478.5 | reserved: 9000.0 | "
          "max reserved: 9216.0\n"
          " iteration 2/ 5 | elapsed time per iteration (s): 2.5 | samples per second: 21.5 |\n"),
      4, 1024);
  EXPECT_EQ(log.program, "Megatron-LM");
  ASSERT_EQ(log.figures.size(), 2);
  EXPECT_EQ(log.figures[0].measure, Measure::kIteration);
  EXPECT_EQ(log.figures[0].value, 2.5);
  EXPECT_EQ(log.figures[1].value, 9 * kGibi);
}

TEST(TrainingLog, OfDeepSpeedsPipelineHasItsIterations) {
  const auto log = read_training_log(written("pipeline.log",
                                             "steps: 1 loss: 7.1 iter time (s): 9.0 samples/sec: 6.2\n"
                                             "steps: 2 loss: 7.1 iter time (s): 2.5 samples/sec: 22.4\n"),
                                     4, 1024);
  EXPECT_EQ(log.program, "DeepSpeed");
  ASSERT_EQ(log.figures.size(), 1);
  EXPECT_EQ(log.figures[0].measure, Measure::kIteration);
  EXPECT_EQ(log.figures[0].value, 2.5);
}

TEST(TrainingLog, OfAlpaHasItsRate) {
  const auto log = read_training_log(
      written("alpa.log",
              "Step... 1 | Loss: 9.1, Learning Rate: 0.0005, Throughput: 10.00 token/s, 0.10 TFLOP/s\n"
              "Step... 2 | Loss: 9.0, Learning Rate: 0.0005, Throughput: 6900.00 token/s, 8.35 TFLOP/s\n"),
      2, 1024);
  ASSERT_EQ(log.figures.size(), 1);
  EXPECT_EQ(log.figures[0].value, 8.35e12);
}

// What each program's words state of its job. Of Megatron-LM's form in argonne-lcf/Megatron-DeepSpeed the batch is also the
// rate times the time: 53.753 x 14.2875 s = 768.
TEST(TrainingLog, StatesItsJob) {
  using Values = std::vector<double>;
  const struct {
    const char* text;
    LoggedSetting setting;
    Values values;
  } kLogs[] = {
      {" iteration 1/ 9 | elapsed time per iteration (ms): 9.0 | global batch size:   768 | actual seqlen:  4096 |\n",
       LoggedSetting::kBatch,
       {768}},
      {" iteration 1/ 9 | elapsed time per iteration (ms): 9.0 | global batch size:   768 | actual seqlen:  4096 |\n",
       LoggedSetting::kSequence,
       {4096}},
      // The batch grows while the run begins; the first step is warm-up.
      {" iteration 1/ 9 | elapsed time per iteration (ms): 9.0 | global batch size: 16 |\n"
       " iteration 2/ 9 | elapsed time per iteration (ms): 9.0 | global batch size: 32 |\n"
       " iteration 3/ 9 | elapsed time per iteration (ms): 9.0 | global batch size: 64 |\n",
       LoggedSetting::kBatch,
       {32, 64}},
      {"  seq_length ...................................... 2048\n  encoder_seq_length .............................. "
       "512\n"
       " iteration 1/ 9 | elapsed time per iteration (ms): 9.0 |\n",
       LoggedSetting::kSequence,
       {2048}},
      {"using world size: 8, data-parallel size: 4, tensor-model-parallel size: 2\n"
       " iteration 1/ 9 | elapsed time per iteration (ms): 9.0 |\n",
       LoggedSetting::kGpus,
       {8}},
      {" iteration 1/ 9 | elapsed time per iteration (ms): 14287.5 | samples per second: 53.753 |\n",
       LoggedSetting::kBatch,
       {14.2875 * 53.753}},
      {"[INFO] [config.py:1003:print]   train_batch_size ............. 32\n"
       "[INFO] [config.py:1003:print]   world_size ................... 2\n SamplesPerSec=8.0\n",
       LoggedSetting::kBatch,
       {32}},
      {"    \"train_batch_size\": 32,\n SamplesPerSec=8.0\n", LoggedSetting::kBatch, {32}},
      {"Trainer is initialized with local batch size 8, global batch size 64, gradient accumulation steps 1, sequence "
       "length 8192, total steps 1000\n[titan] step: 1 tps: 7,000\n",
       LoggedSetting::kBatch,
       {64}},
      {"Training starts at step 1, with local batch size 1, global batch size 8, sequence length 8192\n tps: 7\n",
       LoggedSetting::kSequence,
       {8192}},
      {"Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]\n tps: 7\n", LoggedSetting::kGpus, {8}},
      {"Model llama3 8B size: 8,030,261,248 total parameters\n tps: 7\n", LoggedSetting::kParameters, {8030261248.0}},
  };
  for (const auto& [text, setting, values] : kLogs) {
    SCOPED_TRACE(text);
    const auto log = read_training_log(written("job.log", text), 8, 1024);
    const auto of = [&, wanted = setting](const LoggedValues& one) { return one.setting == wanted; };
    const auto found = std::find_if(log.settings.begin(), log.settings.end(), of);
    ASSERT_NE(found, log.settings.end());
    EXPECT_THAT(found->values, testing::Pointwise(testing::DoubleEq(), values));
  }
  // DeepSpeed's world_size counts data-parallel ranks.
  const auto log =
      read_training_log(written("ranks.log", "[config.py:1]   world_size ....... 2\n SamplesPerSec=8.0\n"), 8, 1);
  EXPECT_THAT(log.settings, testing::IsEmpty());
}

// A row of a log of gpt2m with Data on both GPUs.
std::vector<std::string> errors_of_log(const std::string& text) {
  written("own.log", text);
  const auto table = written("own.csv", "model,technique,group,what,value\ngpt2m,Data,gat+amst,log,own.log\n");
  return errors_of([&] { read_pilots(table, scenario()); });
}

TEST(Pilots, ALogOfAnotherJobIsAnErrorOfItsRow) {
  const std::string step = " iteration 1/ 9 | elapsed time per iteration (ms): 900.0 |";
  const int batch = scenario().training.batch;
  EXPECT_THAT(errors_of_log(fmt::format("{} global batch size: {} | actual seqlen: 1024 |\n", step, batch)),
              testing::IsEmpty());
  EXPECT_THAT(
      errors_of_log(step + " global batch size: 768 | actual seqlen: 4096 |\n"),
      ElementsAre(HasSubstr(fmt::format("own.csv:2:1: error: value: own.log states global batch size 768, sequence "
                                        "length 4096; the scenario has {}, 1024",
                                        batch))));
  EXPECT_THAT(errors_of_log("using world size: 8, data-parallel size: 8\n" + step + "\n"),
              ElementsAre(HasSubstr("states number of GPUs 8; the scenario has 4")));
  // GPT-2 medium has 354 823 168 parameters, and 406 286 336 if the shared embedding counts twice.
  for (const char* same : {"354,823,168", "406,286,336"})
    EXPECT_THAT(errors_of_log(fmt::format("Model size: {} total parameters\n{}\n", same, step)), testing::IsEmpty());
  EXPECT_THAT(errors_of_log("Model size: 124,439,808 total parameters\n" + step + "\n"),
              ElementsAre(HasSubstr("states number of parameters 124439808; the scenario has 354823168")));
}

// An iteration has the scenario's batch of 1024 tokens each.
TEST(Pilots, FiguresThatExcludeEachOtherAreErrors) {
  const auto errors = [&](const std::string& first, const std::string& second) {
    return errors_of([&] {
      read_pilots(
          written("pairs.csv", fmt::format("model,technique,group,what,value\ngpt2m,Data,gat,{}\ngpt2m,Data,gat,{}\n",
                                           first, second)),
          scenario());
    });
  };
  const double tokens = 1024.0 * scenario().training.batch, steps = scenario().training.steps();
  const std::string rate = fmt::format("tokens_per_second,{}", tokens / 2), job = fmt::format("job,{} s", 2 * steps);
  EXPECT_THAT(errors("iteration,2 s", rate), testing::IsEmpty());
  EXPECT_THAT(errors("iteration,2 s", job), testing::IsEmpty());
  EXPECT_THAT(errors("iteration,5 s", rate),
              ElementsAre(testing::AllOf(HasSubstr("pairs.csv:3:1: error: value: "),
                                         HasSubstr(" contradicts iteration 5 s (line 2)"),
                                         HasSubstr("iterations of 2 s and 5 s"))));
  // By 6 FLOPs per parameter and token this model's steps of 2 s are some 2.2 TFLOP/s of each of two GPUs, with recomputation 2.9.
  const double flops = 6.0 * 354'823'168 * tokens / 2 / 2 / 1e12;
  for (const double count : {1.0, 4.0 / 3})
    EXPECT_THAT(errors("iteration,2 s", fmt::format("tflops_per_gpu,{}", count * flops)), testing::IsEmpty());
  for (const char* other : {"iteration,2 s", rate.c_str()})
    EXPECT_THAT(errors(other, fmt::format("tflops_per_gpu,{}", 4 * flops)),
                ElementsAre(testing::AllOf(HasSubstr("value: tflops_per_gpu "), HasSubstr(" contradicts "))));
  EXPECT_THAT(errors(job, fmt::format("tokens_per_second,{}", tokens / 5)), ElementsAre(HasSubstr("contradicts its")));
  // With an unknown batch both may be right.
  for (const std::string& figure : {rate, job})
    EXPECT_THAT(errors_of([&] {
                  read_pilots(
                      written("unknown.csv", fmt::format("model,technique,group,what,value\ngpt2m,Data,gat,iteration,5 "
                                                         "s\ngpt2m,Data,gat,{}\n",
                                                         figure)),
                      scenario(), false);
                }),
                testing::IsEmpty());
  EXPECT_THAT(errors(job, "iteration,5 s"), ElementsAre(HasSubstr("contradicts its")));
  for (const auto& [one, other] : {std::pair{"fits,no", "iteration,5 s"}, {"iteration,5 s", "fits,no"}})
    EXPECT_THAT(errors(one, other), ElementsAre(HasSubstr("a run that does not fit has no iteration of 5 s (line 2)")));
  EXPECT_THAT(errors("fits,yes", "iteration,5 s"), testing::IsEmpty());
  EXPECT_THAT(errors("iteration,2 s", "iteration,2.2 s"), testing::IsEmpty());
  EXPECT_THAT(errors("iteration,2 s", "iteration,4 s"),
              ElementsAre(HasSubstr("4 s contradicts 2 s of the same run (line 2)")));
}

// As --group takes them.
TEST(Pilots, GroupsHaveTheNamesOfTheCommandLine) {
  for (const char* group : {"all", "amst+gat", "gat+amst"}) {
    const auto table =
        written("all.csv", fmt::format("model,technique,group,what,value\ngpt2m,Data,{},iteration,2 s\n", group));
    const auto pilots = read_pilots(table, scenario());
    ASSERT_EQ(pilots.size(), 1) << group;
    EXPECT_THAT(pilots[0].cell.group, ElementsAre("gat", "amst")) << group;
  }
}

TEST(TrainingLog, OfNoProgramIsAnError) {
  EXPECT_THAT(errors_of([&] { read_training_log(written("none.log", "hello\n"), 1, 1); }).front(),
              HasSubstr("no steps of Megatron-LM, DeepSpeed, torchtitan or Alpa"));
}

}  // namespace
}  // namespace slmsim::pilot_test
