// `slmsim run --trace`: what Perfetto shows is one iteration in which no GPU does two things at once.
#include <algorithm>

#include "tests/cli/prediction.h"

namespace slmsim {
namespace {

struct Span {
  double start, finish;  // microseconds
  std::string name;
};

// Times are printed as doubles of up to some 1e10 us: they are right to 1e-5 us.
constexpr double kMicrosecondRounding = 1e-4;

std::map<std::pair<int, int>, std::vector<Span>> tracks_of(const Json& trace) {
  std::map<std::pair<int, int>, std::vector<Span>> tracks;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const double start = event.at("ts"), length = event.at("dur");
    EXPECT_GE(start, 0);
    EXPECT_GE(length, 0) << event.dump();
    tracks[{event.at("pid"), event.at("tid")}].push_back({start, start + length, event.at("name")});
  }
  return tracks;
}

class Trace : public testing::TestWithParam<std::string> {};

TEST_P(Trace, IsOneIterationWithoutOverlaps) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  for (const auto& scenario : kShippedScenarios) {
    SCOPED_TRACE(scenario);
    const Json run = run_json({scenario_file(scenario), "--technique", GetParam(), "--set", "models=[gpt2m]", "--set",
                               "groups=all", "--trace", file});
    const Json trace = Json::parse(contents(file), nullptr, false);
    ASSERT_FALSE(trace.is_discarded());
    double end = 0;
    for (auto& [track, spans] : tracks_of(trace)) {
      std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
      for (std::size_t i = 0; i < spans.size(); ++i) {
        end = std::max(end, spans[i].finish);
        if (i == 0) continue;
        EXPECT_LE(spans[i - 1].finish, spans[i].start + kMicrosecondRounding)
            << "track " << track.first << "/" << track.second << ": " << spans[i - 1].name << " and " << spans[i].name;
      }
    }
    const double iteration = run.at("predictions")[0].at("iteration_s");
    // Where iterations differ, iteration_s is their mean and the trace shows one of them: little in a cycle, more where
    // segments are lost (GAT-AMST).
    const double difference = scenario == "gat-amst" ? 0.05 : 1e-3;
    EXPECT_NEAR(end / 1e6, iteration, difference * iteration);
  }
}

TEST_P(Trace, NamesEveryTrack) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  run_json({"scenarios/gat-amst.yaml", "--technique", GetParam(), "--trace", file});
  const Json trace = Json::parse(contents(file));
  std::map<std::pair<int, int>, std::string> names;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M" && event.at("name") == "thread_name")
      names[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
  }
  for (const auto& [track, spans] : tracks_of(trace)) EXPECT_NE(names[track], "");
}

INSTANTIATE_TEST_SUITE_P(All, Trace, testing::Values("Data", "ZeRO2", "Shard", "Pipeshard"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace slmsim
