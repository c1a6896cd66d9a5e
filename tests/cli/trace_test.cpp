// `slmsim run --trace`: what Perfetto shows is one iteration in which no GPU does two things at once.
#include <algorithm>
#include <set>

#include "tests/cli/prediction.h"
#include "tests/word_name.h"

namespace slmsim::trace_test {
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
    const double shown = trace.at("otherData").at("iteration_s");
    EXPECT_NEAR(end / 1e6, shown, 1e-9 * (1 + shown));  // nanoseconds
    const double iteration = run.at("predictions")[0].at("iteration_s");
    // Where iterations differ, iteration_s is their mean and the trace shows one of them: little in a cycle, more where
    // segments are lost (GAT-AMST).
    const double difference = scenario == "gat-amst" ? 0.05 : 1e-3;
    EXPECT_NEAR(end / 1e6, iteration, difference * iteration);
  }
}

// The work of a GPU's process on its host and its drives has tracks beside the GPUs', and every kind of task is named.
TEST(TraceOfANode, TellsHostsAndDrivesFromMessages) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  run_json({"scenarios/xe8545-1.yaml", "--technique", "Infinity-P", "--set", "models.0.layers=4", "--trace", file});
  const Json trace = Json::parse(contents(file));
  std::map<std::string, int> names;
  std::set<std::string> kinds;
  int arrows = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M" && event.at("name") == "thread_name") ++names[event.at("args").at("name")];
    if (event.at("ph") == "X") kinds.insert(event.at("cat"));
    arrows += event.at("ph") == "s" ? 1 : 0;
  }
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
  for (const char* name : {"node0/0", "node0/0 CPU", "node0/3 writes nvme1", "node0/0 -> node0/1"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const char* kind : {"forward", "backward", "optimizer", "launch", "framework", "collective", "drive"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  EXPECT_GT(arrows, 0);
}

TEST(TraceOfANode, HasArrowsWhereBucketsAreReducedDuringTheBackwardPass) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  run_json({"scenarios/xe8545-1.yaml", "--technique", "DDP", "--trace", file});
  EXPECT_NE(contents(file).find("\"ph\":\"s\""), std::string::npos);
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

// 8 sequences, each a forward pass and a backward pass of twice its FLOPs: matrix products of gpt2m, 2 m n k.
// Per layer 2 s h (3 h + h + 8 h) and attention's 2 x 2 s s h; the head 2 s h V.
TEST_P(Trace, HoldsTheFlopsOfTheModel) {
  const double s = 1024, h = 1024, layers = 24, vocabulary = 50257;
  const double forward = layers * (2 * s * h * 12 * h + 4 * s * s * h) + 2 * s * h * vocabulary;
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  for (const char* more : {"groups=all", "groups=each"}) {
    run_json({"scenarios/tacc-tacc.yaml", "--technique", GetParam(), "--set", "models=gpt2m", "--set", more, "--trace",
              file});
    double flops = 0;
    const Json trace = Json::parse(contents(file));
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") flops += event.at("args").value("flops", 0.0);
    }
    EXPECT_NEAR(flops, 8 * 3 * forward, 1e-6 * flops) << more;
  }
}

// Bytes of a link's counter are those that the run reports, rate by rate.
TEST_P(Trace, CountsTheBytesOfEveryLink) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  const Json run = run_json({"scenarios/utah-mass.yaml", "--technique", GetParam(), "--set", "models=gpt2m", "--set",
                             "groups=all", "--trace", file});
  const Json trace = Json::parse(contents(file));
  struct Counter {
    double time = 0, rate = 0, bytes = 0;
  };
  std::map<std::string, Counter> counters;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "C") continue;
    Counter& counter = counters[event.at("name")];
    const double time = event.at("ts");
    counter.bytes += counter.rate * (time - counter.time);
    counter.time = time;
    counter.rate = event.at("args").at("MB/s");
  }
  for (const auto& link : run.at("predictions")[0].at("links")) {
    const std::string name = link.at("link");
    const double bytes = link.at("bytes");
    // Times are to the nanosecond, rates to six digits.
    EXPECT_NEAR(counters[name].bytes, bytes, 0.01 * bytes) << name;
    EXPECT_EQ(counters[name].rate, 0) << name;
  }
}

TEST_P(Trace, LeadsArrowsForwardFromInsideATask) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  run_json({"scenarios/utah-mass.yaml", "--technique", GetParam(), "--set", "models=gpt2m", "--set", "groups=all",
            "--trace", file});
  const Json trace = Json::parse(contents(file));
  auto tracks = tracks_of(trace);
  for (auto& [track, spans] : tracks)
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::map<int, double> starts;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "s" && event.at("ph") != "f") continue;
    const double time = event.at("ts");
    const auto& spans = tracks.at({event.at("pid"), event.at("tid")});
    auto after = std::upper_bound(spans.begin(), spans.end(), time + kMicrosecondRounding,
                                  [](double t, const Span& span) { return t < span.start; });
    ASSERT_NE(after, spans.begin());
    EXPECT_LE(time, std::prev(after)->finish + kMicrosecondRounding);
    if (event.at("ph") == "s") {
      starts[event.at("id")] = time;
    } else {
      EXPECT_LE(starts.at(event.at("id")), time);
    }
  }
  EXPECT_FALSE(starts.empty());
}

TEST(TraceNames, AreThosePeopleUse) {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  run_json({"scenarios/utah-mass.yaml", "--technique", "Pipeshard", "--set", "models=gpt2m", "--set", "groups=all",
            "--trace", file});
  const std::string trace = contents(file);
  for (const char* name : {"\"fwd L3 mb2\"", "\"send act mb0\"", "\"send grad mb1\"", "\"adam\"", "\"launch\""})
    EXPECT_NE(trace.find(name), std::string::npos) << name;
  run_json({"scenarios/utah-mass.yaml", "--technique", "Data", "--set", "models=gpt2m", "--trace", file});
  EXPECT_NE(contents(file).find("\"all-reduce grads\""), std::string::npos);
}

// Within the ten seconds of processor time that slmsim_run gives.
TEST(LargeTrace, ShowsAThousandGpus) {
  const TemporaryFolder folder;
  std::string platform = "name: large\nsites: {hall: {}}\nvms:\n";
  for (int i = 0; i < 128; ++i)
    platform += "  v" + std::to_string(i) +
                ": {site: hall, type: box, gpus: [h100, h100, h100, h100, h100, h100, h100, h100]}\n";
  std::filesystem::create_directories(folder.file("platforms/vms"));
  folder.write("platforms/vms/box.yaml",
               "name: box\nnic: 400 GB/s\npeer_to_peer: yes\nnvlink: yes\ndevice_latency: 3 us\n"
               "tcp: {net.ipv4.tcp_rmem: 64 MiB, net.ipv4.tcp_wmem: 64 MiB, copy_rate: 3 GB/s}\n");
  folder.write("platforms/large.yaml", platform);
  const std::string scenario = folder.write("large.yaml",
                                            "platform: large\nmodels: [gpt2L]\ngroups: [all]\n"
                                            "techniques: {Pipeshard: {stages: 16, micro_batches: 8}}\n"
                                            "training: {batch: 1024, epochs: 1, blocks_per_epoch: 10240}\n");
  const RunOutcome run = slmsim_run({"run", scenario, "--trace", folder.file("trace.json")});
  ASSERT_EQ(run.status, 0) << run.err;
  const Json trace = Json::parse(contents(folder.file("trace.json")), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  std::size_t gpus = 0;
  for (const auto& event : trace.at("traceEvents"))
    gpus += event.at("name") == "thread_name" && event.at("pid") == 2 ? 1 : 0;
  EXPECT_EQ(gpus, 1024);
}

INSTANTIATE_TEST_SUITE_P(All, Trace, testing::Values("Data", "ZeRO2", "Shard", "Pipeshard"),
                         [](const auto& one) { return word_name(one.param); });

}  // namespace
}  // namespace slmsim::trace_test
