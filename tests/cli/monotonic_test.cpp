// A longer path never makes an iteration faster, and a wider one never slower.
#include <utility>

#include "tests/cli/prediction.h"

namespace slmsim::monotonic_test {
namespace {

// Printed with nine digits.
// TCP sends what its window lets out in pieces, and where the pieces of neighbouring chunks meet shifts with the rate:
// an all-gather at 103 ms takes 0.5 % longer at 1 Gbps than at 500 Mbps. Where both directions are full the pieces also
// decide how long acknowledgements wait: Shard at 100 Mbps takes 2.6 % longer at 1 ms than at 5 ms.
constexpr double kPieces = 0.03;

using Settings = std::vector<std::string>;

std::map<std::string, double> iteration_times(const Settings& settings) {
  std::vector<std::string> words = {"scenarios/gat-amst.yaml", "--set", "models=[gpt2m]", "--set", "groups=all"};
  for (const auto& setting : settings) {
    words.push_back("--set");
    words.push_back("platform.links.wan." + setting);
  }
  const Json run = run_json(words);
  std::map<std::string, double> times;
  for (const auto& p : run.at("predictions")) times[p.at("technique")] = p.at("iteration_s");
  EXPECT_EQ(times.size(), 4);
  return times;
}

// `values` are ordered so that each is at least as good as the one after it.
void expect_never_faster(const std::string& key, const std::vector<std::string>& values, const Settings& others) {
  std::map<std::string, double> before;
  std::string better;
  for (const auto& value : values) {
    Settings settings = others;
    settings.push_back(key + "=" + value);
    const auto now = iteration_times(settings);
    for (const auto& [technique, time] : before) {
      EXPECT_GE(now.at(technique), time * (1 - kPieces))
          << technique << ": " << key << " " << better << " takes longer than " << value << ", with "
          << testing::PrintToString(others);
    }
    before = now;
    better = value;
  }
}

const std::vector<std::string> kRoundTrips = {"100 ns", "0.1 ms", "1 ms",   "5 ms",   "10 ms",
                                              "20 ms",  "57 ms",  "103 ms", "300 ms", "1 s"};
const std::vector<std::string> kBandwidths = {"1 Tbps", "100 Gbps", "40 Gbps",  "10 Gbps",
                                              "1 Gbps", "500 Mbps", "100 Mbps", "10 Mbps"};

TEST(LongerRoundTrip, IsNeverFasterOnAWidePath) {
  for (const std::string loss : {"loss=0", "loss=3e-6", "loss=1e-3"}) expect_never_faster("rtt", kRoundTrips, {loss});
}

TEST(LongerRoundTrip, IsNeverFasterOnANarrowPath) {
  for (const std::string loss : {"loss=0", "loss=3e-6"})
    expect_never_faster("rtt", kRoundTrips, {loss, "bandwidth=100 Mbps"});
}

TEST(WiderPath, IsNeverSlower) {
  for (const std::string rtt : {"rtt=0.2 ms", "rtt=5 ms", "rtt=103 ms"}) {
    expect_never_faster("bandwidth", kBandwidths, {rtt, "loss=0"});
    expect_never_faster("bandwidth", kBandwidths, {rtt, "loss=3e-6"});
  }
}

TEST(MoreLoss, IsNeverFaster) { expect_never_faster("loss", {"0", "1e-9", "1e-6", "1e-4", "1e-2"}, {}); }

TEST(SmallerBuffers, AreNeverFaster) {
  const std::string key = "platform.vms.gat.type.tcp.net.ipv4.tcp_";
  double before = 0;
  for (const std::string size : {"1 GiB", "64 MiB", "6 MiB", "1 MiB", "64 KiB"}) {
    const Json run =
        run_json({"scenarios/gat-amst.yaml", "-t", "Data", "--set", "models=[gpt2m]", "--set", "groups=all", "--set",
                  "platform.links.wan.loss=0", "--set", key + "rmem=" + size, "--set", key + "wmem=" + size});
    const double now = run.at("predictions")[0].at("iteration_s");
    EXPECT_GE(now, before * (1 - kPieces)) << size;
    before = now;
  }
}

}  // namespace
}  // namespace slmsim::monotonic_test
