// Tiles and bars of the page: what is shown, in which order, and how long.
#include <gmock/gmock.h>

#include "sim/predict/result.h"
#include "sim/report/page/page.h"

namespace slmsim::comparison_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two equal sites of one GPU, far apart.
constexpr const char* kScenario = R"(platform:
  name: two
  sites: {lab: {}, far: {}}
  vms:
    desk: {site: lab, type: workstation, gpus: [rtx3090]}
    shelf: {site: far, type: workstation, gpus: [rtx3090]}
  links:
    wan: {between: [lab, far], rtt: 20 ms, bandwidth: 1 Gbps, loss: 1e-5}
models: [gpt2m]
techniques: [Data, Pipeshard]
training: {batch: 8, epochs: 2, blocks_per_epoch: 800}
)";

// The techniques on both sites and Data on each, which take `both`, `pipeline` and `each` seconds.
RunResult run_of(double both, double pipeline, double each) {
  const ScenarioText text{.text = kScenario, .file = SLMSIM_SOURCE_DIR "/mine.yaml"};
  RunResult result = run_scenario(load_scenario(text, {"groups=[all, sites]"}), {});
  std::erase_if(result.predictions, [](const Prediction& p) { return p.gpus == 1 && p.status != Status::kOk; });
  std::erase_if(result.predictions,
                [](const Prediction& p) { return p.gpus == 1 && p.technique->name != std::string("Data"); });
  for (Prediction& p : result.predictions)
    p.job = Seconds{p.gpus == 1 ? each : p.technique->name == std::string("Data") ? both : pipeline};
  result.selections = {select_technique(result.scenario, result.predictions, result.scenario.selection.algorithm)};
  return result;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// 60 s on each site, 120 s and 240 s on both: lengths 1/4, 1/2 and 1 of the axis, which ends with the longest.
TEST(Comparison, HasLinearBarsFromZero) {
  const RunResult result = run_of(120, 240, 60);
  const std::string html = comparison_section(report_of(result, 0));
  for (const char* width : {"width=\"25.000%\"", "width=\"50.000%\"", "width=\"100.000%\""})
    EXPECT_EQ(count_of(html, width), 1u) << width;
  EXPECT_THAT(html, Not(HasSubstr("class=\"gap\"")));
  EXPECT_LT(html.find("Data on lab or far"), html.find("Data on lab+far"));
  EXPECT_LT(html.find("Data on lab+far"), html.find("Pipeshard on lab+far"));
  EXPECT_THAT(html, AllOf(HasSubstr(", the pick"), HasSubstr(", 2.00\u00d7"), HasSubstr(", 4.00\u00d7")));
}

// Above five times the shortest a bar is broken; the others keep their ratio on the first 88 % of the width.
TEST(Comparison, BreaksFarLongerBars) {
  const RunResult result = run_of(120, 6000, 60);
  const std::string html = comparison_section(report_of(result, 0));
  EXPECT_EQ(count_of(html, "class=\"gap\""), 1u);
  for (const char* width : {"width=\"44.000%\"", "width=\"88.000%\"", "width=\"100.000%\""})
    EXPECT_EQ(count_of(html, width), 1u) << width;
  EXPECT_THAT(html, HasSubstr("100.0 min, 100\u00d7"));
}

TEST(Tiles, AreTimeMemoryCertaintyAndCost) {
  const RunResult result = run_of(120, 240, 60);
  ModelReport report = report_of(result, 0);
  std::string html = tiles_section(report, "--intervals");
  EXPECT_EQ(count_of(html, "<div class=\"tile\">"), 4u);
  EXPECT_THAT(html, AllOf(HasSubstr(">1.0 min<"), HasSubstr(">How sure</span><span class=\"value\">\u2013<"),
                          HasSubstr("--intervals"), HasSubstr(" GPU-hours")));
  report.verdict =
      Verdict{.model = "gpt2m",
              .best = 0,
              .as_good = {},
              .level = 0.8,
              .job = Interval{48, 90},
              .right = 0.66,
              .fits = 0.97,
              .faster = Suggestion{"--set software.stack=compiled", "Data on lab", Seconds{30}},
              .would_fit = {},
              .key_assumption = KeyAssumption{"link wan: loss 1e-5", Interval{54, 72}, "slmsim-netprobe"},
              .nearest = NearestValidated{"two FABRIC sites", "docs/validation/fabric.md", 0.13, 1, {"3 sites"}}};
  html = tiles_section(report, "--intervals");
  EXPECT_THAT(html, AllOf(HasSubstr("80 % interval: 48.0 s to 1.5 min"), HasSubstr(">66 %<"),
                          HasSubstr("fits, 97 % sure"), Not(HasSubstr("--intervals"))));
  EXPECT_THAT(
      facts_section(report),
      AllOf(HasSubstr("<code>--set software.stack=compiled</code> about 30.0 s with Data on lab"),
            HasSubstr(
                "link wan: loss 1e-5: then the job takes 54.0 s to 1.2 min; measure with <code>slmsim-netprobe</code>"),
            HasSubstr("two FABRIC sites (docs/validation/fabric.md), 13 % off in the median; beyond it: 3 sites")));
}

}  // namespace
}  // namespace slmsim::comparison_test
