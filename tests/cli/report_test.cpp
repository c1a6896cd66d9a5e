// `slmsim report`: the page says what `slmsim run` says, is complete in itself, and shows input as text.
#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/prediction.h"

namespace slmsim::report_test {
namespace {

std::string page_of(const std::vector<std::string>& arguments, int status = 0) {
  const TemporaryFolder folder;
  std::vector<std::string> words = {"report"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--output", folder.file("report.html")});
  const RunOutcome run = slmsim_run(words);
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(folder.count(), 1u);
  return contents(folder.file("report.html"));
}

// Tags close in order: the page is XML but for its first line.
void expect_well_formed(const std::string& page) {
  static const std::regex kTag(R"(<(/?)([a-zA-Z0-9]+)((?:\s+[a-zA-Z:-]+="[^"<]*")*)\s*(/?)>)");
  std::vector<std::string> open;
  for (std::sregex_iterator tag(page.begin(), page.end(), kTag), end; tag != end; ++tag) {
    if ((*tag)[4].length() > 0) continue;
    if ((*tag)[1].length() == 0) {
      open.push_back((*tag)[2]);
    } else {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), (*tag)[2]);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(ReportPage, TellsTheRunsPickFirst) {
  const std::vector<std::string> what = {"scenarios/gat-amst.yaml", "--set", "models=gpt2m"};
  const std::string page = page_of(what);
  const Json run = run_json(what);
  const std::string technique = run.at("selection").at("technique"), group = run.at("selection").at("group")[0];
  const auto verdict = page.find("Train gpt2m with " + technique + " on " + group + " alone: ");
  ASSERT_NE(verdict, std::string::npos);
  for (const char* later :
       {"<h3>Time of the job</h3>", "<summary>Memory</summary>", "<summary>Time of an iteration</summary>",
        "<summary>Round-trip time</summary>", "<summary>Timeline", "<summary>Inputs</summary>"})
    EXPECT_LT(verdict, page.find(std::string(later))) << later;
  expect_well_formed(page);
}

TEST(ReportPage, LoadsNothing) {
  const std::string page = page_of({"scenarios/utah-mass.yaml", "--set", "models=gpt2m"});
  for (const char* way : {"http://", "https://www", "src=", "<script", "@import", "<iframe"})
    EXPECT_EQ(page.find(way), std::string::npos) << way;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

// Before everything is predicted there is no page to tell.
TEST(ReportPage, IsNotWrittenWhereTimeIsOverBeforeThePredictions) {
  const TemporaryFolder folder;
  const RunOutcome run =
      slmsim_run({"report", "scenarios/gat-amst.yaml", "--time-limit", "0.001", "-o", folder.file("page.html")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("stopped before everything was predicted"));
  EXPECT_EQ(folder.count(), 0u);
}

TEST(ReportPage, IsTheSameTwice) {
  const std::vector<std::string> what = {"scenarios/tacc-tacc.yaml", "--set", "models=gpt2m"};
  EXPECT_EQ(page_of(what), page_of(what));
}

TEST(ReportPage, ShowsMarkupOfAnInputAsText) {
  const std::string page = page_of({"scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "groups=each", "--set",
                                    "description=\"<b onload='x'>&amp;\""});
  EXPECT_EQ(page.find("<b onload"), std::string::npos);
  EXPECT_NE(page.find("&lt;b onload=&#39;x&#39;&gt;&amp;amp;"), std::string::npos);
  expect_well_formed(page);
}

TEST(ReportPage, ShowsHostsAndDrivesWhereStateLiesThere) {
  const std::string page =
      page_of({"scenarios/xe8545-nvme-g.yaml", "--set", "models.0.layers=40", "--set", "techniques=Infinity"});
  for (const char* text : {"node0/0 reads nvme0", "node0/0 CPU", "node0/0 to host memory", "> backward<", "> drive<",
                           "waiting for the framework"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  expect_well_formed(page);
}

TEST(ReportPage, TellsTheRunsIntervals) {
  const std::vector<std::string> what = {
      "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "groups=gat", "--intervals"};
  const std::string page = page_of(what);
  const Json run = run_json(what);
  const double right = run.at("uncertainty").at("picks")[0].at("probability");
  const auto tile = page.find("<span class=\"name\">How sure</span>");
  ASSERT_NE(tile, std::string::npos);
  const std::string sure = right > 0.995 ? "over 99 %" : fmt::format("{:.0f} %", 100 * right);
  EXPECT_EQ(page.compare(page.find("value\">", tile) + 7, sure.size(), sure), 0) << sure;
  std::size_t timed = 0, whiskers = 0;
  for (const Json& prediction : run.at("predictions")) timed += prediction.contains("minutes_interval") ? 1 : 0;
  for (auto at = page.find("class=\"whisker\""); at != std::string::npos; at = page.find("class=\"whisker\"", at + 1))
    ++whiskers;
  EXPECT_EQ(timed, 4u);            // Data, ZeRO2, Shard and Pipeshard, on one group
  EXPECT_EQ(whiskers, 3 * timed);  // a line and its two ends
  expect_well_formed(page);
  EXPECT_EQ(page_of({"scenarios/gat-amst.yaml", "--set", "models=gpt2m"}).find("class=\"whisker\""), std::string::npos);
}

TEST(ReportPage, SaysThatNothingRunsAtAnyDistance) {
  const std::string page =
      page_of({"scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "models.0.layers=400"}, 1);
  EXPECT_NE(page.find("Nothing runs from"), std::string::npos);
  EXPECT_EQ(page.find("the pick stays the same"), std::string::npos);
}

TEST(ReportPage, SaysWhereValuesComeFrom) {
  const std::string page = page_of({"scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "groups=each"});
  EXPECT_NE(page.find("<td>platform.links.wan.loss</td><td>1.3e-5</td><td>inferred (fitted)</td>"), std::string::npos);
  EXPECT_NE(page.find(">measured</td><td>arXiv 2602.02632, Table I: round-trip latency by ping</td>"),
            std::string::npos);
}

TEST(ReportPage, SaysWhatLacksWhereNothingFits) {
  const std::string page =
      page_of({"scenarios/gat-amst.yaml", "--set", "models=gpt2m", "--set", "software.framework_memory=30 GiB"}, 1);
  EXPECT_NE(page.find("gpt2m cannot be trained here"), std::string::npos);
  EXPECT_NE(page.find("it would fit with "), std::string::npos);
  expect_well_formed(page);
}

// The pick on either side of the printed change is that of `slmsim run` there.
TEST(ReportPage, FindsWhereThePickChanges) {
  const std::vector<std::string> what = {"scenarios/gat-amst.yaml", "--set", "models=gpt2m"};
  const std::string page = page_of(what);
  std::smatch match;
  const std::regex change(
      "At ([0-9.]+) ms the pick changes from ([A-Za-z0-9]+) on ([a-z+]+) \\(below\\) to "
      "([A-Za-z0-9]+) on ([a-z+]+) ");
  ASSERT_TRUE(std::regex_search(page, match, change));
  for (const double side : {0.95, 1.05}) {
    auto moved = what;
    moved.insert(moved.end(),
                 {"--set", "platform.links.wan.rtt=" + std::to_string(std::stod(match[1]) * side) + " ms"});
    const Json selection = run_json(moved).at("selection");
    EXPECT_EQ(selection.at("technique"), match[side < 1 ? 2 : 4].str()) << side;
  }
}

TEST(ReportPage, SaysWhereItIsWhereNoFileIsNamed) {
  const TemporaryFolder folder;
  const RunOutcome run = slmsim_run({"report", "gat-amst", "--set", "models=gpt2m"}, folder.file(""));
  EXPECT_EQ(run.err, "slmsim: wrote report.html\n");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(ReportPage, RefusesBadInputAndWritesNothing) {
  const TemporaryFolder folder;
  const std::string file = folder.file("report.html");
  EXPECT_EQ(slmsim_run({"report", "no-such.yaml", "-o", file}).status, 2);
  EXPECT_EQ(slmsim_run({"report"}).status, 2);
  EXPECT_EQ(slmsim_run({"report", "scenarios/gat-amst.yaml", "--set", "models=gpt2m", "-o", "/no/such/x.html"}).status,
            2);
  EXPECT_EQ(folder.count(), 0u);
}

}  // namespace
}  // namespace slmsim::report_test
