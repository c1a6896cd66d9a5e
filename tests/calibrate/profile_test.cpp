// The profile as the simulator reads it.
#include "calibrate/netprobe/profile.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>

#include "calibrate/common/output.h"
#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "sim/platform/path.h"
#include "sim/platform/platform.h"
#include "tests/calibrate/fake_wire.h"
#include "tests/errors_of.h"

namespace slmsim::calibrate::netprobe::profile_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HostFacts facts() {
  return {{"host", "alpha"},
          {"kernel", "Linux 6.1 x86_64"},
          {"machine", "A \"fast\" one, 4 CPUs"},
          {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
          {"net.ipv4.tcp_wmem", "4096 16384 4194304"},
          {"net.ipv4.tcp_slow_start_after_idle", "0"},
          {"net.ipv4.tcp_congestion_control", "reno"}};
}

struct Example {
  explicit Example(FakePath path = {}, HostFacts client = facts(), bool one_way = false) {
    Request request;
    request.one_way = one_way;
    text = to_yaml(measure(path.wire(), request, [](const std::string&, double) {}),
                   {std::move(client), facts(), "10.0.0.1", "10.0.0.2"},
                   {"alpha-beta", "2026-01-31T12:00:00Z", "slmsim-netprobe client b"});
    node = parse_yaml(text, "p.yaml");
    profile = read_path(node, "", reading);
  }
  TcpSettings tcp(const std::string& role) {
    const TcpSettings none;
    return read_tcp(*node.find(role)->find("tcp"), "tcp", reading, &none);
  }
  std::string text;
  Reading reading;
  Node node;
  PathProfile profile;
};

// One connection is held back by its receiver's window of 3145728 B, half of tcp_rmem; on the faster path by nothing.
TEST(Profile, TellsTheShareOfTheReceiveBufferWhereTheWindowIsWhatHolds) {
  FakePath held;
  held.window = 3145728;
  held.rate = 1e9;
  EXPECT_DOUBLE_EQ(Example(held).tcp("server").receive_window_share, 0.5);
  EXPECT_DOUBLE_EQ(Example(held).tcp("client").receive_window_share, 0.5);
  FakePath free;
  free.window = 4e6;
  Example other(free);
  EXPECT_EQ(other.text.find("receive_window_share"), std::string::npos);
}

TEST(Profile, IsReadBackByTheSimulator) {
  FakePath path;
  path.lost_share = 0.001;
  Example e(path);
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.profile.name, "alpha-beta");
  EXPECT_DOUBLE_EQ(e.profile.rtt->value, 0.02);
  EXPECT_EQ(e.profile.mtu->value, 1052);
  for (const auto* direction : {&e.profile.forward, &e.profile.backward}) {
    EXPECT_DOUBLE_EQ(direction->bandwidth.value, 50e6);
    EXPECT_DOUBLE_EQ(direction->loss, 0.001);
    ASSERT_EQ(direction->steady.size(), 4);
    EXPECT_EQ(direction->steady[1].connections, 2);
    EXPECT_DOUBLE_EQ(direction->steady[1].rate.value, 20e6);
    EXPECT_DOUBLE_EQ(direction->steady[1].in_flight.value, 200e3);
    ASSERT_GE(direction->cold_start.size(), 3);
    EXPECT_EQ(direction->cold_start[2].size.value, 1e6);
    EXPECT_DOUBLE_EQ(direction->cold_start[2].time.value, 0.11);
    EXPECT_EQ(direction->cold_start[2].pause.value, 0);
    EXPECT_DOUBLE_EQ(direction->after_idle[0].pause.value, 1.1);
  }
  const TcpSettings tcp = e.tcp("client");
  EXPECT_EQ(tcp.receive_buffer.value, 6291456);
  EXPECT_EQ(tcp.send_buffer.value, 4194304);
  EXPECT_FALSE(tcp.slow_start_after_idle);
  EXPECT_EQ(tcp.congestion_control, CongestionControl::kReno);
  EXPECT_EQ(tcp.initial_window, 10);
  for (const auto& parameter : e.reading.parameters) {
    EXPECT_EQ(parameter.provenance, Provenance::kMeasured) << parameter.path;
    EXPECT_NE(parameter.source, "") << parameter.path;
  }
}

TEST(Profile, SaysHowSureAnAbsenceOfLossIs) {
  const Example e;
  EXPECT_EQ(e.profile.forward.loss, 0);
  EXPECT_THAT(e.text, HasSubstr("with 95 % confidence below "));
}

TEST(Profile, SaysWhereWindowsAndNotThePathWereTheLimit) {
  EXPECT_THAT(Example().text, testing::Not(HasSubstr("the path may carry more")));
  FakePath path;
  path.window = 20e3;  // eight connections reach 8 MB/s of 50
  EXPECT_THAT(Example(path).text, HasSubstr("the path may carry more"));
}

TEST(Profile, LeavesOutWhatAKernelDoesNotTell) {
  HostFacts little = {{"host", "alpha"}, {"net.ipv4.tcp_congestion_control", "htcp"}};
  Example e({}, little);
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_EQ(e.tcp("client").congestion_control, CongestionControl::kCubic);     // what lies beneath
  EXPECT_THAT(e.text, HasSubstr("net.ipv4.tcp_congestion_control: \"htcp\""));  // among the settings
}

TEST(Profile, OfOneWayHoldsForBoth) {
  const Example e({}, facts(), true);
  EXPECT_THAT(errors_of(e.reading), IsEmpty());
  EXPECT_DOUBLE_EQ(e.profile.backward.bandwidth.value, 50e6);
  EXPECT_THAT(e.profile.backward.cold_start, IsEmpty());
}

TEST(Name, IsMadeOfWhatANameMayHold) {
  EXPECT_EQ(name_from("lab/vm 1-cloud.example"), "labvm1-cloud.example");
  EXPECT_EQ(name_from("..x"), "x");
  EXPECT_EQ(name_from("\n\t"), "path");
  EXPECT_TRUE(is_name(name_from(std::string(200, 'a'))));
  EXPECT_FALSE(is_name("a b"));
  EXPECT_FALSE(is_name(""));
}

TEST(File, IsWrittenWholeOrNotAtAll) {
  const fs::path folder = fs::path(testing::TempDir()) / ("slmsim_netprobe_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string file = folder / "p.yaml";
  check_writable(file);
  EXPECT_TRUE(fs::is_empty(folder));
  write_file(file, "a: b\n");
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), "a: b\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_THROW(check_writable(folder / "none" / "p.yaml"), UsageError);
  EXPECT_THROW(check_writable(folder), UsageError);
  EXPECT_THROW(write_file(folder / "none" / "p.yaml", "x"), UsageError);
  check_writable("/dev/null");
  write_file("/dev/null", "x");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe::profile_test
