// slmsim-netprobe over the emulated path, and the simulator with its profile. Bounds are loose, for a busy machine; where
// the relay itself was late there was no such path, and nothing was measured.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "sim/platform/path.h"
#include "sim/platform/platform.h"
#include "tests/errors_of.h"
#include "tests/wan/relay.h"

namespace slmsim::wan::netprobe_test {
namespace {

namespace fs = std::filesystem;

// A process of a host; ended with its scope.
class Process {
 public:
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(const Host& host, const std::vector<std::string>& words) {
    host.inside([&] {  // a child is born into its thread's namespace
      std::vector<char*> argv;
      for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      child_ = fork();
      if (child_ == 0) {
        alarm(200);
        execv(argv.front(), argv.data());
        _exit(127);
      }
    });
  }
  ~Process() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
};

class Netprobe : public testing::Test {
 protected:
  Netprobe() : folder_(fs::path(testing::TempDir()) / ("slmsim_netprobe_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Netprobe() override { fs::remove_all(folder_); }
  fs::path folder_;
};

constexpr double kRtt = 0.0202, kRate = 50e6, kPayload = 1448.0 / 1500, kBuffer = 512 * 1024, kLoss = 2e-3;
constexpr const char* kToken = "emulated-path-of-a-test";

// The path has 400 Mbit/s; the client may keep 512 KiB on their way per connection, which is 26 MB/s at 20.2 ms, and of
// what the server sends 2 in 1000 packets are lost.
struct ProbeOutcome {
  int status = 0;
  bool emulated = false;  // at least 99 of 100 packets were in time
};
ProbeOutcome measure(const std::string& file) {
  const Host client("10.99.0.2", 1500), server("10.99.0.3", 1500);
  client.set("net.ipv4.tcp_wmem", "4096 16384 524288");
  client.set("net.ipv4.tcp_slow_start_after_idle", "0");
  Direction forward{.delay = kRtt / 2, .rate = kRate, .seed = 1}, backward = forward;
  backward.loss = kLoss;
  Relay relay(client, server, forward, backward);
  Process serving(server, {NETPROBE_BINARY, "server", "--token", kToken});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  Process measuring(client, {NETPROBE_BINARY, "client", "10.99.0.3", "--token", kToken, "-o", file, "--name",
                             "emulated", "--quick", "--max-size", "1MB", "--time-limit", "30s"});
  ProbeOutcome out{.status = measuring.wait() + 256 * serving.wait()};
  relay.stop();
  const RelayCount& there = relay.forward();
  const RelayCount& back = relay.backward();
  out.emulated = (there.late + back.late) * 100 <= there.packets + back.packets;
  return out;
}

TEST_F(Netprobe, FindsTheEmulatedPathAndTheSimulatorTakesIt) {
  const std::string file = folder_ / "emulated.yaml";
  try {
    ProbeOutcome measured = measure(file);
    for (int again = 0; again < 3 && !measured.emulated; ++again) measured = measure(file);
    ASSERT_EQ(measured.status, 0);
    if (!measured.emulated) GTEST_SKIP() << "the machine was too busy to emulate a path";
  } catch (const Forbidden& reason) {
    GTEST_SKIP() << "needs network namespaces and TUN devices: " << reason.what();
  }
  Reading reading;
  const Node node = read_yaml(file);
  const PathProfile path = read_path(node, "", reading);
  EXPECT_THAT(errors_of(reading), testing::IsEmpty());
  EXPECT_GE(path.rtt->value, kRtt);
  EXPECT_LE(path.rtt->value, 2 * kRtt);
  EXPECT_EQ(path.mtu->value, 1500);
  // Several connections fill the path, one cannot: its window is the send buffer, which also holds the kernel's own
  // bookkeeping.
  EXPECT_LE(path.forward.bandwidth.value, 1.02 * kRate * kPayload);
  EXPECT_GE(path.forward.bandwidth.value, 0.7 * kRate * kPayload);
  ASSERT_GE(path.forward.steady.size(), 2);
  const PathRate& one = path.forward.steady[0];
  EXPECT_EQ(one.connections, 1);
  // A last buffer of at most 64 KiB is begun while any room is left (sk_stream_memory_free).
  EXPECT_LE(one.rate.value, 1.02 * (kBuffer + 64 * 1024) / kRtt);
  EXPECT_GE(one.rate.value, 0.3 * kBuffer / kRtt);
  EXPECT_LE(one.in_flight.value, kBuffer + 64 * 1024);
  EXPECT_GE(one.in_flight.value, 0.4 * kBuffer);
  // Some 10 to 50 losses are counted back, none forth but what a late timer sends in vain.
  EXPECT_GE(path.backward.loss, kLoss / 4);
  EXPECT_LE(path.backward.loss, kLoss * 4);
  EXPECT_LE(path.forward.loss, kLoss / 10);
  ASSERT_FALSE(path.forward.cold_start.empty());
  // 64 kB are 45 segments: windows of 10, 20 and 15 and the last one's way, two round trips and a half, or a little more
  // where the kernel paces.
  EXPECT_GE(path.forward.cold_start[0].time.value, 1.5 * kRtt);
  EXPECT_LE(path.forward.cold_start[0].time.value, 8 * kRtt);
  TcpSettings beneath;
  const TcpSettings tcp = read_tcp(*node.find("client")->find("tcp"), "", reading, &beneath);
  EXPECT_EQ(tcp.send_buffer.value, kBuffer);
  EXPECT_FALSE(tcp.slow_start_after_idle);
  EXPECT_EQ(tcp.initial_window, 10);

  const fs::path data = SLMSIM_SOURCE_DIR;
  const std::string platform = folder_ / "mine.yaml", scenario = folder_ / "run.yaml";
  std::ofstream(platform)
      << "name: mine\nsites: {a: {}, b: {}}\nvms:\n"
      << "  one: {site: a, type: fabric-vm, gpus: a30, tcp: {path: ./emulated.yaml, host: client}}\n"
      << "  two: {site: b, type: fabric-vm, gpus: a30, tcp: {path: ./emulated.yaml, host: server}}\n"
      << "links: {wan: {between: [a, b], path: ./emulated.yaml}}\n";
  std::ofstream(scenario)
      << "platform: ./mine.yaml\nmodels: gpt2m\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 8}\n";
  const std::string slmsim = SLMSIM_BINARY, quiet = " > /dev/null";
  EXPECT_EQ(std::system((slmsim + " check " + file + " " + platform + " " + scenario + quiet).c_str()), 0);
  EXPECT_EQ(std::system((slmsim + " run " + scenario + quiet).c_str()), 0);
}

TEST_F(Netprobe, WritesNothingWhereItsServerIsLost) {
  const std::string file = folder_ / "lost.yaml";
  try {
    const Host client("10.99.0.2", 1500), server("10.99.0.3", 1500);
    const Direction way{.delay = 0.005, .rate = 10e6};
    const Relay relay(client, server, way, way);
    Process measuring(client, {NETPROBE_BINARY, "client", "10.99.0.3", "-o", file, "--token", kToken});
    EXPECT_EQ(measuring.wait(), 1);  // nobody serves yet
    auto serving =
        std::make_unique<Process>(server, std::vector<std::string>{NETPROBE_BINARY, "server", "--token", kToken});
    std::this_thread::sleep_for(std::chrono::seconds(1));
    Process again(client, {NETPROBE_BINARY, "client", "10.99.0.3", "-o", file, "--token", kToken});
    std::this_thread::sleep_for(std::chrono::seconds(3));
    serving.reset();
    EXPECT_EQ(again.wait(), 1);
  } catch (const Forbidden& reason) {
    GTEST_SKIP() << "needs network namespaces and TUN devices: " << reason.what();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace slmsim::wan::netprobe_test
