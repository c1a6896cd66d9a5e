// Host memory of VMs that do not describe their inside: one key, and the way to it by the GPU's PCIe slot.
#include <gmock/gmock.h>

#include "sim/platform/network.h"
#include "tests/platform/example.h"

namespace slmsim::host_memory_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string with(std::string text, const std::string& old, const std::string& now) {
  return text.replace(text.find(old), old.size(), now);
}

const std::string kKnown = with(kPair, "device_latency: 10 us", "device_latency: 10 us, host_memory: 64 GiB");

auto errors_in(const std::string& text) {
  Reading reading;
  read_platform(parse_yaml(text, "p.yaml"), "", reading);
  return errors_of(reading);
}

TEST(HostMemory, IsThatOfTheTypeOrOfTheVm) {
  EXPECT_FALSE(has_host_memory(platform_of(kPair).vms[0].type));
  EXPECT_THAT(unknown_host_memory(platform_of(kPair).vms[0]), HasSubstr("state vms.w.host_memory, such as 64 GiB"));
  const VmType type = platform_of(kKnown).vms[0].type;
  EXPECT_TRUE(has_host_memory(type));
  EXPECT_EQ(type.host_memory, Bytes{64 * kGibi});
  EXPECT_EQ(type.host_memory_rate, BytesPerSecond{51.2e9});  // two channels of 25.6 GB/s
  const Platform own = platform_of(with(kKnown, "site: west", "site: west\n    host_memory: 128 GiB"));
  EXPECT_EQ(own.vms[0].type.host_memory, Bytes{128 * kGibi});
}

TEST(HostMemory, BelongsToThePartsWhereATypeStatesThem) {
  const std::string inside =
      "host_memory: 64 GiB, inside: {parts: {c: {kind: switch}, m: {kind: memory, capacity: 1 GB}, a: {kind: gpu}, "
      "b: {kind: gpu}}, links: {L: {rate: 1 GB/s, between: [c m, c a, c b]}}}";
  EXPECT_THAT(errors_in(with(kPair, "device_latency: 10 us", "device_latency: 10 us, " + inside)),
              ElementsAre(HasSubstr("vms.w.type.host_memory has no effect beside inside; state it there")));
}

TEST(HostMemory, IsReachedByThePcieSlot) {
  const Platform platform = platform_of(kKnown);
  const Network network(platform);
  const auto names = [&](const Route& route) {
    std::vector<std::string> out;
    for (const int link : route.links) out.push_back(network.links()[link].name);
    return out;
  };
  const Route there = network.host_route(1, true), back = network.host_route(1, false);
  EXPECT_THAT(names(there), ElementsAre("pcie:w/1:out", "memory:w"));
  EXPECT_THAT(names(back), ElementsAre("memory:w", "pcie:w/1:in"));
  // A copy reaches 0.78 of the slot's 8 GB/s, 25 GB/s of PCIe 4.0's 32.
  EXPECT_DOUBLE_EQ(there.socket_rate.value, 0.78 * 8e9);
  EXPECT_EQ(network.links()[there.links.back()].bandwidth, BytesPerSecond{51.2e9});
}

TEST(HostMemory, IsReachedAtTheMeasuredRateWhereThereIsOne) {
  Platform platform = platform_of(kKnown);
  platform.devices[0].gpu.buses.from_device = BytesPerSecond{5e9};
  const Network network(platform);
  const Route there = network.host_route(0, true);
  EXPECT_EQ(there.socket_rate.value, 0);  // the link is as slow as measured
  EXPECT_EQ(network.links()[there.links.front()].bandwidth, BytesPerSecond{5e9});
  EXPECT_GT(network.host_route(0, false).socket_rate.value, 0);
}

}  // namespace
}  // namespace slmsim::host_memory_test
