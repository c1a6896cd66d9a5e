// Network measurements by tools as runs of a fit: their files and their predictions, by hand.
#include "sim/fit/pilot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/errors_of.h"
#include "tests/fit/written.h"

namespace slmsim::network_run_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two VMs of two GPUs, 50 ms apart, whose connections have at most 4 MiB under way: 84 MB/s.
Scenario far_apart(const std::string& link = "10 Gbps", const std::string& send_buffer = "4 MiB") {
  return load_scenario(written("network_run.yaml", fmt::format(R"(name: far-apart
models: gpt2m
techniques: [Data]
groups: [[a, b]]
training: {{batch: 8, epochs: 1, blocks_per_epoch: 8}}
platform:
  name: far-apart
  sites: {{here: {{}}, there: {{}}}}
  vms:
    a:
      site: here
      type: &machine
        name: machine
        nic: 10 Gbps
        device_latency: 0 s
        tcp: {{net.ipv4.tcp_rmem: 32 MiB, net.ipv4.tcp_wmem: {1}, copy_rate: 10 GB/s}}
      gpus: [a100-40, a100-40]
    b: {{site: there, type: *machine, gpus: [a100-40, a100-40]}}
  links: {{wan: {{between: [here, there], rtt: 50 ms, bandwidth: {0}}}}}
)",
                                                               link, send_buffer)));
}

double predicted(const Scenario& scenario, const NetworkRun& run) {
  return forecast_of(run, {"a", "b"}, scenario, Network(scenario.platform)).iteration;
}

std::filesystem::path table(const std::string& rows) {
  return written("network_runs.csv", "model,technique,group,what,value\n" + rows);
}

TEST(NetworkRun, OfWarmConnectionsIsTheirWindows) {
  const Scenario scenario = far_apart();
  const double window = 4 * kMebi;
  for (const int connections : {1, 2, 4}) {
    const NetworkRun run{{}, Bytes{connections * window / 0.05 * 10}, connections};
    EXPECT_NEAR(predicted(scenario, run), 10, 0.1) << connections;  // and the way of the last byte
  }
  // A new one first opens its window, from 10 segments by doublings: some ten round trips to megabytes.
  const NetworkRun warm{{}, Bytes{window - 1448}}, fresh{{}, Bytes{window}, 1, false};  // whole segments leave
  EXPECT_GE(predicted(scenario, warm), 0.025 - 1e-9);                                   // at once
  EXPECT_LE(predicted(scenario, warm), 0.075);                                          // or in two parts
  EXPECT_GT(predicted(scenario, fresh), 5 * 0.05);
  EXPECT_LT(predicted(scenario, fresh), 12 * 0.05);
}

TEST(NetworkRun, OfACollectiveIsItsRingWhereTheNetworkIsSlow) {
  // Four GPUs: each sends 3/2 of a buffer, over a link that is slow enough to hide other times. It is full both ways, so that
  // acknowledgements queue behind data, and now and then a window waits for them.
  const Scenario slow = far_apart("10 Mbps", "256 KiB");
  EXPECT_NEAR(predicted(slow, {Collective::kAllReduce, Bytes{64e6}}), 1.5 * 64e6 / 1.25e6, 0.08 * 77);
  EXPECT_NEAR(predicted(slow, {Collective::kAllGather, Bytes{64e6}}), 0.75 * 64e6 / 1.25e6, 0.06 * 38);
}

TEST(NetworkRun, ReadsNcclTests) {
  std::string text = "# nccl-tests version 2.13\n# Collective test starting: all_reduce_perf\n# Using devices\n";
  for (int rank = 0; rank < 4; ++rank)
    text += fmt::format("#  Rank {} Group 0 Pid 1 on {} device {} [0x07] NVIDIA {}\n", rank, rank < 2 ? "a" : "b",
                        rank % 2, rank < 2 ? "A30" : "T4");
  text += "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n";
  text += "#  (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)\n";
  for (int power = 10; power <= 27; ++power)
    text += fmt::format("{} {} float sum -1 {}.0 {:.4f} {:.4f} 0 11.2 {:.4f} 0.09 0\n", 1 << power, 1 << (power - 2),
                        100 * (power - 9), (1 << power) / (1e5 * (power - 9)), 1.5 * (1 << power) / (1e5 * (power - 9)),
                        (1 << power) / 11.2e3);
  text += "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.1\n";
  written("all_reduce_perf.txt", text);
  const auto pilots = read_pilots(table(",,a+b,nccl-tests,all_reduce_perf.txt\n"), far_apart());
  ASSERT_EQ(pilots.size(), 6);  // of 64 KiB to 128 MiB, evenly apart
  EXPECT_EQ(pilots.front().cell.network_run->size.value, 1 << 16);
  EXPECT_EQ(pilots.back().cell.network_run->size.value, 1 << 27);
  EXPECT_EQ(pilots.back().cell.network_run->collective, Collective::kAllReduce);
  EXPECT_NEAR(pilots.back().value, 1800e-6, 1e-12);
  EXPECT_EQ(pilots.back().cell.text(), "all-reduce of 128 MiB on a+b");

  const auto errors = errors_of([] {
    read_pilots(table("gpt2m,,a+b,nccl-tests,all_reduce_perf.txt\n,,a,nccl-tests,all_reduce_perf.txt\n"
                      ",,a+b,nccl-tests,none.txt\n,,a+b,nccl-test,all_reduce_perf.txt\n"),
                far_apart());
  });
  ASSERT_EQ(errors.size(), 6);
  EXPECT_THAT(errors[0], HasSubstr(":2:1: error: model: has no effect on nccl-tests"));
  EXPECT_THAT(errors[1], HasSubstr(":3:1: error: group: the scenario has no \"a\""));
  EXPECT_THAT(errors[2], HasSubstr("none.txt"));
  EXPECT_THAT(errors[5], HasSubstr("did you mean \"nccl-tests\""));
}

TEST(NetworkRun, ReadsMeasuredPaths) {
  written("path.yaml", R"(schema: slmsim/path/1
name: here-to-there
rtt: 50 ms
bandwidth: 4 Gbps
curves:
  forward:
    steady: [{connections: 1, rate: 320 Mbps}, {connections: 8, rate: 2.4 Gbps}]
    cold_start: [{size: 1 MB, time: 300 ms, least: 290 ms, most: 340 ms}]
  reverse:
    steady: [{connections: 1, rate: 200 Mbps}]
)");
  const auto pilots = read_pilots(table(",,a+b,netprobe,path.yaml\n"), far_apart());
  ASSERT_EQ(pilots.size(), 4);
  EXPECT_EQ(pilots[1].cell.network_run->connections, 8);
  EXPECT_EQ(pilots[1].cell.network_run->size.value, 3e9);  // ten seconds' worth
  EXPECT_EQ(pilots[1].value, 10);
  EXPECT_FALSE(pilots[2].cell.network_run->warm);
  EXPECT_EQ(pilots[2].value, 0.3);
  EXPECT_GT(pilots[2].noise, kUsualNoise);  // they differed by 17 %
  EXPECT_THAT(pilots[3].cell.group, ElementsAre("b", "a"));
  EXPECT_THAT(errors_of([] { read_pilots(table(",,a+c,netprobe,path.yaml\n"), far_apart()); }),
              ElementsAre(HasSubstr("the platform has no VM \"c\"")));
  EXPECT_THAT(errors_of([] { read_pilots(table(",,a,netprobe,path.yaml\n"), far_apart()); }),
              ElementsAre(HasSubstr("between two VMs, client+server")));
}

}  // namespace
}  // namespace slmsim::network_run_test
