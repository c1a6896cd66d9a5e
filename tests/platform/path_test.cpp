// Measured paths, and links and VMs that take their figures from one.
#include "sim/platform/path.h"

#include <gmock/gmock.h>

#include "tests/platform/example.h"

namespace slmsim::path_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kPath =
    "{schema: slmsim/path/1, rtt: 30 ms, mtu: 9000 B, bandwidth: 4 Gbps, loss: 0.01, reverse: {bandwidth: 2 Gbps, "
    "loss: "
    "0.02}, client: {tcp: {net.ipv4.tcp_rmem: 16 MB, initial_window: 20}}, server: {tcp: {net.ipv4.tcp_wmem: 2 MB, "
    "net.ipv4.tcp_slow_start_after_idle: no, net.ipv4.tcp_congestion_control: bbr}}}";

WanLink link_of(const std::string& keys) {
  return platform_of(kPair + "links:\n  wan: {between: [west, east], path: " + kPath + keys + "}\n").links[0];
}

TEST(Path, GivesALinkItsFigures) {
  const WanLink link = link_of("");
  EXPECT_DOUBLE_EQ(link.forward.delay.value, 0.015);
  EXPECT_DOUBLE_EQ(link.backward.delay.value, 0.015);
  EXPECT_EQ(link.mtu.value, 9000);
  EXPECT_EQ(link.forward.bandwidth.value, 0.5e9);  // 4 Gbit/s, from the first site, the client's
  EXPECT_EQ(link.backward.bandwidth.value, 0.25e9);
  EXPECT_EQ(link.forward.loss, 0.01);
  EXPECT_EQ(link.backward.loss, 0.02);
}

TEST(Path, GivesWayToWhatTheLinkStates) {
  const WanLink link = link_of(", rtt: 40 ms, bandwidth: 8 Gbps, mtu: 1500 B");
  EXPECT_DOUBLE_EQ(link.forward.delay.value, 0.02);
  EXPECT_EQ(link.mtu.value, 1500);
  EXPECT_EQ(link.forward.bandwidth.value, 1e9);
  EXPECT_EQ(link.backward.bandwidth.value, 1e9);  // stated without reverse: both directions, as on any link
  EXPECT_EQ(link.backward.loss, 0.02);
  const WanLink back = link_of(", reverse: {loss: 0.03}, forward_delay: 10 ms");
  EXPECT_EQ(back.backward.loss, 0.03);
  EXPECT_EQ(back.backward.bandwidth.value, 0.25e9);
  EXPECT_DOUBLE_EQ(back.backward.delay.value, 0.02);
}

TEST(Path, GivesVmsTheKernelSettingsOfItsHosts) {
  // Box has 8 MB and 6 MB, and copies 1 GB/s.
  const Platform p = platform_of(kPair + "  c: {site: east, type: *box, gpus: [*g], tcp: {path: " + kPath +
                                 ", host: client}}\n  s: {site: east, type: *box, gpus: [*g], tcp: {path: " + kPath +
                                 ", host: server, net.ipv4.tcp_wmem: 3 MB}}\n  k: {site: east, type: *box, gpus: [*g], "
                                 "tcp: {initial_window: 5}}\nlinks:\n  wan: {between: [west, east], path: " +
                                 kPath + "}\n");
  const TcpSettings &type = p.vms[0].type.tcp, &client = p.vms[1].type.tcp, &server = p.vms[2].type.tcp,
                    &plain = p.vms[3].type.tcp;
  EXPECT_EQ(type.receive_buffer.value, 8e6);
  EXPECT_EQ(client.receive_buffer.value, 16e6);
  EXPECT_EQ(client.send_buffer.value, 6e6);
  EXPECT_EQ(client.initial_window, 20);
  EXPECT_TRUE(client.slow_start_after_idle);
  EXPECT_EQ(server.receive_buffer.value, 8e6);
  EXPECT_EQ(server.send_buffer.value, 3e6);  // its own word over the path's 2 MB
  EXPECT_FALSE(server.slow_start_after_idle);
  EXPECT_EQ(server.congestion_control, CongestionControl::kBbr);
  EXPECT_EQ(plain.initial_window, 5);
  EXPECT_EQ(plain.receive_buffer.value, 8e6);
  for (const auto& vm : p.vms) EXPECT_EQ(vm.type.tcp.copy_rate.value, 1e9);
}

TEST(Path, KeepsTheProvenanceOfItsFigures) {
  Reading reading;
  const std::string path =
      "{schema: slmsim/path/1, rtt: {value: 30 ms, provenance: measured, source: ping}, bandwidth: 4 Gbps}";
  read_platform(parse_yaml(kPair + "links:\n  wan: {between: [west, east], path: " + path + "}\n", "p.yaml"), "",
                reading);
  ASSERT_EQ(reading.parameters.size(), 1);
  EXPECT_EQ(reading.parameters[0].path, "links.wan.path.rtt");
  EXPECT_EQ(reading.parameters[0].provenance, Provenance::kMeasured);
}

TEST(Path, OfTheEmulatedWideAreaAgreesWithTheEmulation) {
  // wan relay --rtt 20.2 --rate 300; payload is 1448 of 1500 bytes: 289.6 Mbit/s = 36.2 MB/s.
  Reading reading;
  const PathProfile p =
      read_path(read_yaml(SLMSIM_SOURCE_DIR "/tests/data/path/emulated-20ms-300mbps.yaml"), "", reading);
  EXPECT_THAT(errors_of(reading), IsEmpty());
  EXPECT_NEAR(p.rtt->value, 0.0202, 0.001);  // the relay's threads wake up late by some 0.1 ms
  EXPECT_EQ(p.mtu->value, 1500);
  for (const auto* direction : {&p.forward, &p.backward}) {
    EXPECT_NEAR(direction->bandwidth.value, 36.2e6, 0.02 * 36.2e6);
    EXPECT_EQ(direction->loss, 0);
    for (const auto& steady : direction->steady) EXPECT_LE(steady.rate.value, direction->bandwidth.value);
    // A message takes at least half the round trip and its bytes at the rate, a larger one longer.
    for (const auto* curve : {&direction->cold_start, &direction->after_idle}) {
      ASSERT_FALSE(curve->empty());
      for (std::size_t i = 0; i < curve->size(); ++i) {
        const PathPoint& point = (*curve)[i];
        EXPECT_GE(point.time.value, 0.0101 + 0.95 * point.size.value / 36.2e6 - 0.0005 - 0.002) << point.size.value;
        if (i > 0) {
          EXPECT_GT(point.time, (*curve)[i - 1].time);
        }
      }
    }
  }
}

TEST(Iperf3, IsReadAsAPath) {
  Reading reading;
  const Node file = read_yaml(SLMSIM_SOURCE_DIR "/tests/data/path/iperf3-emulated-20ms-300mbps.json");
  EXPECT_TRUE(is_path(file));
  const PathProfile p = read_path(as_path(file), "", reading);
  EXPECT_THAT(errors_of(reading), IsEmpty());
  // Two streams for 4 s; the file's own figures.
  const Node* end = file.find("end");
  EXPECT_DOUBLE_EQ(p.forward.bandwidth.value,
                   std::stod(end->find("sum_received")->find("bits_per_second")->scalar) / 8);
  EXPECT_NEAR(p.forward.bandwidth.value, 36.2e6, 0.05 * 36.2e6);
  EXPECT_EQ(p.backward.bandwidth, p.forward.bandwidth);
  EXPECT_EQ(p.mtu->value, 1500);    // 1448 + 52
  EXPECT_GE(p.rtt->value, 0.0202);  // the path's, and a queue that the test made
  EXPECT_EQ(p.forward.loss, 0);     // whatever was sent again: the test filled the path
  ASSERT_EQ(p.forward.steady.size(), 1);
  EXPECT_EQ(p.forward.steady[0].connections, 2);
  EXPECT_GT(p.forward.steady[0].in_flight.value, 0);
  EXPECT_THAT(reading.parameters[0].source, HasSubstr("iperf 3.12, "));
}

// iperf3's JSON with the keys that matter.
std::string iperf3(const std::string& sender, const std::string& more = "") {
  return "{\"start\": {\"version\": \"iperf 3.9\", \"tcp_mss_default\": 1428, \"connected\": [{\"remote_host\": "
         "\"fd00::2\"}], \"test_start\": {\"protocol\": \"TCP\", \"reverse\": 0}}, \"intervals\": [], \"end\": "
         "{\"streams\": "
         "[{\"sender\": {" +
         sender +
         "}}, {\"sender\": {\"min_rtt\": 30000}}], \"sum_sent\": {\"retransmits\": 7}, "
         "\"sum_received\": {\"bits_per_second\": 8e8}" +
         more + "}}";
}

PathProfile path_of(const std::string& json) {
  Reading reading;
  const PathProfile p = read_path(as_path(parse_yaml(json, "i.json")), "", reading);
  EXPECT_THAT(errors_of(reading), IsEmpty());
  return p;
}

TEST(Iperf3, TakesTheLeastRoundTripAndTheWidestWindow) {
  const PathProfile p = path_of(iperf3("\"min_rtt\": 25000, \"max_snd_cwnd\": 1000000"));
  EXPECT_DOUBLE_EQ(p.rtt->value, 0.025);
  EXPECT_EQ(p.forward.bandwidth.value, 1e8);
  EXPECT_EQ(p.forward.steady[0].in_flight.value, 1e6);
  EXPECT_EQ(p.mtu->value, 1500);  // IPv6: 1428 + 72
}

TEST(Iperf3, MayTellNoRoundTrip) {
  const std::string json =
      "{\"start\": {\"test_start\": {\"protocol\": \"TCP\"}}, \"end\": {\"streams\": [{\"sender\": {\"min_rtt\": 0}}], "
      "\"sum_received\": {\"bits_per_second\": 8e8}}}";
  EXPECT_FALSE(path_of(json).rtt);
  EXPECT_FALSE(path_of(json).mtu);
}

TEST(Iperf3, TellsTheSendersCongestionControlWhereItIsAKnownOne) {
  const auto client = [](const std::string& name) {
    const Node path = as_path(parse_yaml(iperf3("", ", \"sender_tcp_congestion\": \"" + name + "\""), "i.json"));
    return path.find("client") != nullptr;
  };
  EXPECT_TRUE(client("bbr"));
  EXPECT_FALSE(client("vegas"));
}

// A test of `seconds`, with 40 ms of RTT, at `mbps` over one stream.
std::string timed(double seconds, double mbps, const std::string& test = "", const std::string& start = "") {
  return "{start: {" + start + "tcp_mss_default: 1448, test_start: {protocol: TCP" + test +
         "}}, end: {streams: [{sender: {min_rtt: 40000}}], sum_sent: {seconds: " + std::to_string(seconds) +
         "}, sum_received: {seconds: 10, bits_per_second: " + std::to_string(mbps * 1e6) + "}}}";
}

std::vector<std::string> errors_in(const std::string& json) {
  return errors_of([&] { as_path(parse_yaml(json, "i.json")); });
}

// 20 round trips of 40 ms are 0.8 s. At 100 Gbit/s a window of 0.5 GB is 35 000 times ten segments: 15.1 doublings, twice
// that is 30.2 round trips, 1.2 s.
TEST(Iperf3, IsRefusedWhereItIsTooShortToLeaveSlowStart) {
  EXPECT_THAT(errors_in(timed(0.32, 0.3)),
              ElementsAre(HasSubstr("320 ms, 8 round trips of 40 ms, are too short to leave slow start; run "
                                    "iperf3 -c HOST -J -t 10")));
  EXPECT_THAT(errors_in(timed(1, 100e3)), ElementsAre(HasSubstr("too short")));
  EXPECT_THAT(errors_in(timed(1.3, 100e3)), IsEmpty());
  EXPECT_THAT(errors_in(timed(1, 100)), IsEmpty());
  // The omitted seconds passed slow start.
  EXPECT_THAT(errors_in(timed(1, 100e3, ", omit: 1")), IsEmpty());
  EXPECT_THAT(
      errors_in("{start: {test_start: {protocol: TCP}}, end: {sum_received: {seconds: 0.1, bits_per_second: 1e9}}}"),
      ElementsAre(HasSubstr("100 ms are too short to leave slow start")));
}

TEST(Iperf3, IsRefusedWhereItReachedItsOwnLimit) {
  EXPECT_THAT(
      errors_in(timed(10, 49.5, ", target_bitrate: 50000000")),
      ElementsAre(HasSubstr(
          "the test reached its own limit of 6.25 MB/s (-b), not the path's; run iperf3 -c HOST -J without it")));
  EXPECT_THAT(errors_in(timed(10, 30, ", target_bitrate: 50000000")), IsEmpty());
  EXPECT_THAT(errors_in(timed(10, 30, ", target_bitrate: 0")), IsEmpty());
  EXPECT_THAT(errors_in(timed(10, 49.5, ", fqrate: 50000000")), ElementsAre(HasSubstr("(--fq-rate)")));
  // 64 KiB in 40 ms are 13.1 Mbit/s.
  EXPECT_THAT(errors_in(timed(10, 13, "", "sock_bufsize: 65536, ")),
              ElementsAre(HasSubstr("the test filled its own window of 64 KiB (-w), not the path")));
  EXPECT_THAT(errors_in(timed(10, 5, "", "sock_bufsize: 65536, ")), IsEmpty());
}

TEST(Iperf3, IsRefusedWithoutARate) {
  EXPECT_THAT(errors_of([] { as_path(parse_yaml("{start: {test_start: {protocol: TCP}}, intervals: []}", "i.json")); }),
              ElementsAre(HasSubstr("iperf3 reports no rate (end.sum_received.bits_per_second); did the run end?")));
  EXPECT_THAT(errors_of([] { as_path(parse_yaml("{start: {}, end: {}}", "i.json")); }),
              ElementsAre(HasSubstr("iperf3 measured nothing, not TCP")));
}

}  // namespace
}  // namespace slmsim::path_test
