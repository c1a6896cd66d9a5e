// slmsim plan as scripts use it.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace slmsim::plan_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kPlan = {"plan", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--technique",
                                        "Data"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kPlan.begin(), kPlan.end());
  return more;
}

TEST(Plan, PrintsJson) {
  const RunOutcome done = slmsim_run(with({"--format", "json", "-k", "2"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["schema"], "slmsim/plan/1");
  const auto& model = json["models"][0];
  EXPECT_EQ(model["proven"], true);
  ASSERT_EQ(model["plans"].size(), 2);
  EXPECT_EQ(model["plans"][0]["technique"], "Data");
  EXPECT_LE(model["plans"][0]["minutes"], model["plans"][1]["minutes"]);
  // The same plan by `run`.
  std::vector<std::string> again = {"run", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--format", "json"};
  for (const auto& set : model["plans"][0]["set"]) {
    again.emplace_back("--set");
    again.push_back(set);
  }
  const auto run = nlohmann::json::parse(slmsim_run(again).out);
  EXPECT_EQ(run["predictions"][0]["minutes"], model["plans"][0]["minutes"]);
}

TEST(Plan, HasAtMostAHundredColumnsButForTheCommand) {
  std::istringstream lines(slmsim_run({"plan", "docs/examples/4-two-sites", "--effort", "0.01"}).out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.size() <= 100 || line.starts_with("  the same by: ")) << line;
  }
  EXPECT_GT(count, 10);
}

TEST(Plan, RefusesATechniqueThatTheScenarioLacks) {
  const RunOutcome done = slmsim_run({"plan", "scenarios/gat-amst.yaml", "--technique", "FSDP"});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("gat-amst has no technique \"FSDP\"; it has Data, ZeRO2, Shard, Pipeshard; "
                                  "add it under techniques, or by --set"));
}

// The printed command of a plan and its prediction: for a scenario with its own overrides, some of which are stated
// anew by the plan, and by name.
TEST(Plan, PrintsCommandsThatRunAndPredictTheSame) {
  const std::vector<std::vector<std::string>> kJobs = {
      {"plan", "--time-limit", "600", "scenarios/gat-amst.yaml", "--model", "gpt2m", "--set", "models.0.layers=6",
       "--set", "platform.links.wan.rtt=5 ms"},
      {"plan", "--time-limit", "600", "gat-amst", "-m", "gpt2m", "--set", "techniques=[Data, Pipeshard]", "--set",
       "groups=[[gat/0], all]", "--set", "platform.vms.gat.gpus=[t4, t4]"},
      {"plan", "--time-limit", "600", "scenarios/tacc-tacc.yaml", "--set", "models=[gpt2m]", "--set",
       "techniques={Data: {micro_batches: 2}}", "--set", "training.rematerialisation=yes", "--set",
       "plan.allow=[nccl, tcp]"},
      {"plan", "--time-limit", "600", "scenarios/xe8545-1.yaml", "--set", "techniques=[DDP, ZeRO-2]", "--set",
       "models.0.layers=4"}};
  for (auto words : kJobs) {
    SCOPED_TRACE(testing::PrintToString(words));
    words.insert(words.end(), {"-k", "3", "--effort", "0.01"});
    const RunOutcome table = slmsim_run(words);
    words.insert(words.end(), {"--format", "json"});
    const RunOutcome done = slmsim_run(words);
    ASSERT_EQ(done.status, 0) << done.err;
    const auto plans = nlohmann::json::parse(done.out)["models"][0]["plans"];
    ASSERT_GE(plans.size(), 1);
    const std::string first = plans[0]["command"];
    EXPECT_THAT(table.out, HasSubstr("the same by: " + first + "\n"));
    for (const auto& plan : plans) {
      const std::string command = plan["command"];
      ASSERT_TRUE(command.starts_with("slmsim run ")) << command;
      // As a shell takes it.
      const RunOutcome run = run_program(
          {"/bin/sh", "-c", "cd " SLMSIM_SOURCE_DIR " && " SLMSIM_BINARY + command.substr(6) + " --format json"});
      ASSERT_EQ(run.status, 0) << command << "\n" << run.err;
      const auto predictions = nlohmann::json::parse(run.out)["predictions"];
      ASSERT_EQ(predictions.size(), 1) << command;
      EXPECT_EQ(predictions[0]["minutes"], plan["minutes"]) << command;
    }
  }
}

TEST(Plan, SaysBeforehandWhenItEnds) {
  EXPECT_TRUE(
      slmsim_run(with({})).err.starts_with("slmsim: stops within 5 s with the results so far (--time-limit)\n"));
  EXPECT_TRUE(slmsim_run(with({"--effort", "2"})).err.starts_with("slmsim: stops within 15 min"));
  EXPECT_TRUE(slmsim_run(with({"--time-limit", "60"})).err.starts_with("slmsim: stops within 1 min"));
  EXPECT_EQ(slmsim_run(with({"--time-limit", "0"})).err, "");  // it has no end but its effort
}

TEST(Plan, IsTheSameWithAnyNumberOfWorkers) {
  EXPECT_EQ(slmsim_run(with({"--jobs", "1"})).out, slmsim_run(with({"--jobs", "3"})).out);
}

TEST(Plan, IsTheSameByRanksOfMpi) {
#ifndef SLMSIM_MPIEXEC
  GTEST_SKIP() << "built without MPI";
#else
  allow_mpi();
  const auto by_ranks = [](std::vector<std::string> words) {
    words.insert(words.begin(), {SLMSIM_MPIEXEC, "-n", "3", SLMSIM_BINARY});
    return run_program(words);
  };
  const RunOutcome alone = slmsim_run(with({"--format", "json"}));
  EXPECT_EQ(by_ranks(with({"--format", "json"})).out, alone.out);
  // Where the list of choices is cut off by the clock, rank 0 searches by itself.
  EXPECT_THAT(by_ranks(with({"--time-limit", "0.001"})).err, HasSubstr("slmsim: stops within"));
  const RunOutcome two = by_ranks({"plan", "--time-limit", "600", SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml",
                                   SLMSIM_SOURCE_DIR "/scenarios/utah-gpn.yaml"});
  EXPECT_EQ(two.status, 2);
  const std::string refusal = "the ranks of an MPI job search one scenario";
  EXPECT_THAT(two.err, HasSubstr(refusal));
  EXPECT_EQ(two.err.find(refusal), two.err.rfind(refusal));  // told by one of them
#endif
}

// Results of other machines are used unchanged, so that the plans are those of one machine, which has little left to do.
TEST(Plan, IsTheSameFromParts) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole"), rest = folder.file("rest"), parted = folder.file("p");
  const std::vector<std::string> kSearch = {"plan",  "scenarios/gat-amst.yaml",     "--set", "models=gpt2m",
                                            "--set", "techniques=[Data, Pipeshard]"};
  const auto of_search = [&](std::vector<std::string> more) {
    more.insert(more.begin(), kSearch.begin(), kSearch.end());
    return slmsim_run(more);
  };
  std::vector<std::string> with_parts = {"--format", "json", "--parts"};
  for (const std::string shard : {"3", "1", "2"}) {
    const RunOutcome part = of_search({"--journal", parted, "--shard", shard + "/3"});
    ASSERT_EQ(part.status, 0) << part.err;
    EXPECT_EQ(part.out, "");
    with_parts.push_back(parted + "." + shard + "-of-3.part");
    EXPECT_THAT(part.err, HasSubstr("wrote " + with_parts.back()));
  }
  const RunOutcome alone = of_search({"--format", "json"});
  EXPECT_EQ(of_search(with_parts).out, alone.out);
  // A journal is left where the result cannot be written: of what is in no part, as it was looked at before the best was known.
  ASSERT_EQ(of_search({"--journal", whole, "--output", "/dev/full"}).status, 2);
  with_parts.insert(with_parts.end(), {"--journal", rest, "--output", "/dev/full"});
  ASSERT_EQ(of_search(with_parts).status, 2);
  EXPECT_LT(contents(rest).size(), contents(whole).size() / 4);
  // One part may be all.
  ASSERT_EQ(of_search({"--journal", parted, "--shard", "1/1"}).out, "");
  EXPECT_EQ(of_search({"--format", "json", "--parts", parted + ".1-of-1.part"}).out, alone.out);
  // A part that is there already is gone on with, and answers at once.
  EXPECT_EQ(of_search({"--journal", parted, "--shard", "2/3"}).status, 0);
  const RunOutcome other = slmsim_run(with({"--parts", parted + ".1-of-3.part", folder.file("nowhere")}));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("p.1-of-3.part: error: a part of another search"));
  EXPECT_THAT(other.err, HasSubstr("nowhere: error: no such file"));
}

TEST(Plan, RefusesPartsThatMakeNoSense) {
  const TemporaryFolder folder;
  const std::string journal = folder.file("p");
  EXPECT_THAT(slmsim_run(with({"--shard", "1/2"})).err, HasSubstr("name FILE with --journal"));
  EXPECT_THAT(slmsim_run(with({"--shard", "3/2", "--journal", journal})).err, HasSubstr("i from 1 to n"));
  EXPECT_THAT(slmsim_run(with({"--shard", "1/2", "--journal", journal, "--format", "json"})).err,
              HasSubstr("reports no plans"));
  EXPECT_THAT(slmsim_run(with({"scenarios/utah-gpn.yaml", "--shard", "1/2", "--journal", journal})).err,
              HasSubstr("take one scenario"));
  EXPECT_THAT(slmsim_run(with({"--shard", "1/2", "--journal", journal, "--time-limit", "0.0001"})).err,
              HasSubstr("before all choices were listed"));
  EXPECT_EQ(slmsim_run(with({"--shard", "1/1", "--journal", journal, "--time-limit", "0.0001"})).status, 2);
  EXPECT_FALSE(std::filesystem::exists(journal + ".1-of-2.part"));
}

TEST(Plan, WritesFilesToRun) {
  const TemporaryFolder folder;
  ASSERT_EQ(slmsim_run(with({"--export", folder.file("out")})).status, 0);
  EXPECT_THAT(contents(folder.file("out/README.txt")), HasSubstr("DeepSpeed"));
  EXPECT_THAT(contents(folder.file("out/deepspeed.json")), HasSubstr("train_batch_size"));
}

TEST(Plan, KeepsItsJournalUntilTheResultIsWritten) {
  const TemporaryFolder folder;
  const std::string journal = folder.file("journal");
  EXPECT_EQ(slmsim_run(with({"--journal", journal, "--output", "/dev/full"})).status, 2);
  EXPECT_THAT(contents(journal), HasSubstr("slmsim-sweep-journal"));
  EXPECT_EQ(slmsim_run(with({"--journal", journal, "--output", folder.file("plan")})).status, 0);
  EXPECT_FALSE(std::filesystem::exists(journal));
}

TEST(Plan, TellsWhatIsWrong) {
  EXPECT_THAT(slmsim_run(with({"--objective", "dolars"})).err, HasSubstr("did you mean \"dollars\""));
  const RunOutcome prices = slmsim_run(with({"--objective", "dollars"}));
  EXPECT_EQ(prices.status, 2);
  EXPECT_THAT(prices.err, HasSubstr("price of a30"));
  EXPECT_EQ(slmsim_run(with({"--effort", "0"})).status, 2);
  EXPECT_EQ(slmsim_run(with({"--journal", "/nonexistent/journal"})).status, 2);
}

TEST(Plan, SaysSoWhereNothingFits) {
  const RunOutcome done = slmsim_run(with({"--set", "software.usable_memory=0.05", "--set", "groups=all"}));
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.out, HasSubstr("nothing fits"));
}

TEST(Plan, TellsWhyNothingRuns) {
  // 20 epochs of 570 sequences in batches of 8 are 1425 steps.
  const RunOutcome done = slmsim_run({"plan", "--time-limit", "600", "scenarios/gat-amst.yaml", "--set", "models=gpt2m",
                                      "--set", "groups=[[gat]]", "--set", "techniques={OneBitAdam: {warm_up: 1000000}}",
                                      "--technique", "OneBitAdam"});
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr(" cannot run, 0 do not fit, 0 simulated"));
  EXPECT_THAT(done.out, HasSubstr(" cannot run: the job's 1425 steps end within the warm-up of 1000000"));
  EXPECT_THAT(done.out, HasSubstr("\n  nothing runs\n"));
  EXPECT_THAT(done.out, testing::Not(HasSubstr("fits")));
}

TEST(Plan, IsNeverWorseThanRunWhateverTheEffort) {
  const std::vector<std::vector<std::string>> scenarios = {
      {"scenarios/xe8545-2.yaml", "--set", "techniques=[DDP]", "--set", "models.0.layers=8", "--set",
       "training.control_round_trips=10000"},
      {"scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "techniques=[Shard]", "--set",
       "platform.vms.gat.gpus=[a30]", "--set", "platform.vms.amst.gpus=[a30]"}};
  const auto json_of = [](const std::string& verb, std::vector<std::string> words) {
    words.insert(words.begin(), verb);
    words.insert(words.end(), {"--format", "json"});
    const RunOutcome done = slmsim_run(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return nlohmann::json::parse(done.out);
  };
  for (auto words : scenarios) {
    double least = 1e300;
    for (const auto& p : json_of("run", words)["predictions"]) {
      if (p["status"] == "ok") least = std::min(least, p["minutes"].get<double>());
    }
    words.insert(words.end(), {"--effort", "0.0001"});
    const auto best = json_of("plan", words)["models"][0]["plans"][0];
    EXPECT_LE(best["minutes"].get<double>(), least) << words.front();
  }
}

TEST(Run, PrintsThePlanBesideItsPickWhereAsked) {
  std::vector<std::string> run = {"run",   "scenarios/gat-amst.yaml", "--set", "models=gpt2m",
                                  "--set", "techniques=Data"};
  EXPECT_THAT(slmsim_run(run).out, testing::Not(HasSubstr("\nPLAN ")));
  run.emplace_back("--plan");
  EXPECT_THAT(slmsim_run(run).out, HasSubstr("\nPLAN     Data on"));
}

TEST(Run, RefusesAPlanThatAnOptionHasNoEffectOn) {
  const auto with = [](const std::string& option, const std::string& value) {
    const RunOutcome run = slmsim_run({"run", "scenarios/gat-amst.yaml", "--plan", option, value});
    EXPECT_EQ(run.status, 2);
    return run.err;
  };
  EXPECT_THAT(with("--group", "gat"), HasSubstr("--plan searches all groups of GPUs, and --group has no effect on it"));
  EXPECT_THAT(with("--format", "csv"), HasSubstr("--plan has no effect on --format csv"));
}

TEST(Plan, SaysSoWhereTheTimeWasTooShort) {
  const RunOutcome run = slmsim_run({"plan", "scenarios/gat-amst.yaml", "-m", "gpt2m", "--time-limit", "0.001"});
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("nothing found in time; a longer --time-limit may help"));
  EXPECT_THAT(run.out, testing::Not(testing::HasSubstr("nothing fits")));
}

}  // namespace
}  // namespace slmsim::plan_test
