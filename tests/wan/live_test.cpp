// The emulated path and a real kernel on this machine: bounds are loose, so that a slow or busy one passes too.
#include <thread>

#include <gtest/gtest.h>

#include "tests/wan/transfer.h"

namespace slmsim::wan::live_test {
namespace {

// Runs, or skips the test with the kernel's reason.
template <typename Work>
void where_permitted(const Work& work) {
  try {
    work();
  } catch (const Forbidden& reason) {
    GTEST_SKIP() << "needs network namespaces and TUN devices: " << reason.what();
  }
}

constexpr Case kCase{
    .rtt = 20.2, .rate = 100, .congestion = "reno", .wmem = 4 << 20, .rmem = 6 << 20, .bytes = 2'000'000};

TEST(LiveWan, APingTakesTheRoundTripAndATransferAtLeastItsBytesAtTheRate) {
  where_permitted([] {
    const Sample sample = transfer(kCase, 1);
    EXPECT_GE(sample.path_rtt, 0.0202);
    EXPECT_LE(sample.path_rtt, 0.1);
    // 2 MB at 100 Mbit/s take 160 ms, and the last byte one more latency.
    EXPECT_GE(sample.seconds, 0.170);
    EXPECT_LE(sample.seconds, 5);
    EXPECT_EQ(sample.before.congestion, 10);
    EXPECT_GE(sample.before.segment, 1400);
  });
}

TEST(LiveWan, AnIdleConnectionHalvesItsWindowForEachTimeOut) {
  where_permitted([] {
    Case what = kCase;
    what.warm_up = 2'000'000;
    what.pause_timeouts = 3.5;
    const Sample sample = transfer(what, 1);
    ASSERT_GE(sample.before.congestion, 200);
    // A busy machine may be late by a time-out, never early.
    EXPECT_LE(sample.after_send.congestion, sample.before.congestion / 8);
    EXPECT_GE(sample.after_send.congestion, 10);
  });
}

TEST(LiveWan, LossIsSeenAsRetransmissions) {
  where_permitted([] {
    Case what = kCase;
    what.loss = 0.01;
    EXPECT_GE(transfer(what, 1).retransmitted, 1);  // of some 1400 packets
  });
}

TEST(LiveWan, EachHostHasKernelSettingsOfItsOwn) {
  where_permitted([] {
    const Host host("10.99.0.2", 1500);
    host.set("net.ipv4.tcp_wmem", "4096 16384 1048576");
    EXPECT_EQ(host.get("net.ipv4.tcp_wmem"), "4096\t16384\t1048576");
    const Host other("10.99.0.3", 1500);
    EXPECT_NE(other.get("net.ipv4.tcp_wmem"), host.get("net.ipv4.tcp_wmem"));  // each has its own settings
  });
}

}  // namespace
}  // namespace slmsim::wan::live_test
