// A GPU's profile as the platform uses it. All profiles here are made up.
#include "sim/platform/gpu.h"

#include <gmock/gmock.h>

#include "sim/platform/network.h"
#include "tests/platform/example.h"

namespace slmsim::profile_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kHead = "schema: slmsim/gpu-profile/1\nname: made-up\ngpu: Made Up 1\n";

GpuProfile read(const std::string& text) {
  Reading reading;
  GpuProfile profile = read_profile(parse_yaml(kHead + text, "p.yaml"), "", reading);
  EXPECT_THAT(errors_of(reading), IsEmpty());
  return profile;
}

std::vector<std::string> errors_in(const std::string& text) {
  Reading reading;
  read_profile(parse_yaml(text, "p.yaml"), "", reading);
  return errors_of(reading);
}

TEST(GpuProfile, HoldsKernelsByNameAndPrecisionInTheOrderOfTheirSizes) {
  const GpuProfile profile = read(
      "kernels:\n"
      "  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 2048, n: 8, k: 4, time: 20 us, low: 19 us, samples: 9}\n"
      "  - {kernel: gemm-nn, precision: fp16, batch: 1, m: 1024, n: 8, k: 4, time: 12 us}\n"
      "  - {kernel: gemm-nn, precision: tf32, batch: 1, m: 1024, n: 8, k: 4, time: 30 us}\n"
      "launches:\n  - {kind: in-a-row, time: 2.5 us}\n  - {kind: waited-for, time: 9 us}\n");
  EXPECT_DOUBLE_EQ(profile.launch.value, 2.5e-6);
  const auto& points = profile.kernels.at("gemm-nn");
  ASSERT_THAT(points[static_cast<std::size_t>(Precision::kFp16)], SizeIs(2));
  EXPECT_EQ(points[0][0].m, 1024);
  EXPECT_DOUBLE_EQ(points[0][1].time.value, 20e-6);
  EXPECT_THAT(points[static_cast<std::size_t>(Precision::kTf32)], SizeIs(1));
  EXPECT_THAT(points[static_cast<std::size_t>(Precision::kFp32)], IsEmpty());
}

TEST(GpuProfile, HasTheHostThatTheVmDoesNotState) {
  EXPECT_FALSE(read("").host);
  EXPECT_DOUBLE_EQ(read("host: 2.2\n").host.value(), 2.2);
  EXPECT_THAT(errors_in(kHead + "host: 50\n"), Contains(HasSubstr("0.05 to 20")));
  Profiles profiles;
  profiles.add("here", read("host: 2.2\n"));
  Gpu gpu;
  ASSERT_TRUE(profiles.attach("here", gpu));
  EXPECT_DOUBLE_EQ(gpu.host, 2.2);
}

TEST(GpuProfile, TakesTheBestOfPinnedCopies) {
  const GpuProfile profile = read(
      "transfers:\n"
      "  - {kind: host-to-device, memory: pinned, size: 4 kB, time: 10 us}\n"
      "  - {kind: host-to-device, memory: pinned, size: 100 MB, time: 10 ms}\n"
      "  - {kind: host-to-device, memory: pageable, size: 100 MB, time: 1 ms}\n"
      "  - {kind: device-to-host, memory: pinned, size: 100 MB, time: 20 ms}\n"
      "  - {kind: device-to-device, memory: device, size: 100 MB, time: 0.1 ms}\n");
  EXPECT_DOUBLE_EQ(profile.buses.to_device.value, 10e9);
  EXPECT_DOUBLE_EQ(profile.buses.from_device.value, 5e9);
  EXPECT_EQ(profile.buses.peer.value, 0.0);
}

TEST(GpuProfile, KnowsALinkOfARingFromAllReduces) {
  // 4 GPUs: 2 x 3 steps and a bus bandwidth of 2 x 3/4 of size over time.
  const GpuProfile profile = read(
      "transfers:\n  - {kind: peer-to-peer, memory: direct, size: 1 MB, time: 1 us}\n"
      "collectives:\n"
      "  - {collective: all-reduce, ranks: 4, hosts: 1, size: 1 kB, time: 60 us, busbw: 0.025 GB/s, wrong: 0}\n"
      "  - {collective: all-reduce, ranks: 4, hosts: 1, size: 100 MB, time: 10 ms}\n"
      "  - {collective: all-reduce, ranks: 4, hosts: 2, size: 100 MB, time: 1 ms}\n"
      "  - {collective: all-gather, ranks: 4, hosts: 1, size: 100 MB, time: 1 ms}\n");
  EXPECT_DOUBLE_EQ(profile.buses.peer.value, 15e9);
  EXPECT_DOUBLE_EQ(profile.buses.peer_latency.value, 10e-6);
}

TEST(GpuProfile, KnowsALinkFromOtherCollectivesOrCopiesWithoutAllReduces) {
  // All-gather: 3 steps and 3/4 of the buffer.
  const GpuProfile gathered =
      read("collectives:\n  - {collective: all-gather, ranks: 4, hosts: 1, size: 4 MB, time: 3 ms}\n");
  EXPECT_DOUBLE_EQ(gathered.buses.peer.value, 1e9);
  EXPECT_DOUBLE_EQ(gathered.buses.peer_latency.value, 1e-3);
  const GpuProfile copied = read(
      "transfers:\n  - {kind: peer-to-peer, memory: staged, size: 4 kB, time: 8 us}\n"
      "  - {kind: peer-to-peer, memory: staged, size: 8 MB, time: 1 ms}\n");
  EXPECT_DOUBLE_EQ(copied.buses.peer.value, 8e9);
  EXPECT_DOUBLE_EQ(copied.buses.peer_latency.value, 8e-6);
}

TEST(GpuProfile, TellsWhatIsWrong) {
  EXPECT_THAT(errors_in("schema: slmsim/path/1\nname: p\n"), Contains(HasSubstr("slmsim/gpu-profile/1 is expected")));
  EXPECT_THAT(
      errors_in(kHead + "kernels:\n  - {kernel: adam, precision: fp8, batch: 1, m: 1, n: 1, k: 1, time: 1 s}\n"),
      Contains(HasSubstr("fp8")));
  EXPECT_THAT(
      errors_in(kHead + "kernels:\n  - {kernel: gemm_nn, precision: fp16, batch: 1, m: 1, n: 1, k: 1, time: 1 s}\n"),
      ElementsAre(
          HasSubstr("5:14: error: kernels.0.kernel: there is no kernel \"gemm_nn\"; did you mean \"gemm-nn\"?")));
  EXPECT_THAT(errors_in(kHead + "transfers:\n  - {kind: host-to-moon, size: 1 kB, time: 1 s}\n"),
              Contains(HasSubstr("host-to-moon")));
  EXPECT_THAT(errors_in(kHead + "kernels:\n"
                                "  - {kernel: adam, precision: fp16, batch: 1, m: 9, n: 1, k: 1, time: 1 s}\n"
                                "  - {kernel: adam, precision: fp16, batch: 1, m: 9, n: 1, k: 1, time: 2 s}\n"),
              ElementsAre(HasSubstr("adam fp16 1x9x1x1 appears twice in the profile; keep one of them")));
}

// The pair of GPUs of example.h, with the profile that the linker would put there.
Platform profiled(const std::string& profile, std::string text = kPair) {
  text.replace(text.find("{name: g,"), 9, "{name: g, profile: my.yaml,");
  text.replace(0, 8, "name: p\nprofiles:\n  my.yaml:\n    schema: slmsim/gpu-profile/1\n    name: made-up\n" + profile);
  return platform_of(text);
}

TEST(GpuProfile, GivesTheRatesInsideAVm) {
  const Platform platform = profiled(
      "    transfers:\n"
      "      - {kind: host-to-device, memory: pinned, size: 100 MB, time: 20 ms}\n"
      "      - {kind: device-to-host, memory: pinned, size: 100 MB, time: 25 ms}\n"
      "    collectives:\n"
      "      - {collective: all-reduce, ranks: 2, hosts: 1, size: 30 MB, time: 10 ms}\n"
      "      - {collective: all-reduce, ranks: 2, hosts: 1, size: 1 kB, time: 34 us}\n");
  const Network network(platform);
  const auto rate = [&](const std::string& name) {
    for (const auto& link : network.links()) {
      if (link.name == name) return link.bandwidth.value;
    }
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(rate("pcie:w/0:in"), 5e9);
  EXPECT_DOUBLE_EQ(rate("pcie:w/0:out"), 4e9);
  EXPECT_DOUBLE_EQ(rate("peer:w/0:out"), 3e9);  // 2 x 1/2 x 30 MB / 10 ms
  const Route route = network.route(0, 1);
  EXPECT_DOUBLE_EQ(route.latency.value, 17e-6);  // two steps
  EXPECT_THAT(route.links, SizeIs(4));           // both slots, and between them what two GPUs reached
  EXPECT_EQ(platform.devices[0].gpu.pcie.value, 8e9) << "NCCL goes by the data sheet's rate";
}

TEST(GpuProfile, LeavesTheDataSheetsRatesWhereNothingWasMeasured) {
  const Platform platform = profiled("    launches:\n      - {kind: in-a-row, time: 2 us}\n");
  const Network network(platform);
  const Network plain(platform_of(kPair));
  for (std::size_t i = 0; i < plain.links().size(); ++i)
    EXPECT_EQ(network.links()[i].bandwidth, plain.links()[i].bandwidth) << plain.links()[i].name;
  EXPECT_THAT(network.route(0, 1).links, SizeIs(4));
  EXPECT_DOUBLE_EQ(network.route(0, 1).latency.value, 20e-6);
  EXPECT_EQ(platform.devices[0].gpu.kernels, platform.devices[1].gpu.kernels) << "equal GPUs share a table";
  EXPECT_DOUBLE_EQ(platform.devices[0].gpu.kernels->launch().value, 2e-6);
}

}  // namespace
}  // namespace slmsim::profile_test
