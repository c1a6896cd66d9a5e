// The real program: a sweep that is killed, cut or spread ends with the bytes of an undisturbed one.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace slmsim::sweep_test {
namespace {

using testing::HasSubstr;

constexpr const char* kScenario = SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml";

// 30 points whose links are shared by flows (Pipeshard) or not (Data).
std::string sweep_text() {
  return std::string("scenario: ") + kScenario +
         "\nset: {models: gpt2m, groups: all, techniques: [Data, Pipeshard]}\n"
         "axes: [{key: platform.links.wan.rtt, from: 0.1 ms, to: 200 ms, points: 15, scale: log},\n"
         "       {key: training.batch, values: [4, 8]}]\n";
}

class SweepTest : public testing::Test {
 protected:
  SweepTest() : sweep_(folder_.write("sweep.yaml", sweep_text())) {}

  RunOutcome run(std::vector<std::string> more, const std::string& output) const {
    std::vector<std::string> words = {"sweep", sweep_, "--output", folder_.file(output)};
    words.insert(words.end(), more.begin(), more.end());
    return slmsim_run(words);
  }
  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* end : {".csv", ".jsonl"}) {
      ASSERT_NE(contents(folder_.file(a + end)), "");
      EXPECT_EQ(contents(folder_.file(a + end)), contents(folder_.file(b + end)));
    }
  }
  pid_t start(const std::string& output) const {
    const pid_t child = fork();
    if (child == 0) {
      execl(SLMSIM_BINARY, SLMSIM_BINARY, "sweep", sweep_.c_str(), "-o", folder_.file(output).c_str(), "-j", "2",
            nullptr);
      _exit(127);
    }
    return child;
  }
  // Starts the program and ends it, or one of its workers, with SIGKILL after so long.
  void start_and_kill(const std::string& output, useconds_t after, bool worker) const {
    const pid_t child = start(output);
    usleep(after);
    if (worker) {
      pid_t first = 0;
      std::ifstream("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children") >> first;
      if (first > 0) kill(first, SIGKILL);
    } else {
      kill(child, SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }

  TemporaryFolder folder_;
  std::string sweep_;
};

TEST_F(SweepTest, WritesARowForEachPointAndPrediction) {
  ASSERT_EQ(run({}, "a.csv").status, 0);
  EXPECT_EQ(folder_.count(), 3);  // the sweep and both results
  std::istringstream csv(contents(folder_.file("a.csv"))), json(contents(folder_.file("a.jsonl")));
  std::string line;
  std::getline(csv, line);
  EXPECT_TRUE(
      line.starts_with("point,platform.links.wan.rtt,training.batch,scenario,model,technique,group,gpus,status,"));
  EXPECT_TRUE(line.ends_with(",assumed,measure,platform.links.wan.rtt_s")) << line;
  std::getline(csv, line);
  EXPECT_TRUE(line.starts_with("0,0.1 ms,4,gat-amst,gpt2m,Data,gat+amst,4,ok,,")) << line;
  EXPECT_TRUE(line.ends_with(",0.0001")) << line;  // 0.1 ms
  std::size_t rows = 0;
  for (; std::getline(json, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row.at("point"), rows / 2);
    EXPECT_EQ(row.at("inputs").at("training.batch"), rows / 2 % 2 == 0 ? 4 : 8);
    EXPECT_GT(row.at("platform.links.wan.rtt_s").get<double>(), 0.99e-4);
    EXPECT_EQ(row.at("technique"), rows % 2 == 0 ? "Data" : "Pipeshard");
  }
  EXPECT_EQ(rows, 60);
}

TEST_F(SweepTest, TellsWhatItWroteAndHowItWent) {
  const RunOutcome done = run({}, "a.csv");
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("60 rows of 30 points: 60 ok\n"));
  EXPECT_THAT(done.err, HasSubstr(folder_.file("a.jsonl")));
}

TEST_F(SweepTest, WhereEveryPointIsWrongEndsAsBadInputAndCheckSaysSo) {
  const std::string wrong =
      folder_.write("wrong.yaml", std::string("scenario: ") + kScenario +
                                      "\naxes: [{key: platform.links.wan.rtt, from: 1 GiB, to: 2 GiB, points: 3}]\n");
  const RunOutcome done = slmsim_run({"sweep", wrong, "-o", folder_.file("w")});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("wrong.yaml:2:44: error: platform.links.wan.rtt: \"1 GiB\" has the unit \"GiB\""));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("w.csv")));
  const RunOutcome checked = slmsim_run({"check", wrong});
  EXPECT_EQ(checked.status, 2);
  EXPECT_EQ(checked.err, done.err);
}

TEST_F(SweepTest, RefusesAnAxisOfJobsWhichItDoesNotDraw) {
  const std::string file = folder_.write("jobs.yaml", "scenario: " SLMSIM_SOURCE_DIR
                                                      "/scenarios/spot-job.yaml\n"
                                                      "axes: [{key: job.checkpoint.interval, values: [1 min, 1 h]}]\n");
  const RunOutcome done = slmsim_run({"sweep", file, "-o", folder_.file("j")});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("jobs.yaml:2:14: error: job.checkpoint.interval changes no row"));
}

TEST_F(SweepTest, RefusesASettingThatAnAxisVaries) {
  const RunOutcome done = run({"--set", "training.batch=16"}, "a");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("training.batch is an axis of the sweep; set it there or here"));
}

TEST_F(SweepTest, RefusesAFolderAsOutputAndOneThatIsMissing) {
  EXPECT_THAT(slmsim_run({"sweep", sweep_, "-o", folder_.file("")}).err, HasSubstr("this is a folder"));
  EXPECT_THAT(run({}, "missing/a.csv").err, HasSubstr("there is no folder"));
}

TEST_F(SweepTest, AgreesWithRun) {
  ASSERT_EQ(run({}, "a.csv").status, 0);
  const std::string row = slmsim_run({"run", kScenario, "--set", "models=gpt2m", "--set", "groups=all", "--set",
                                      "platform.links.wan.rtt=200 ms", "--set", "training.batch=8", "--set",
                                      "techniques=Data", "--format", "csv"})
                              .out;
  EXPECT_THAT(contents(folder_.file("a.csv")),
              HasSubstr("\n29,200 ms,8," + row.substr(row.find('\n') + 1, row.size() - row.find('\n') - 2) + ",0.2\n"));
}

TEST_F(SweepTest, EndsWithTheSameBytesHoweverManyWorkersItHas) {
  ASSERT_EQ(run({"-j", "1"}, "a").status, 0);
  ASSERT_EQ(run({"-j", "7"}, "b").status, 0);
  expect_same("a", "b");
}

TEST_F(SweepTest, GoesOnAfterKill9AndEndsWithTheSameBytes) {
  ASSERT_EQ(run({}, "a").status, 0);
  std::mt19937 random(1);
  std::uniform_int_distribution<useconds_t> moment(0, 300'000);
  for (int round = 0; round < 3; ++round) {
    for (int kills = 0; kills < 4; ++kills) start_and_kill("b", moment(random), false);
    ASSERT_EQ(run({}, "b").status, 0);
    expect_same("a", "b");
    EXPECT_EQ(folder_.count(), 5);  // no journal, nothing temporary
  }
}

TEST_F(SweepTest, TriesAgainWhatAKilledWorkerHad) {
  ASSERT_EQ(run({}, "a").status, 0);
  for (const useconds_t after : {60'000, 120'000, 200'000}) {
    start_and_kill("b", after, true);
    expect_same("a", "b");
  }
}

TEST_F(SweepTest, RefusesTheJournalOfAnotherSweepUntilRestart) {
  const pid_t child = start("a");
  while (contents(folder_.file("a.journal")).empty() && waitpid(child, nullptr, WNOHANG) == 0) usleep(500);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  folder_.write("sweep.yaml", sweep_text() + "description: other\n");
  const RunOutcome refused = run({}, "a");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("a.journal: error: "), HasSubstr("--restart")));
  EXPECT_EQ(run({"--restart"}, "a").status, 0);
}

TEST_F(SweepTest, PointsThatFailAreRowsWithTheirReason) {
  folder_.write("sweep.yaml", std::string("scenario: ") + kScenario +
                                  "\nset: {models: gpt2m, groups: all, techniques: [Data]}\n"
                                  "axes: [{key: training.batch, values: [8, 0, eight, 16]}]\n");
  ASSERT_EQ(run({}, "a").status, 0);
  const std::string csv = contents(folder_.file("a.csv"));
  EXPECT_THAT(csv, HasSubstr("\n0,8,gat-amst,gpt2m,Data,gat+amst,4,ok,"));
  EXPECT_THAT(csv,
              HasSubstr("\n1,0,,,,,,invalid,\"training.batch: \"\"0\"\" is out of range; expected a whole number"));
  EXPECT_THAT(csv, HasSubstr("\n2,eight,,,,,,invalid,\"training.batch: \"\"eight\"\" is not a whole number"));
  EXPECT_THAT(csv, HasSubstr("\n3,16,gat-amst,gpt2m,Data,gat+amst,4,ok,"));
}

TEST_F(SweepTest, ShardsMergeToTheSameBytes) {
  ASSERT_EQ(run({}, "a").status, 0);
  std::vector<std::string> merge = {"merge", "--output", folder_.file("b.csv")};
  for (const std::string shard : {"3", "1", "2"}) {
    ASSERT_EQ(run({"--shard", shard + "/3"}, "b.csv").status, 0);
    merge.push_back(folder_.file("b." + shard + "-of-3.part"));
  }
  ASSERT_EQ(slmsim_run(merge).status, 0);
  expect_same("a", "b");
  merge.pop_back();
  const RunOutcome incomplete = slmsim_run(merge);
  EXPECT_EQ(incomplete.status, 2);
  EXPECT_THAT(incomplete.err, HasSubstr("add the part of --shard 2/3"));
}

TEST_F(SweepTest, RefusesAShardThatIsNone) {
  for (const char* shard : {"0/3", "4/3", "1", "a/b", "1/0", "1.5/2"}) {
    const RunOutcome refused = run({"--shard", shard}, "a");
    EXPECT_EQ(refused.status, 2) << shard;
    EXPECT_THAT(refused.err, HasSubstr("i/n with i from 1 to n is expected"));
  }
}

TEST_F(SweepTest, RanksOfMpiEndWithTheSameBytes) {
#ifndef SLMSIM_MPIEXEC
  GTEST_SKIP() << "built without MPI";
#else
  ASSERT_EQ(run({}, "a").status, 0);
  allow_mpi();  // the run above has told of leaks of ours
  const RunOutcome spread =
      run_program({SLMSIM_MPIEXEC, "-n", "4", SLMSIM_BINARY, "sweep", sweep_, "-o", folder_.file("b")});
  ASSERT_EQ(spread.status, 0) << spread.err;
  expect_same("a", "b");
#endif
}

}  // namespace
}  // namespace slmsim::sweep_test
