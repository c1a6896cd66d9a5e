// The table of `slmsim run`.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/phrases.h"

namespace slmsim::table_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kRoot = SLMSIM_SOURCE_DIR;

RunResult run_of(const std::string& name, const Overrides& set = {}) {
  return run_scenario(load_scenario(kRoot / name, set), {});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

std::string table_with(const RunResult& result, void (*change)(TableOptions&)) {
  TableOptions options;
  change(options);
  return to_table(result, options);
}

TEST(Table, HasAtMostAHundredColumns) {
  for (const char* name : {"gat-amst", "utah-gpn", "compare", "spot-job", "a100-gpt2-124m", "xe8545-1", "far-apart"}) {
    const RunResult result = run_of(fmt::format("scenarios/{}.yaml", name));
    for (const bool all : {false, true}) {
      TableOptions options;
      options.all = options.assumed = options.steps = all;
      options.scenario = fmt::format("scenarios/{}.yaml", name);
      for (const auto& line : lines_of(to_table(result, options))) {
        EXPECT_LE(line.size(), 100) << name << ": " << line;
      }
    }
  }
}

TEST(Table, SortsByTimeAndJoinsEqualRows) {
  const std::string table = to_table(run_of("scenarios/gat-amst.yaml", {"models=gpt2m"}));
  std::vector<std::string> rows;
  for (const auto& line : lines_of(table)) {
    if (line.starts_with("  ") && line.find(" x ") != std::string::npos && line.find("BEST") == std::string::npos)
      rows.push_back(line);
  }
  // Of twelve predictions those of both VMs are equal in pairs: eight rows, the four slow ones last.
  ASSERT_EQ(rows.size(), 7u) << table;  // the best one has no factor
  EXPECT_THAT(rows[0], AllOf(HasSubstr("ZeRO2"), HasSubstr("gat, amst")));
  EXPECT_THAT(rows.back(), AllOf(HasSubstr("Shard"), HasSubstr("gat+amst")));
  EXPECT_THAT(table, AllOf(HasSubstr(" best "), Not(HasSubstr("slower: --all")), Not(HasSubstr("Algorithm 1"))));
}

TEST(Table, ListsTheBestRowsOnly) {
  const RunResult result = run_of("scenarios/compare.yaml");
  EXPECT_THAT(to_table(result), HasSubstr(" slower: --all\n"));
  EXPECT_THAT(table_with(result, [](TableOptions& o) { o.all = true; }), Not(HasSubstr("slower: --all")));
}

// "4.83 times slower": the fastest row on four GPUs beside the fastest of all.
std::string times_slower(const RunResult& result) {
  const auto fastest = [&](int gpus) {
    double least = INFINITY;
    for (const Prediction& p : result.predictions)
      if (p.is_timed() && p.gpus >= gpus) least = std::min(least, p.job.value);
    return least;
  };
  return fmt::format("All 4 GPUs: {:.3g} times slower (Pipeshard", fastest(4) / fastest(0));
}

TEST(Table, OpensWithTheBestChoice) {
  const RunResult result = run_of("scenarios/gat-amst.yaml", {"models=gpt2m"});
  const std::string table = to_table(result);
  EXPECT_THAT(table, HasSubstr("\nBEST     Data on gat (2 x a30), 30.7 min, 9.7 of 21.6 GiB, how sure: --intervals\n"));
  const auto pipeline = std::ranges::find_if(result.predictions, [](const Prediction& p) {
    return p.gpus == 4 && p.technique->name == std::string("Pipeshard");
  });
  const Breakdown& b = pipeline->breakdown;
  const double waits = 100 * ((b.exposed_communication + b.overhead) / pipeline->iteration);
  EXPECT_THAT(table, HasSubstr("As good: ZeRO2 on gat. " + times_slower(result) +
                               fmt::format(", waiting {:.0f} % of the time).\n", waits)));
}

TEST(Table, CostsTheWholeJobWhereItIsDrawn) {
  // 1 USD for each of more than a hundred gigabytes that leave the sites, beside the hours of the VMs.
  const RunResult result =
      run_scenario(load_scenario(kRoot / "scenarios/spot-job.yaml", {"job.egress_per_gigabyte=1"}), {.links = true});
  const auto best = std::ranges::find_if(result.predictions, [&](const Prediction& p) {
    return p.technique->name == std::string("LocalSGD") && p.gpus == 4;
  });
  const auto at = static_cast<std::size_t>(best - result.predictions.begin());
  const double cost = result.jobs[at]->cost->median;
  EXPECT_GT(cost, 10 * *best->bill.cost);
  EXPECT_THAT(to_table(result), HasSubstr(fmt::format(", {:.0f} USD,", cost)));
}

TEST(Table, HasTheBestChoiceWithinFiveLines) {
  for (const char* name : {"scenarios/gat-amst.yaml", "docs/examples/5-three-sites/scenario.yaml"}) {
    const auto lines = lines_of(to_table(run_of(name)));
    const auto best = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("BEST"); });
    EXPECT_LT(best - lines.begin(), 5) << name;
  }
}

TEST(Table, SaysOnceWhatWaysBetweenSitesHaveInCommon) {
  Overrides equal;
  for (const char* link : {"lab-partner", "lab-cloud", "partner-cloud"}) {
    for (const char* value : {"rtt=30ms", "bandwidth=1Gbps", "loss=1.2e-5"})
      equal.push_back(fmt::format("platform.links.{}.{}", link, value));
  }
  const std::string table = to_table(run_of("docs/examples/5-three-sites/scenario.yaml", equal));
  EXPECT_THAT(table,
              HasSubstr("\nLINKS    lab to partner by lab-partner, lab to cloud by lab-cloud, partner to cloud by\n"));
  const std::size_t first = table.find("RTT 30 ms");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(table.find("RTT 30 ms", first + 1), std::string::npos);
}

TEST(Table, SaysThatAllGpusAreIdleWhereAPipelineWaitsForItsStages) {
  RunResult result = run_of("scenarios/gat-amst.yaml", {"models=gpt2m"});
  for (auto& p : result.predictions) {
    if (p.gpus < 4) continue;
    p.breakdown = {};
    p.breakdown.compute = p.iteration * 0.6;
    p.breakdown.pipeline_bubble = p.iteration * 0.4;
  }
  EXPECT_THAT(to_table(result), HasSubstr("(Pipeshard, idle 40 % of the time)."));
  for (auto& p : result.predictions) {
    if (p.gpus == 4) p.breakdown.pipeline_bubble = Seconds{0};
  }
  EXPECT_THAT(to_table(result), HasSubstr(times_slower(result) + ")."));
}

TEST(Table, SaysNotHowSureWhereOneGpuIsAllThereIs) {
  EXPECT_THAT(to_table(run_of("scenarios/gat-amst.yaml", {"models=gpt2m", "groups=[[gat/0]]"})),
              AllOf(HasSubstr("BEST "), Not(HasSubstr("sure"))));
}

TEST(Table, SaysHowSureItIs) {
  const RunResult result = run_of("scenarios/gat-amst.yaml", {"models=gpt2m"});
  TableOptions options;
  options.verdicts = verdicts_of(result);
  Verdict& verdict = options.verdicts.front();
  verdict.job = Interval{26 * 60, 36 * 60};
  verdict.right = 0.66;
  verdict.fits = 0.8;
  verdict.faster = Suggestion{"--set software.stack=compiled", "Data on gat", Seconds{7 * 60}};
  verdict.key_assumption = KeyAssumption{"link wan: loss 0", {1200, 2400}, "slmsim-netprobe"};
  verdict.nearest = NearestValidated{"a cluster", "docs/validation/x.md", 0.13, 1, {"3 sites"}};
  options.scenario = "own.yaml";
  const std::string table = to_table(result, options);
  EXPECT_THAT(table,
              HasSubstr("Data on gat (2 x a30), 30.7 min (26.0 to 36.0), 9.7 of 21.6 GiB, fits: 80 %, 66 % sure\n"));
  EXPECT_THAT(table, HasSubstr("\nFASTER   --set software.stack=compiled   Data on gat, 7.00 min\n"));
  EXPECT_THAT(table, HasSubstr("largest effect: link wan: loss 0 (20.0 to 40.0 min; measure:"));
  EXPECT_THAT(table,
              HasSubstr("\nLIKE     nearest validated: a cluster, 13 % off (docs/validation/x.md); outside all"));
  EXPECT_THAT(
      table, HasSubstr("\nNEXT     slmsim explain own.yaml | slmsim plan own.yaml | slmsim report own.yaml -o FILE\n"));
}

TEST(Table, FoldsWhatDoesNotFit) {
  const RunResult result = run_of("scenarios/utah-gpn.yaml", {"models=gpt2L"});
  const std::string table = to_table(result);
  EXPECT_THAT(table, HasSubstr("\nNO FIT   Data on utah+gpn, gpn; ZeRO2 on gpn (15 to 16.3 of up to 13.5 GiB); ZeRO2"));
  EXPECT_THAT(table, Not(HasSubstr("more per GPU")));
  EXPECT_THAT(table_with(result, [](TableOptions& o) { o.all = true; }), HasSubstr("ZeRO2 on gpn: gpn/0 needs 15 GiB"));
}

// The optimizer's state of 3.9 billion parameters, in 64 GiB of the host; the GPU itself has room.
TEST(Table, NamesTheHostWhereItsMemoryLacks) {
  const RunResult result =
      run_of("docs/examples/1-one-gpu/scenario.yaml",
             {"techniques=[ZeRO-3-CPU]", "models=llama-3.2-1b", "models.0.layers=60", "models.0.sequence=1024",
              "training={batch: 1, epochs: 1, blocks_per_epoch: 1, rematerialisation: yes}",
              "platform.vms.desk.type=workstation", "platform.vms.desk.gpus=[rtx3090]"});
  const std::string table = to_table(result);
  EXPECT_THAT(table, ContainsRegex("\nNO FIT   ZeRO-3-CPU on desk: desk/memory needs [0-9.]+ GiB of 64 GiB\n"));
  EXPECT_THAT(table, Not(HasSubstr(" of 23.6 GiB)")));
}

TEST(Table, AsksForALargerClusterOnlyAfterASearch) {
  const RunResult result = run_of("docs/examples/1-one-gpu/scenario.yaml", {"techniques=[DDP]"});
  EXPECT_THAT(to_table(result), AllOf(HasSubstr("slmsim plan"), Not(HasSubstr("larger cluster"))));
  EXPECT_THAT(table_with(result, [](TableOptions& o) { o.scenario = "x.yaml"; }), HasSubstr("or a larger cluster"));
}

TEST(Table, PrintsStepsAndAssumptionsWhereAsked) {
  const RunResult result = run_of("scenarios/gat-amst.yaml", {"models=gpt2m"});
  EXPECT_THAT(table_with(result, [](TableOptions& o) { o.steps = true; }),
              HasSubstr("Algorithm 1, amended: Data on gat\n"));
  const auto all = all_assumptions(result);
  const std::string listed = table_with(result, [](TableOptions& o) { o.assumed = true; });
  EXPECT_THAT(to_table(result), HasSubstr(fmt::format("\nASSUMED  {} values; all: --assumed\n", all.size())));
  for (const auto& one : all) EXPECT_THAT(listed, HasSubstr(one.text.substr(0, 20)));
}

TEST(Table, MarksLabelsInColour) {
  EXPECT_EQ(coloured("BEST     x\n  FASTER\nLIKE     y\nutah: z\n"),
            "\033[1;32mBEST     \033[0mx\n  FASTER\n\033[1mLIKE     \033[0my\nutah: z\n");
  EXPECT_EQ(coloured(""), "");
}

TEST(Phrases, WrapAtSpaces) {
  const std::string word(40, 'x');
  EXPECT_EQ(wrapped("AB ", word + " " + word + " " + word), "AB " + word + " " + word + "\n   " + word + "\n");
  EXPECT_EQ(wrapped("", std::string(120, 'x')), std::string(120, 'x') + "\n");
  EXPECT_EQ(wrapped("AB ", ""), "AB \n");
}

}  // namespace
}  // namespace slmsim::table_test
