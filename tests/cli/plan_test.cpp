// slmsim plan as scripts use it.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace slmsim {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kPlan = {"plan", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--technique",
                                        "Data"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kPlan.begin(), kPlan.end());
  return more;
}

TEST(Plan, PrintsJson) {
  const Finished done = slmsim_run(with({"--format", "json", "-k", "2"}));
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

TEST(Plan, IsTheSameWithAnyNumberOfWorkers) {
  EXPECT_EQ(slmsim_run(with({"--jobs", "1"})).out, slmsim_run(with({"--jobs", "3"})).out);
}

TEST(Plan, WritesFilesToRun) {
  const TemporaryFolder folder;
  ASSERT_EQ(slmsim_run(with({"--export", folder.file("out")})).status, 0);
  EXPECT_THAT(contents(folder.file("out/README.txt")), HasSubstr("DeepSpeed"));
  EXPECT_THAT(contents(folder.file("out/deepspeed.json")), HasSubstr("train_batch_size"));
}

TEST(Plan, TellsWhatIsWrong) {
  EXPECT_THAT(slmsim_run(with({"--objective", "dolars"})).err, HasSubstr("did you mean \"dollars\""));
  const Finished prices = slmsim_run(with({"--objective", "dollars"}));
  EXPECT_EQ(prices.status, 2);
  EXPECT_THAT(prices.err, HasSubstr("price of a30"));
  EXPECT_EQ(slmsim_run(with({"--effort", "0"})).status, 2);
  EXPECT_EQ(slmsim_run(with({"--journal", "/nonexistent/journal"})).status, 2);
}

TEST(Plan, SaysSoWhereNothingFits) {
  const Finished done = slmsim_run(with({"--set", "software.usable_memory=0.05", "--set", "groups=all"}));
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.out, HasSubstr("nothing fits"));
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
    const Finished done = slmsim_run(words);
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
  EXPECT_THAT(slmsim_run(run).out, testing::Not(HasSubstr("slmsim plan:")));
  run.emplace_back("--plan");
  EXPECT_THAT(slmsim_run(run).out, HasSubstr("slmsim plan: Data on"));
}

TEST(Plan, SaysSoWhereTheTimeWasTooShort) {
  const Finished run = slmsim_run({"plan", "scenarios/gat-amst.yaml", "-m", "gpt2m", "--time-limit", "0.001"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("the time was over before a plan was found; give a longer --time-limit"));
  EXPECT_THAT(run.out, testing::Not(testing::HasSubstr("nothing fits")));
}

}  // namespace
}  // namespace slmsim
