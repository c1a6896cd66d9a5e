#include "sim/platform/platform.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/errors_of.h"
#include "tests/platform/example.h"

namespace slmsim::platform_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kEast = "  e: {site: east, type: *box, gpus: *g}\n";
const std::string kWan = "links:\n  wan: {between: [west, east], rtt: 20 ms, bandwidth: 8 Gbps}\n";

auto errors_in(const std::string& text) {
  Reading reading;
  read_platform(parse_yaml(text, "p.yaml"), "", reading);
  return errors_of(reading);
}

std::string with(std::string text, const std::string& old, const std::string& now) {
  return text.replace(text.find(old), old.size(), now);
}

// Three VMs of two GPUs that all have one name.
Platform alike() {
  Platform platform;
  Gpu gpu;
  gpu.name = "g";
  for (int vm = 0; vm < 3; ++vm) {
    platform.vms.push_back({std::string(1, static_cast<char>('a' + vm)), 0, {}, 2 * vm, 2});
    for (int i = 0; i < 2; ++i) platform.devices.push_back({gpu, vm, ""});
  }
  return platform;
}

TEST(Kinds, OfGpusAreTheirFiguresWhateverTheirNames) {
  Platform platform = alike();
  EXPECT_THAT(gpu_kinds(platform), ElementsAre(0, 0, 0, 0, 0, 0));
  platform.devices[1].gpu.memory = Bytes{1};
  platform.devices[3].gpu.memory = Bytes{1};
  platform.devices[4].gpu.buses.to_device = BytesPerSecond{1};  // of its profile
  EXPECT_THAT(gpu_kinds(platform), ElementsAre(0, 1, 0, 1, 4, 0));
  EXPECT_THAT(gpu_kinds(platform, {5, 3, 1, 0}), ElementsAre(0, 1, 1, 0));  // places in the list
}

TEST(Kinds, OfVmsAreTheirTypesAndTheirGpusInOrder) {
  Platform platform = alike();
  EXPECT_THAT(vm_kinds(platform), ElementsAre(0, 0, 0));
  platform.vms[1].type.nic = BytesPerSecond{1};
  EXPECT_THAT(vm_kinds(platform), ElementsAre(0, 1, 0));
  platform.devices[0].gpu.multiprocessors = 1;
  platform.devices[5].gpu.multiprocessors = 1;
  EXPECT_THAT(vm_kinds(platform), ElementsAre(0, 1, 2));
}

TEST(Platform, NumbersDevicesThroughItsVms) {
  const Platform p = platform_of(kPair + "  e: {site: east, type: *box, gpus: [*g]}\n" + kWan);
  ASSERT_EQ(p.vms.size(), 2);
  EXPECT_EQ(p.vms[0].first_device, 0);
  EXPECT_EQ(p.vms[0].device_count, 2);
  EXPECT_EQ(p.vms[1].first_device, 2);
  EXPECT_EQ(p.vms[1].device_count, 1);
  ASSERT_EQ(p.devices.size(), 3);
  EXPECT_EQ(p.devices[1].name, "w/1");
  EXPECT_EQ(p.devices[2].name, "e/0");
  EXPECT_EQ(p.devices[2].vm, 1);
}

TEST(Platform, ReadsAVmType) {
  const VmType type = platform_of(kPair + "  e: {site: east, type: *box, gpus: [*g]}\n" + kWan).vms[0].type;
  EXPECT_EQ(type.name, "box");
  EXPECT_EQ(type.nic.value, 10e9);  // 80 Gbit/s
  EXPECT_FALSE(type.peer_to_peer);
  EXPECT_FALSE(type.nvlink);
  EXPECT_DOUBLE_EQ(type.device_latency.value, 10e-6);
  EXPECT_EQ(type.tcp.receive_buffer.value, 8e6);
  EXPECT_EQ(type.tcp.send_buffer.value, 6e6);
  EXPECT_TRUE(type.tcp.slow_start_after_idle);                        // Linux's default
  EXPECT_EQ(type.tcp.initial_window, 10);                             // RFC 6928
  EXPECT_EQ(type.tcp.congestion_control, CongestionControl::kCubic);  // Linux's default
  EXPECT_EQ(type.tcp.copy_rate.value, 1e9);
}

TEST(Platform, KnowsThreeCongestionControls) {
  const std::string box =
      "{name: b, nic: 1 Gbps, device_latency: 1 us, tcp: {net.ipv4.tcp_rmem: 8 MB, "
      "net.ipv4.tcp_wmem: 6 MB, copy_rate: 1 GB/s, net.ipv4.tcp_congestion_control: ";
  Reading reading;
  const auto control = [&](const std::string& name) {
    return read_vm_type(parse_yaml(box + name + "}}", "b.yaml"), "", reading).tcp.congestion_control;
  };
  EXPECT_EQ(control("reno"), CongestionControl::kReno);
  EXPECT_EQ(control("bbr"), CongestionControl::kBbr);
  EXPECT_THAT(errors_of(reading), IsEmpty());
  control("cubi");
  EXPECT_THAT(errors_of(reading), ElementsAre(testing::HasSubstr("did you mean \"cubic\"?")));
}

TEST(Platform, GivesSitesEthernetUnlessTheySaySo) {
  const Platform p = platform_of(kPair + "  e: {site: east, type: *box, gpus: [*g]}\n" + kWan);
  EXPECT_EQ(p.sites[0].mtu.value, 9000.0);
  EXPECT_DOUBLE_EQ(p.sites[0].rtt.value, 0.2e-3);
  EXPECT_EQ(p.sites[1].mtu.value, 1500.0);
  EXPECT_DOUBLE_EQ(p.sites[1].rtt.value, 0.1e-3);
}

TEST(Platform, MakesALinkTheSameInBothDirections) {
  const WanLink link =
      platform_of(kPair + "links:\n  wan: {between: [west, east], rtt: 20 ms, bandwidth: 8 Gbps, loss: 0.25}\n")
          .links[0];
  EXPECT_EQ(link.name, "wan");
  EXPECT_EQ(link.from, 0);
  EXPECT_EQ(link.to, 1);
  EXPECT_EQ(link.mtu.value, 1500.0);
  for (const auto& direction : {link.forward, link.backward}) {
    EXPECT_EQ(direction.bandwidth.value, 1e9);      // 8 Gbit/s
    EXPECT_DOUBLE_EQ(direction.delay.value, 0.01);  // half of the round trip
    EXPECT_EQ(direction.loss, 0.25);
  }
}

TEST(Platform, LetsALinkDifferOnTheWayBack) {
  const WanLink link = platform_of(kPair +
                                   "links:\n  wan: {between: [west, east], rtt: 20 ms, forward_delay: 5 ms, "
                                   "bandwidth: 8 Gbps, loss: 0.25, reverse: {bandwidth: 16 Gbps, loss: 0}}\n")
                           .links[0];
  EXPECT_DOUBLE_EQ(link.forward.delay.value, 0.005);
  EXPECT_DOUBLE_EQ(link.backward.delay.value, 0.015);  // 20 - 5 ms
  EXPECT_EQ(link.forward.bandwidth.value, 1e9);
  EXPECT_EQ(link.backward.bandwidth.value, 2e9);
  EXPECT_EQ(link.forward.loss, 0.25);
  EXPECT_EQ(link.backward.loss, 0.0);
}

TEST(Platform, TakesWhatReverseLeavesOutFromTheWayForward) {
  const WanLink link = platform_of(kPair +
                                   "links:\n  wan: {between: [west, east], rtt: 20 ms, bandwidth: 8 Gbps, "
                                   "loss: 0.25, reverse: {bandwidth: 16 Gbps}}\n")
                           .links[0];
  EXPECT_EQ(link.backward.loss, 0.25);
}

TEST(Platform, AsksWhichSiteWasMeant) {
  EXPECT_THAT(errors_in(kPair + "  e: {site: eats, type: *box, gpus: [*g]}\n" + kWan),
              ElementsAre("p.yaml:8:13: error: vms.e.site: there is no site \"eats\"; did you mean \"east\"?"));
  EXPECT_THAT(errors_in(kPair + with(kWan, "[west, east]", "[wst, east]")),
              ElementsAre("p.yaml:9:19: error: links.wan.between: there is no site \"wst\"; did you mean \"west\"?"));
}

TEST(Platform, RefusesALinkThatDoesNotJoinTwoSites) {
  EXPECT_THAT(errors_in(kPair + with(kWan, "[west, east]", "[west, west]")),
              ElementsAre("p.yaml:9:18: error: links.wan.between names one site twice; a link joins two sites"));
  for (const char* ends : {"[west]", "[west, east, west]"}) {
    EXPECT_THAT(errors_in(kPair + with(kWan, "[west, east]", ends)),
                ElementsAre("p.yaml:9:18: error: links.wan.between must name two sites, e.g. between: [gat, amst]"))
        << ends;
  }
}

TEST(Platform, RefusesAForwardDelayLongerThanTheRoundTrip) {
  EXPECT_THAT(errors_in(kPair + with(kWan, "rtt: 20 ms", "rtt: 20 ms, forward_delay: 21 ms")),
              ElementsAre("p.yaml:9:59: error: links.wan.forward_delay is longer than the round trip; it is a part "
                          "of rtt"));
}

TEST(Platform, TakesTheWholeRoundTripAsForwardDelayInAnyUnit) {
  // 200 us and 0.2 ms are the same time and not the same double.
  EXPECT_THAT(errors_in(kPair + with(kWan, "rtt: 20 ms", "rtt: 200us, forward_delay: 0.2ms")), IsEmpty());
}

TEST(Platform, RefusesVmsThatCannotReachEachOther) {
  EXPECT_THAT(errors_in(kPair + "  e: {site: east, type: *box, gpus: [*g]}\n"),
              ElementsAre("p.yaml:1:1: error: no link leads from w (site west) to e (site east); add one under "
                          "links"));
}

TEST(Platform, DoesNotMindALonelySiteWithoutVms) { EXPECT_THAT(errors_in(kPair), IsEmpty()); }

TEST(Platform, RefusesAVmWithoutGpus) {
  EXPECT_THAT(errors_in(kPair + "  e: {site: east, type: *box}\n" + kWan),
              ElementsAre("p.yaml:8:6: error: vms.e.gpus is missing; list the VM's GPUs"));
  EXPECT_THAT(errors_in(kPair + "  e: {site: east, type: *box, gpus: []}\n" + kWan),
              ElementsAre("p.yaml:8:37: error: vms.e.gpus is empty; list at least one"));
}

TEST(Platform, RefusesNumbersThatNoNetworkHas) {
  EXPECT_THAT(errors_in(kPair + with(with(kWan, "rtt: 20 ms", "rtt: 20 s"), "8 Gbps", "1 kbps, loss: 0.6")),
              ElementsAre("p.yaml:9:37: error: links.wan.rtt: \"20 s\" is out of range; expected 100 ns to 10 s",
                          "p.yaml:9:68: error: links.wan.loss: \"0.6\" is out of range; expected a number from 0 to "
                          "0.5"));
}

TEST(Platform, AsksWhichKeyWasMeant) {
  EXPECT_THAT(errors_in(with(kPair, "tcp_wmem", "tcp_wmen")),
              ElementsAre("p.yaml:7:70: error: vms.w.type.tcp has no \"net.ipv4.tcp_wmem\"; it is required",
                          "p.yaml:7:96: error: unknown key \"net.ipv4.tcp_wmen\" in vms.w.type.tcp; did you mean "
                          "\"net.ipv4.tcp_wmem\"?"));
}

TEST(Platform, NeedsSitesAndVms) {
  EXPECT_THAT(errors_in("name: p\n"), ElementsAre("p.yaml:1:1: error: the file has no \"sites\"; it is required",
                                                  "p.yaml:1:1: error: the file has no \"vms\"; it is required"));
}

}  // namespace
}  // namespace slmsim::platform_test
