// The limits of one TCP connection on a route. The example's buffers, tcp_rmem 8 MB and tcp_wmem 6 MB, give
// min(8 / 2, 6) = 4 MB; segments of MTU 1500 carry 1500 - 52 = 1448 bytes.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/platform/network.h"
#include "tests/platform/example.h"

namespace slmsim::tcp_window_test {
namespace {

std::string with(std::string text, const std::string& old, const std::string& now) {
  return text.replace(text.find(old), old.size(), now);
}

// West to east over `link`, with `tcp` in place of the example's settings in both VMs.
Route route_over(const std::string& link, const std::string& tcp = "copy_rate: 1 GB/s") {
  const Platform platform = platform_of(with(kPair, "copy_rate: 1 GB/s", tcp) +
                                        "  e: {site: east, type: *box, gpus: [*g]}\nlinks:\n"
                                        "  wan: {between: [west, east], bandwidth: 8 Gbps, " +
                                        link + "}\n");
  return Network(platform).route(device(platform, "w/0"), device(platform, "e/0"));
}

TEST(TcpWindow, IsHalfTheReceiveBufferWhereThatIsLess) {
  // Whole segments of 1448 B leave.
  EXPECT_EQ(route_over("rtt: 20 ms").window.steady.value, 2762.0 * 1448);  // of min(8 MB / 2, 6 MB)
}

TEST(TcpWindow, IsTheSendBufferWhereThatIsLess) {
  const Platform platform = platform_of(with(kPair, "tcp_wmem: 6 MB", "tcp_wmem: 3 MB") +
                                        "  e: {site: east, type: *box, gpus: [*g]}\nlinks:\n"
                                        "  wan: {between: [west, east], bandwidth: 8 Gbps, rtt: 20 ms}\n");
  EXPECT_EQ(Network(platform).route(0, 2).window.steady.value, 2071.0 * 1448);  // of min(8 MB / 2, 3 MB)
}

TEST(TcpWindow, IsMadeOfTheSendersSendAndTheReceiversReceiveBuffer) {
  const Platform platform =
      platform_of(kPair +
                  "  e:\n    site: east\n    gpus: [*g]\n    type: {name: big, nic: 80 Gbps, device_latency: 0 s, "
                  "tcp: {net.ipv4.tcp_rmem: 20 MB, net.ipv4.tcp_wmem: 2 MB, copy_rate: 1 GB/s}}\n"
                  "links:\n  wan: {between: [west, east], bandwidth: 8 Gbps, rtt: 20 ms}\n");
  const Network network(platform);
  EXPECT_EQ(network.route(0, 2).window.steady.value, 4143.0 * 1448);  // of min(20 / 2, 6) MB
  EXPECT_EQ(network.route(2, 0).window.steady.value, 1381.0 * 1448);  // of min(8 / 2, 2) MB
}

TEST(TcpWindow, OffersTheShareOfTheReceiveBufferThatTheKernelLeaves) {
  // 5/8 of 8 MB
  EXPECT_EQ(route_over("rtt: 20 ms", "copy_rate: 1 GB/s, receive_window_share: 0.625").window.steady.value,
            3453.0 * 1448);
}

TEST(TcpWindow, MindsTheLossOfItsOwnDirectionOnly) {
  EXPECT_EQ(route_over("rtt: 20 ms, reverse: {loss: 1e-4}").window.loss, 0);
  EXPECT_NEAR(route_over("rtt: 20 ms, loss: 1e-4").window.loss, 1e-4, 1e-15);
}

TEST(TcpWindow, HasAMeanUnderLossThatOttAndRfc9438Give) {
  const auto mean = [](const std::string& loss, const std::string& control) {
    return mean_window(
               route_over("rtt: 20 ms, loss: " + loss, "copy_rate: 1 GB/s, net.ipv4.tcp_congestion_control: " + control)
                   .window)
        .value;
  };
  EXPECT_NEAR(mean("1e-4", "reno"), 131.0 * 1448, 1);  // 1.31 / sqrt(10^-4) segments
  // 1.054 x 200^0.75 = 56 segments would be less than Reno's 131; at 10^-6, 1.054 x 20000^0.75 = 1773 are more than 1310.
  EXPECT_NEAR(mean("1e-4", "cubic"), 131.0 * 1448, 1);
  EXPECT_NEAR(mean("1e-6", "cubic"), 1772.7 * 1448, 200);
  EXPECT_EQ(mean("1e-4", "bbr"), 2762.0 * 1448);
  EXPECT_EQ(mean("1e-8", "reno"), 2762.0 * 1448);  // 13100 segments are more than the buffers hold
}

TEST(TcpWindow, AddsUpTheLossOfSeveralLinks) {
  const Platform platform = platform_of(with(kPair, "east: {}", "east: {}, mid: {transit: yes}") +
                                        "  e: {site: east, type: *box, gpus: [*g]}\nlinks:\n"
                                        "  one: {between: [west, mid], bandwidth: 8 Gbps, rtt: 20 ms, loss: 0.2}\n"
                                        "  two: {between: [mid, east], bandwidth: 8 Gbps, rtt: 20 ms, loss: 0.2}\n");
  EXPECT_NEAR(Network(platform).route(0, 2).window.loss, 0.36, 1e-15);  // 1 - 0.8 x 0.8
}

TEST(TcpWindow, NeverFallsBelowOneSegment) {
  // tcp_rmem 4096: a window of 2048 holds a segment; with jumbo frames it would not.
  const Platform platform =
      platform_of(with(kPair, "tcp_rmem: 8 MB", "tcp_rmem: 4096 B") + "  w2: {site: west, type: *box, gpus: [*g]}\n");
  EXPECT_EQ(Network(platform).route(0, 2).window.steady.value, 8948.0);  // 9000 - 52
}

TEST(TcpWindow, StartsAtTenSegments) {
  EXPECT_EQ(route_over("rtt: 20 ms").window.initial.value, 14480.0);  // 10 x 1448
  EXPECT_EQ(route_over("rtt: 20 ms", "copy_rate: 1 GB/s, initial_window: 20").window.initial.value, 28960.0);
}

TEST(TcpWindow, StartsNoWiderThanItGets) {
  // tcp_rmem 16 kB: a window of 8000 B, less than ten segments. 50 segments are more than the 65535 B that a receiver
  // offers at first.
  const std::string tcp = "copy_rate: 1 GB/s, initial_window: 50";
  EXPECT_EQ(route_over("rtt: 20 ms", tcp).window.initial.value, 45.0 * 1448);
  const Platform platform = platform_of(with(kPair, "tcp_rmem: 8 MB", "tcp_rmem: 16 kB") +
                                        "  e: {site: east, type: *box, gpus: [*g]}\nlinks:\n"
                                        "  wan: {between: [west, east], bandwidth: 8 Gbps, rtt: 20 ms}\n");
  EXPECT_EQ(Network(platform).route(0, 2).window.initial.value, 5.0 * 1448);
}

TEST(TcpWindow, IsKeptThroughPausesByBbr) {
  const std::string tcp = "copy_rate: 1 GB/s, net.ipv4.tcp_congestion_control: ";
  EXPECT_EQ(route_over("rtt: 20 ms", tcp + "bbr").window.timeout_margin.value, 0);
  EXPECT_EQ(route_over("rtt: 20 ms", tcp + "cubic").window.timeout_margin.value, 0.2);
}

TEST(TcpWindow, CutsSegmentsToTheSmallestMtuOfTheWay) {
  // The west has 9000, the link 1500: ten segments of 1448.
  EXPECT_EQ(route_over("rtt: 20 ms, mtu: 1500 B").window.initial.value, 14480.0);
  // The link has 9000 now, and so have the hosts in the east, which state no limit: seven segments of 8948 are at most 65535.
  EXPECT_EQ(route_over("rtt: 20 ms, mtu: 9 kB").window.initial.value, 62636.0);
}

TEST(TcpWindow, ALinkOfLargerPacketsThanItsHostsIsAnError) {
  Reading reading;
  read_platform(parse_yaml(with(kPair, "east: {}", "east: {mtu: 1500 B}") +
                               "  e: {site: east, type: *box, gpus: [*g]}\nlinks:\n"
                               "  wan: {between: [west, east], bandwidth: 8 Gbps, rtt: 20 ms, mtu: 9 kB}\n",
                           "p.yaml"),
                "", reading);
  ASSERT_EQ(errors_of(reading).size(), 1u);
  EXPECT_NE(errors_of(reading)[0].find("the hosts of east have 1500 B"), std::string::npos) << errors_of(reading)[0];
}

TEST(TcpWindow, IsForgottenAfterAPauseOfTheRetransmissionTimeout) {
  EXPECT_DOUBLE_EQ(route_over("rtt: 20 ms").window.rtt.value, 0.02);
  EXPECT_DOUBLE_EQ(route_over("rtt: 20 ms").window.timeout_margin.value, 0.2);
}

TEST(TcpWindow, IsKeptThroughPausesWhereTheKernelIsToldSo) {
  const Route route = route_over("rtt: 20 ms", "copy_rate: 1 GB/s, net.ipv4.tcp_slow_start_after_idle: no");
  EXPECT_EQ(route.window.timeout_margin.value, 0.0);
}

TEST(Route, IsWindowedOverTheWideArea) {
  EXPECT_TRUE(route_over("rtt: 20 ms").windowed);  // 4 MB / 20 ms = 0.2 GB/s, less than a socket's 1 GB/s
}

TEST(Route, IsWindowedByItsSlowStartEvenWhereTheWindowIsWide) {
  EXPECT_TRUE(route_over("rtt: 2 ms").windowed);  // 4 MB / 2 ms = 2 GB/s would do, but the start takes long
}

TEST(Route, IsNotWindowedInsideASite) {
  // 4 MB / 0.2 ms = 20 GB/s, more than a socket's 1 GB/s.
  const Platform platform = platform_of(kPair + "  w2: {site: west, type: *box, gpus: [*g]}\n");
  EXPECT_FALSE(Network(platform).route(0, 2).windowed);
}

TEST(Route, IsWindowedInsideASiteWhereTheBuffersAreTiny) {
  // 100 kB / 2 / 0.2 ms = 0.25 GB/s, less than a socket's 1 GB/s.
  const Platform platform =
      platform_of(with(kPair, "tcp_rmem: 8 MB", "tcp_rmem: 100 kB") + "  w2: {site: west, type: *box, gpus: [*g]}\n");
  EXPECT_TRUE(Network(platform).route(0, 2).windowed);
}

TEST(Route, HasNoSocketInsideAVm) {
  const Platform platform = platform_of(kPair);
  const Route route = Network(platform).route(0, 1);
  EXPECT_FALSE(route.windowed);
  EXPECT_EQ(route.socket_rate.value, 0.0);
}

TEST(Route, IsCappedByTheSlowerEndsSocket) {
  const Platform platform =
      platform_of(kPair +
                  "  w2:\n    site: west\n    gpus: [*g]\n    type: {name: slow, nic: 80 Gbps, device_latency: 0 s, "
                  "tcp: {net.ipv4.tcp_rmem: 8 MB, net.ipv4.tcp_wmem: 6 MB, copy_rate: 0.5 GB/s}}\n");
  EXPECT_EQ(Network(platform).route(0, 2).socket_rate.value, 5e8);
  EXPECT_EQ(Network(platform).route(2, 0).socket_rate.value, 5e8);
}

// West to east over `link`, by this many connections.
SocketBuffers buffers_over(const std::string& link, int sockets) {
  const Platform platform = platform_of(
      kPair + "  e: {site: east, type: *box, gpus: [*g]}\nlinks:\n  wan: {between: [west, east], " + link + "}\n");
  const Network network(platform);
  return network.socket_buffers(network.route(0, 2), sockets);
}

// A new connection's default, which Linux shows as 87040: twice ten segments of 4096 + 256 bytes, the packet of 1448 and
// its headers.
TEST(SocketBuffers, HoldTwiceTheFirstWindowOnAShortPath) {
  const SocketBuffers buffers = buffers_over("rtt: 0.1 ms, bandwidth: 8 Mbps", 1);
  EXPECT_NEAR(buffers.sender.value, 87040, 1e-6);
  EXPECT_EQ(buffers.receiver.value, 65535);
}

// The kernel of this machine, asked for a new connection on loopback, whose packets have 65536 bytes: 2626560 by default.
TEST(SocketBuffers, AreThoseOfThisKernel) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0), connecting = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(listening, at, length), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  ASSERT_EQ(getsockname(listening, at, &length), 0);
  ASSERT_EQ(setsockopt(connecting, IPPROTO_TCP, TCP_CONGESTION, "reno", 4), 0);
  ASSERT_EQ(connect(connecting, at, length), 0);
  int kept = 0;
  length = sizeof kept;
  ASSERT_EQ(getsockopt(connecting, SOL_SOCKET, SO_SNDBUF, &kept, &length), 0);
  close(connecting);
  close(listening);
  const Platform platform =
      platform_of(with(kPair, "mtu: 9 kB", "mtu: 65535 B") + "  w2: {site: west, type: *box, gpus: [*g]}\n");
  const Network network(platform);
  EXPECT_NEAR(network.socket_buffers(network.route(0, 2), 1).sender.value, kept, 1e-6);
}

// 1 Gbit/s and 20 ms: 2.5 MB, of each of four connections 625 kB; two times 4352 of memory per 1448, and two times that and
// sixteen segments at the receiver.
TEST(SocketBuffers, FollowWhatARoundTripCarries) {
  const SocketBuffers buffers = buffers_over("rtt: 20 ms, bandwidth: 1 Gbps", 4);
  EXPECT_NEAR(buffers.sender.value, 4 * 625e3 * 2 * 4352 / 1448, 1e-3);
  EXPECT_NEAR(buffers.receiver.value, 4 * (2 * 625e3 + 16 * 1448), 1e-3);
}

TEST(SocketBuffers, AreAtMostWhatTheKernelAllows) {
  const SocketBuffers buffers = buffers_over("rtt: 200 ms, bandwidth: 8 Gbps", 2);
  EXPECT_EQ(buffers.sender.value, 2 * 6e6);
  EXPECT_EQ(buffers.receiver.value, 2 * 2762.0 * 1448);
}

TEST(SocketBuffers, AreNoneInsideAVm) {
  const Platform platform = platform_of(kPair);
  const Network network(platform);
  EXPECT_EQ(network.socket_buffers(network.route(0, 1), 1).sender.value, 0);
}

}  // namespace
}  // namespace slmsim::tcp_window_test
