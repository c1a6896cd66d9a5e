// Contents of run's answers besides time and memory, and their narrowing by filters.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace slmsim::answer_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kScenario = "scenarios/gat-amst.yaml";

Json predictions(std::vector<std::string> more) {
  std::vector<std::string> words = {"run", kScenario, "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  const RunOutcome run = slmsim_run(words);
  EXPECT_EQ(run.status, 0) << run.err;
  return run.status == 0 ? Json::parse(run.out)["predictions"] : Json::array();
}

TEST(Answer, IsNarrowedByModelGroupAndTechnique) {
  const Json all = predictions({"-m", "gpt2m", "-g", "amst+gat", "-g", "amst", "-t", "Data", "-t", "Shard"});
  ASSERT_EQ(all.size(), 4u);  // one model, two groups, two techniques
  for (const auto& p : all) {
    EXPECT_EQ(p["model"], "gpt2m");
    EXPECT_TRUE(p["technique"] == "Data" || p["technique"] == "Shard");
  }
  const Json whole = predictions({"-m", "gpt2m", "-g", "all", "-t", "Data"});
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0]["gpus"], 4);
  EXPECT_EQ(whole[0], all[0]);  // as if the others were not asked for
}

// Each technique with its own reason.
TEST(Answer, NamesEachReasonWhyOneCannotRun) {
  const RunOutcome run = slmsim_run({"run", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set",
                                     "groups=[[gat/0]]", "--set", "techniques=[Pipeshard, DiLoCo, Data]"});
  EXPECT_THAT(run.out, HasSubstr("CANNOT   Pipeshard on gat/0: a pipeline needs at least two GPUs\n"));
  EXPECT_THAT(run.out, HasSubstr("CANNOT   DiLoCo on gat/0: DiLoCo needs at least two replicas; this is one GPU\n"));
}

// RTX 6000 and T4 are older than flash attention.
TEST(Answer, NamesTheAttentionThatRuns) {
  const auto head_on = [](const std::string& scenario) {
    const RunOutcome run = slmsim_run({"run", scenario, "--set", "models=gpt2m", "--set", "techniques=Data", "--set",
                                       "software.stack=compiled", "--set", "software.attention=flash"});
    return run.out.substr(0, run.out.find("\n\n"));
  };
  EXPECT_THAT(head_on("scenarios/tacc-tacc.yaml"), HasSubstr("memory_efficient attention"));
  EXPECT_THAT(head_on("scenarios/tacc-tacc.yaml"), testing::Not(HasSubstr("flash")));
}

// Gat and Amst: a path that loses segments. Where the remark stands, so does its number; inside one VM nothing is lost.
TEST(Answer, TellsHowFarIterationsDifferInANumberToo) {
  const Json across = predictions({"-m", "gpt2m", "-g", "all", "-t", "Data"});
  ASSERT_EQ(across.size(), 1u);
  ASSERT_TRUE(across[0].contains("spread"));
  const double spread = across[0]["spread"];
  EXPECT_GE(spread, 0.005);  // to which means are taken to have settled
  EXPECT_THAT(across[0]["remarks"].dump(), HasSubstr(fmt::format("{:.1f} %", std::ceil(1000 * spread - 1e-6) / 10)));
  const Json inside = predictions({"-m", "gpt2m", "-g", "gat", "-t", "Data"});
  EXPECT_FALSE(inside[0].contains("spread"));
}

TEST(Answer, CountsEnergyByBoardPower) {
  const Json one = predictions({"-m", "gpt2m", "-g", "gat", "-t", "Data"});
  ASSERT_EQ(one.size(), 1u);
  // Two A30 of 165 W.
  EXPECT_NEAR(one[0]["energy_kwh"].get<double>(), 2 * 0.165 * one[0]["minutes"].get<double>() / 60, 1e-6);
}

TEST(Answer, CountsCostByPricesOfGpusOrOfWholeVms) {
  const std::vector<std::string> narrow = {"-m", "gpt2m", "-t", "Data"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), narrow.begin(), narrow.end());
    return predictions(more);
  };
  const Json none = with({"-g", "gat"});
  EXPECT_TRUE(none[0]["cost"].is_null());
  const double hours = none[0]["minutes"].get<double>() / 60;
  const Json gpus = with({"-g", "gat", "--set", "plan.dollars_per_hour={a30: 0.5}"});
  EXPECT_NEAR(gpus[0]["cost"].get<double>(), 2 * 0.5 * hours, 1e-6);
  EXPECT_EQ(gpus[0]["currency"], "USD");
  const Json owned = with({"-g", "gat", "--set", "plan.dollars_per_hour={a30: 0}"});
  EXPECT_EQ(owned[0]["cost"], 0);
  // The VM is rented whole, though one of its two GPUs works.
  const Json vm = with({"--set", "groups=[[gat/0]]", "--set", "platform.vms.gat.price_per_hour=3", "--set",
                        "platform.vms.gat.type.currency=EUR"});
  EXPECT_NEAR(vm[0]["cost"].get<double>(), 3 * vm[0]["minutes"].get<double>() / 60, 1e-6);
  EXPECT_EQ(vm[0]["currency"], "EUR");
  const Json half = with({"-g", "all", "--set", "platform.vms.gat.price_per_hour=3"});
  EXPECT_TRUE(half[0]["cost"].is_null());  // of amst no price is known
}

TEST(Answer, RefusesPricesInTwoCurrencies) {
  const RunOutcome run =
      slmsim_run({"run", kScenario, "--set", "platform.vms.gat.price_per_hour=3", "--set",
                  "platform.vms.amst.price_per_hour=3", "--set", "platform.vms.gat.type.currency=EUR"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("gat is priced in EUR and amst in USD; state all prices in one currency"));
}

TEST(Answer, AVmsOwnNicHoldsOverItsTypes) {
  const Json slow = predictions({"-m", "gpt2m", "-g", "all", "-t", "Data", "--set", "platform.vms.gat.nic=100 Mbps",
                                 "--set", "platform.links.wan.loss=0"});
  const Json usual = predictions({"-m", "gpt2m", "-g", "all", "-t", "Data", "--set", "platform.links.wan.loss=0"});
  // 2 x 355 M gradients of 2 bytes through 12.5 MB/s: at least 56 s.
  EXPECT_GT(slow[0]["iteration_s"].get<double>(), 56);
  EXPECT_LT(usual[0]["iteration_s"].get<double>(), 56);
}

TEST(Answer, TellsInAllFormatsWhatIsAssumed) {
  const std::vector<std::string> words = {"run", kScenario, "-m", "gpt2m", "-t", "Data"};
  EXPECT_THAT(slmsim_run(words).out, HasSubstr("\nASSUMED  "));
  std::vector<std::string> listed = words;
  listed.emplace_back("--assumed");
  const RunOutcome table = slmsim_run(listed);
  EXPECT_THAT(table.out, HasSubstr("\nASSUMED  fabric-vm: "));
  EXPECT_THAT(table.out, HasSubstr("copy_rate 0.6 GB/s (fitted elsewhere)"));
  EXPECT_THAT(table.out, HasSubstr("link wan: loss 1.3e-5 (fitted elsewhere), by default mtu 1500 B, bandwidth_of "
                                   "path; measure\n         with slmsim-netprobe\n"));
  const Json all = predictions({"-m", "gpt2m", "-t", "Data"});
  ASSERT_EQ(all.size(), 3u);
  const auto rests_on_link = [](const Json& p) {
    return p["assumed"].dump().find("platform.links.wan") != std::string::npos;
  };
  EXPECT_TRUE(rests_on_link(all[0]));   // both sites
  EXPECT_FALSE(rests_on_link(all[1]));  // gat alone does not use the link
  auto csv = words;
  csv.insert(csv.end(), {"--format", "csv"});
  const std::string text = slmsim_run(csv).out;
  EXPECT_THAT(text.substr(0, text.find('\n')),
              testing::EndsWith("tokens_per_second,mfu,energy_kwh,cost,currency,assumed,measure"));
  EXPECT_THAT(text, HasSubstr("platform.links.wan.loss"));
}

TEST(Answer, ForgetsAnAssumptionThatIsStated) {
  const RunOutcome run =
      slmsim_run({"run", kScenario, "-m", "gpt2m", "-t", "Data", "--set", "platform.links.wan.loss=0", "--set",
                  "platform.vms.gat.tcp.copy_rate=2GB/s", "--set", "platform.vms.amst.tcp.copy_rate=2GB/s"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(Not(HasSubstr("loss 1.3e-5")), Not(HasSubstr("copy_rate"))));
}

// Six GPUs in pairs or threes: neither single GPUs nor stages that these do not divide.
TEST(Answer, CutsStagesThatTensorParallelismDivides) {
  for (const unsigned tensor : {2u, 3u}) {
    const Json told = predictions({"--set", "models=gpt2m", "--set", "platform.vms.gat.gpus=[t4, t4, t4, t4, t4, t4]",
                                   "--set", "groups=[[gat]]", "--set",
                                   fmt::format("techniques={{Pipeshard: {{stages: auto, tensor: {}}}}}", tensor)});
    ASSERT_EQ(told.size(), 1);
    ASSERT_EQ(told[0]["status"], "ok") << told[0];
    EXPECT_GE(told[0]["plan"]["stages"].size(), 1);
    for (const Json& stage : told[0]["plan"]["stages"]) EXPECT_EQ(stage["gpus"].size() % tensor, 0) << stage;
  }
}

TEST(Answer, HasOneUnitPerColumnAndOneRowForEqualTechniques) {
  const RunOutcome run = slmsim_run({"run", kScenario, "-m", "gpt2m", "--set", "groups=[[gat/0]]", "--set",
                                     "techniques=[Data, ZeRO2]", "--set", "training.batch=1"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("  Data = ZeRO2 gat/0 "));
  const RunOutcome all = slmsim_run({"run", kScenario, "-m", "gpt2m"});
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  Data ") || line.starts_with("  Shard ")) {
      EXPECT_THAT(line, Not(HasSubstr(" min"))) << line;
      EXPECT_THAT(line, Not(HasSubstr(" s "))) << line;
    }
  }
}

// Only one study's scenarios stated the cost of DeepSpeed's hooks, so that elsewhere gathering layer by layer was free and
// stage 3 came before DDP on two cards over PCIe.
TEST(Answer, CountsTheHooksOfStage3WhereNobodyStatesThem) {
  const TemporaryFolder folder;
  const std::string scenario = folder.write(
      "mine.yaml",
      "platform: {name: p, sites: {a: {}}, vms: {x: {site: a, type: gpu-server, gpus: [a100-pcie, a100-pcie]}}}\n"
      "models: [gpt2m]\ntechniques: [DDP, ZeRO-3]\ngroups: [all]\n"
      "training: {batch: 16, epochs: 1, blocks_per_epoch: 1000}\nsoftware: {stack: eager}\n");
  const auto iterations = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", scenario, "--format", "json"});
    const Json run = Json::parse(slmsim_run(more).out);
    EXPECT_EQ(run["predictions"][1]["assumed"].dump().find("module_hook") == std::string::npos, more.size() > 4);
    return std::pair{run["predictions"][0]["iteration_s"].get<double>(),
                     run["predictions"][1]["iteration_s"].get<double>()};
  };
  const auto [ddp, stage3] = iterations({});
  const auto [same, free] = iterations({"--set", "software.framework.module_hook=0s"});
  EXPECT_EQ(ddp, same);
  // 24 layers, forward and backward, 2 ms each: what of it computing and gathering do not hide.
  EXPECT_GE(stage3, free);
  EXPECT_LE(stage3, free + 2 * 24 * 2e-3 + 1e-9);
  EXPECT_GT(stage3, ddp);
}

}  // namespace
}  // namespace slmsim::answer_test
