// The timeline of an iteration: all of it, or of many micro-batches the first and the last.
#include <gmock/gmock.h>

#include "sim/report/page/page.h"
#include "sim/scenario/scenario.h"

namespace slmsim::timeline_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kScenario = R"(platform:
  name: one
  sites: {lab: {}}
  vms: {desk: {site: lab, type: workstation, gpus: [rtx3090]}}
models: [gpt2m]
techniques: [Data]
training: {batch: 8, epochs: 1, blocks_per_epoch: 8}
)";

// One GPU that computes a second forward and a second backward for each micro-batch.
std::string page_of(int micro_batches) {
  const ScenarioText text{.text = kScenario, .file = SLMSIM_SOURCE_DIR "/mine.yaml"};
  TaskGraph graph({}, 1);
  const TagId forward = graph.tag({"fwd", TaskClass::kForward}), backward = graph.tag({"bwd", TaskClass::kBackward});
  std::vector<TaskId> before;
  for (int i = 0; i < 2 * micro_batches; ++i)
    before = {graph.compute(0, Seconds{1}, i % 2 == 0 ? forward : backward, before)};
  return timeline_bars(graph, simulate(graph), load_scenario(text, {}).platform);
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(PageTimeline, ShowsFewMicroBatchesWhole) {
  const std::string html = page_of(5);
  EXPECT_THAT(html, Not(HasSubstr("left out")));
  EXPECT_EQ(count_of(html, "y=\"1\" width=\"10.000%\" height=\"14\""), 10u);  // 1 s of 10 s each
}

// Of 20 micro-batches three at each end: 12 s on 95 % of the width, 7.917 % a second, in one scale.
TEST(PageTimeline, ShowsTheFirstAndTheLastOfMany) {
  const std::string html = page_of(20);
  EXPECT_THAT(html, HasSubstr("From 0 to 40 s; 6 s to 34 s is left out."));
  EXPECT_EQ(count_of(html, "y=\"1\" width=\"7.917%\" height=\"14\""), 12u);
  EXPECT_EQ(count_of(html, "class=\"gap\""), 1u);
  EXPECT_THAT(html, HasSubstr("100 % busy"));
}

}  // namespace
}  // namespace slmsim::timeline_test
