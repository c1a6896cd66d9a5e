// path: NAME of links and VMs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/kind.h"
#include "sim/scenario/scenario.h"
#include "tests/scenario/folder.h"

namespace slmsim::path_test {
namespace {

using testing::ElementsAre;

class PathKey : public Folder {
 protected:
  PathKey() {
    write("platforms/paths/lab.yaml",
          "schema: slmsim/path/1\nname: lab\nrtt: 30 ms\nbandwidth: 4 Gbps\n"
          "client: {tcp: {net.ipv4.tcp_rmem: 16 MB}}\nserver: {tcp: {net.ipv4.tcp_rmem: 32 MB}}\n");
    write("platforms/pair.yaml",
          "name: pair\nsites: {west: {}, east: {}}\n"
          "vms:\n  west: {site: west, type: box, gpus: [g, g], tcp: {path: lab, host: client}}\n"
          "  east: {site: east, type: box, gpus: [g, g], tcp: {path: lab, host: server}}\n"
          "links:\n  wan: {between: [west, east], path: lab}\n");
  }
};

TEST_F(PathKey, NamesAFileOfPlatformsPaths) {
  const Platform p = load().platform;
  EXPECT_DOUBLE_EQ(p.links[0].forward.delay.value, 0.015);
  EXPECT_EQ(p.links[0].backward.bandwidth.value, 0.5e9);
  EXPECT_EQ(p.vms[0].type.tcp.receive_buffer.value, 16e6);
  EXPECT_EQ(p.vms[1].type.tcp.receive_buffer.value, 32e6);
  EXPECT_EQ(p.vms[1].type.tcp.send_buffer.value, 6e6);  // box
}

TEST_F(PathKey, GivesWayToOverrides) {
  const Platform p = load({"platform.links.wan.rtt=50ms", "platform.vms.west.tcp.net.ipv4.tcp_rmem=64MB",
                           "platform.links.wan.path.bandwidth=8Gbps"})
                         .platform;
  EXPECT_DOUBLE_EQ(p.links[0].forward.delay.value, 0.025);
  EXPECT_EQ(p.links[0].forward.bandwidth.value, 1e9);
  EXPECT_EQ(p.vms[0].type.tcp.receive_buffer.value, 64e6);
  EXPECT_EQ(p.vms[1].type.tcp.receive_buffer.value, 32e6);
}

TEST_F(PathKey, MayBeGivenByAnOverride) {
  write("platforms/paths/far.yaml", "schema: slmsim/path/1\nrtt: 200 ms\nbandwidth: 1 Gbps\n");
  EXPECT_DOUBLE_EQ(load({"platform.links.wan.path=far"}).platform.links[0].forward.delay.value, 0.1);
  EXPECT_EQ(load({"platform.vms.west.tcp={path: lab, host: server}"}).platform.vms[0].type.tcp.receive_buffer.value,
            32e6);
}

TEST_F(PathKey, MayNameIperf3sJson) {
  write("platforms/run.json",
        "{\"start\": {\"test_start\": {\"protocol\": \"TCP\"}}, \"end\": {\"streams\": [{\"sender\": {\"min_rtt\": "
        "40000}}], \"sum_received\": {\"bits_per_second\": 1e9}}}");
  const auto platform = [&](const std::string& keys) {
    write("platforms/pair.yaml",
          "name: pair\nsites: {west: {}, east: {}}\n"
          "vms:\n  west: {site: west, type: box, gpus: [g]}\n  east: {site: east, type: box, gpus: [g]}\n"
          "links:\n  wan: {between: [west, east], path: ./run.json" +
              keys + "}\n");
    return load().platform;
  };
  EXPECT_DOUBLE_EQ(platform("").links[0].forward.delay.value, 0.02);
  EXPECT_EQ(platform("").links[0].forward.bandwidth.value, 125e6);
  EXPECT_DOUBLE_EQ(platform(", rtt: 30 ms").links[0].forward.delay.value, 0.015);
  EXPECT_EQ(check_file(path_ / "platforms/run.json"), "path");
  EXPECT_EQ(check_file(path_ / "platforms/pair.yaml"), "platform");
}

TEST_F(PathKey, AsksWhichWasMeant) {
  EXPECT_THAT(
      errors({"platform.links.wan.path=alb"}),
      ElementsAre("--set platform.links.wan.path=alb:1:1: error: there is no path \"alb\"; did you mean \"lab\"?"));
}

TEST_F(PathKey, ShowsAPathsErrorsInItsFile) {
  write("platforms/paths/lab.yaml",
        "schema: slmsim/path/1\nrtt: 30 ms\nbandwidth: fast\nclient: {tcp: {}}\nserver: {tcp: {}}\n");
  EXPECT_THAT(errors(), ElementsAre(testing::StartsWith("platforms/paths/lab.yaml:3:12: error: "
                                                        "platform.links.wan.path.bandwidth: \"fast\" does not start")));
}

}  // namespace
}  // namespace slmsim::path_test
