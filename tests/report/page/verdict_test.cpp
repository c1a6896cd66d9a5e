// The verdict on a run, in plain words of a page.
#include <gmock/gmock.h>

#include "sim/predict/result.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim::verdict_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two GPUs each in two VMs at lab, one VM at far; "desk" is no site.
constexpr const char* kScenario = R"(platform:
  name: two
  sites: {lab: {}, far: {}}
  vms:
    desk: {site: lab, type: workstation, gpus: [rtx3090, rtx3090]}
    shelf: {site: lab, type: workstation, gpus: [rtx3090, rtx3090]}
    rented: {site: far, type: gcp-a2-highgpu-1g, gpus: [t4]}
  links:
    wan: {between: [lab, far], rtt: 20 ms, bandwidth: 1 Gbps, loss: 1e-5}
models: [gpt2m]
techniques: [Data, ZeRO2]
training: {batch: 8, epochs: 2, blocks_per_epoch: 800}
)";

RunResult run_of(const Overrides& overrides = {}) {
  const ScenarioText text{.text = kScenario, .file = SLMSIM_SOURCE_DIR "/mine.yaml"};
  return run_scenario(load_scenario(text, overrides), {});
}

TEST(Groups, AreCalledByTheSitesTheyAre) {
  const Platform platform = run_of({"groups=far"}).scenario.platform;
  EXPECT_EQ(group_words(platform, {"desk", "shelf"}), "lab");
  EXPECT_EQ(group_words(platform, {"desk", "shelf", "rented"}), "lab+far");
  EXPECT_EQ(group_sentence(platform, {"desk", "shelf", "rented"}), "lab and far");
  EXPECT_EQ(group_words(platform, {"desk"}), "desk");
  EXPECT_EQ(group_words(platform, {"desk", "rented"}), "desk+rented");
  EXPECT_EQ(group_words(platform, {"rented/0"}), "rented/0");
}

TEST(Groups, AreCalledByTheirVmsWhereASitesNameIsThatOfAVmElsewhere) {
  Platform platform = run_of({"groups=far"}).scenario.platform;
  platform.vms[2].name = "lab";
  EXPECT_EQ(group_words(platform, {"desk", "shelf"}), "desk+shelf");
  EXPECT_EQ(group_words(platform, {"lab"}), "far");
}

TEST(Compared, NamesTheKindsOfGroups) {
  EXPECT_EQ(compared_text(run_of().scenario), "all 5 GPUs together, each site, each VM");
  EXPECT_EQ(compared_text(run_of({"groups=[all, lab]"}).scenario), "all 5 GPUs together, 1 of 2 sites");
  EXPECT_EQ(compared_text(run_of({"groups=[desk, [desk, rented]]"}).scenario), "1 of 3 VMs, 1 other group");
}

TEST(Compared, TellsWhatWasLeftOutForBeingMany) {
  EXPECT_EQ(
      compared_text(load_scenario(ScenarioText{.text = kScenario, .file = SLMSIM_SOURCE_DIR "/mine.yaml"},
                                  {"platform.vms.desk.count=31"})),
      "all 65 GPUs together, each VM; whole sites skipped as too many, groups: [all, pairs, sites, each] adds them");
}

TEST(Verdict, NamesSitesAndWhatIsNear) {
  const RunResult result = run_of({"groups=[all, lab]"});
  const ModelReport report = report_of(result, 0);
  ASSERT_NE(report.pick(), nullptr);
  EXPECT_THAT(verdict_text(report), AllOf(HasSubstr(" on lab alone: "), Not(HasSubstr("desk"))));
  EXPECT_THAT(near_text(report), HasSubstr(" on lab "));
  EXPECT_EQ(workload_text(report),
            "Workload: gpt2m in fp16; 8 sequences of 1024 tokens in a step, 8192 tokens; 2 epochs of 800 sequences, "
            "200 steps.");
}

TEST(Verdict, SaysThatNothingElseRuns) {
  const RunResult result = run_of({"groups=far", "techniques=Data"});
  EXPECT_EQ(near_text(report_of(result, 0)), "Nothing else runs.");
}

// On one GPU all techniques do the same.
TEST(Verdict, CallsEqualsEqual) {
  const RunResult result = run_of({"groups=far"});
  EXPECT_THAT(near_text(report_of(result, 0)), HasSubstr("Within 10 %: ZeRO2 on far (equal)."));
}

// 60 layers of 2048 with a vocabulary of 128 256 keep some 60 GiB of states in the host's 64 GiB, beside buffers.
TEST(Tiles, NameTheHostWhoseMemoryLacks) {
  const RunResult result =
      run_of({"groups=desk", "techniques=[ZeRO-3-CPU]", "models=llama-3.2-1b", "models.0.layers=60",
              "models.0.sequence=1024", "training.rematerialisation=yes", "training.batch=2"});
  const ModelReport report = report_of(result, 0);
  ASSERT_EQ(report.pick(), nullptr);
  EXPECT_THAT(tiles_section(report, ""),
              AllOf(HasSubstr("Memory of a host"), HasSubstr(" of 64.0 GiB"), HasSubstr("desk/memory does not hold it"),
                    Not(HasSubstr("fullest GPU"))));
  EXPECT_EQ(lacking_store(*report.predictions.front())->name, "desk/memory");
}

TEST(Comparison, TellsTheRuleInPlainWords) {
  const RunResult result = run_of({"groups=[all, sites]"});
  const std::string html = figures_section(report_of(result, 0));
  EXPECT_THAT(html, HasSubstr("How the pick is made"));
  EXPECT_LT(html.find("The pick has the shortest job."), html.find("Algorithm 1 of arXiv 2602.02632"));
}

}  // namespace
}  // namespace slmsim::verdict_test
