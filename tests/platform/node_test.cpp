// The inside of a node: ways, what they cross, NICs and drives.
#include <gmock/gmock.h>

#include "sim/platform/network.h"
#include "tests/errors_of.h"

namespace slmsim::node_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two sockets with a GPU, a memory and a NIC each; the GPUs are joined directly. A drive on socket b.
const std::string kNode =
    "name: p\n"
    "sites: {lab: {rtt: 2 us}}\n"
    "vms:\n"
    "  n0: &node\n"
    "    site: lab\n"
    "    gpus: [&g {name: g, architecture: Ampere, multiprocessors: 10, memory: 8 GiB, memory_bandwidth: 100 GB/s,"
    " pcie: 8 GB/s, nvlink: 80 GB/s, peak: {fp32: 1 TFLOP/s}}, *g]\n"
    "    type:\n"
    "      name: box\n"
    "      nic: 10 GB/s\n"
    "      rdma: yes\n"
    "      nvlink: yes\n"
    "      device_latency: 0 us\n"
    "      inside:\n"
    "        network: Fabric\n"
    "        parts: {a: {kind: switch}, b: {kind: switch}, g0: {kind: gpu}, g1: {kind: gpu},"
    " m0: {kind: memory, capacity: 1 GB}, m1: {kind: memory, capacity: 1 GB}, x0: {kind: nic}, x1: {kind: nic}}\n"
    "        links:\n"
    "          Direct: {between: [g0 g1], rate: 50 GB/s, efficiency: 0.5, latency: 1 us}\n"
    "          Slot: {between: [a g0, b g1], rate: 20 GB/s, latency: 1 us}\n"
    "          Port: {between: [a x0, b x1], rate: 20 GB/s, latency: 2 us}\n"
    "          Middle: {between: [a b], rate: 40 GB/s, latency: 5 us}\n"
    "          Memory: {between: [a m0, b m1], rate: 100 GB/s, half_duplex: yes}\n"
    "        crossings:\n"
    "          one: {between: [Slot, Port], at: [a, b], rate: 7 GB/s}\n"
    "    storage:\n"
    "      drives: {d: {at: b, model: {name: m, capacity: 1 TB, read: 6 GB/s, write: 3 GB/s, interconnect: Lane,"
    " rate: 8 GB/s}}}\n"
    "      volumes: {v: {drives: [d], gpus: [g0, g1]}}\n"
    "  n1: *node\n";

Platform node_platform(const std::string& text = kNode) {
  Reading reading;
  Platform platform = read_platform(parse_yaml(text, "p.yaml"), "", reading);
  for (const auto& line : errors_of(reading)) ADD_FAILURE() << line;
  return platform;
}

std::vector<std::string> names(const Network& network, const Route& route) {
  std::vector<std::string> out;
  for (const int link : route.links) out.push_back(network.links()[link].name);
  return out;
}

TEST(Node, GpusThatAreJoinedDirectlyUseTheirOwnLink) {
  const Network network(node_platform());
  const Route route = network.route(0, 1);
  EXPECT_THAT(names(network, route), ElementsAre("Direct:n0/g0->g1"));
  EXPECT_DOUBLE_EQ(route.latency.value, 1e-6);
  EXPECT_DOUBLE_EQ(network.links()[route.links[0]].bandwidth.value, 25e9);
  EXPECT_FALSE(route.windowed);
}

TEST(Node, NicsTalkToTheirCounterpartsAndPortsOfADieContend) {
  const Network network(node_platform());
  // From the GPU of socket a to that of socket b: NIC 0 to NIC 0, then over to the other socket.
  const Route route = network.route(0, 3);
  EXPECT_THAT(names(network, route),
              ElementsAre("Slot:n0/g0->a", "crossing:n0/a:Slot->Port", "Port:n0/a->x0", "Fabric:n0/x0:out",
                          "Fabric:n1/x0:in", "Port:n1/x0->a", "Middle:n1/a->b", "Slot:n1/b->g1"));
  EXPECT_DOUBLE_EQ(route.latency.value, (1 + 2 + 1 + 2 + 5 + 1) * 1e-6);  // half the site's 2 us in between
  EXPECT_DOUBLE_EQ(route.socket_rate.value, 0);
}

TEST(Node, CrossingsHoldInBothDirections) {
  const Network network(node_platform());
  EXPECT_THAT(names(network, network.route(2, 0)),
              ElementsAre("Slot:n1/g0->a", "crossing:n1/a:Slot->Port", "Port:n1/a->x0", "Fabric:n1/x0:out",
                          "Fabric:n0/x0:in", "Port:n0/x0->a", "crossing:n0/a:Port->Slot", "Slot:n0/a->g0"));
}

TEST(Node, MemoryIsHalfDuplexAndDrivesAreReachedOverTheSocketsBetween) {
  const Network network(node_platform());
  EXPECT_THAT(names(network, network.drive_route(0, 8, true)),
              ElementsAre("Memory:n0/a-m0", "Middle:n0/a->b", "Lane:n0/b->d"));
  EXPECT_THAT(names(network, network.drive_route(0, 8, false)),
              ElementsAre("Lane:n0/d->b", "Middle:n0/b->a", "Memory:n0/a-m0"));
  EXPECT_THAT(names(network, network.drive_route(1, 8, true)), ElementsAre("Memory:n0/b-m1", "Lane:n0/b->d"));
}

TEST(Node, LinksBetweenGpusAreCountedAtBothEnds) {
  const Network network(node_platform());
  for (const Link& link : network.links()) {
    if (link.interconnect == "Direct") {
      EXPECT_EQ(link.counted, 2);
      EXPECT_DOUBLE_EQ(link.peak.value, 50e9);
    } else if (!link.interconnect.empty()) {
      EXPECT_EQ(link.counted, 1);
    }
  }
}

std::vector<std::string> errors_with(const std::string& from, const std::string& to) {
  std::string text = kNode;
  text.replace(text.find(from), from.size(), to);
  Reading reading;
  read_platform(parse_yaml(text, "p.yaml"), "", reading);
  return errors_of(reading);
}

TEST(Node, NamesThatNobodyHasAreErrorsWithTheNearest) {
  EXPECT_THAT(errors_with("[a g0, b g1]", "[a g0, b g2]"),
              testing::Contains(HasSubstr("there is no part \"g2\"; known are: a, b, g0, g1")));
  EXPECT_THAT(errors_with("[Slot, Port]", "[Slot, Prot]"),
              testing::Contains(HasSubstr("there is no kind of link \"Prot\"; did you mean \"Port\"")));
  EXPECT_THAT(errors_with("drives: [d]", "drives: [m0]"), testing::Contains(HasSubstr("\"m0\" is not a drive")));
  EXPECT_THAT(errors_with("gpus: [g0, g1]", "gpus: [m0]"), testing::Contains(HasSubstr("\"m0\" is not a GPU")));
  EXPECT_THAT(errors_with("g1: {kind: gpu}, ", ""), testing::Contains(HasSubstr("no part \"g1\"")));
}

TEST(Node, WithoutPeerToPeerWhatNoLinkJoinsIsStagedThroughMemory) {
  std::string text = kNode;
  const std::string direct = "          Direct: {between: [g0 g1], rate: 50 GB/s, efficiency: 0.5, latency: 1 us}\n";
  text.erase(text.find(direct), direct.size());
  const Network staged(node_platform(text));
  EXPECT_THAT(names(staged, staged.route(0, 1)), ElementsAre("Slot:n0/g0->a", "Memory:n0/a-m0", "Middle:n0/a->b",
                                                             "Slot:n0/b->g1",  // and what kernels copy
                                                             "peer:n0/0:out", "peer:n0/1:in"));
  text.insert(text.find("      nvlink: yes"), "      peer_to_peer: yes\n");
  const Network peers(node_platform(text));
  EXPECT_THAT(names(peers, peers.route(0, 1)), ElementsAre("Slot:n0/g0->a", "Middle:n0/a->b", "Slot:n0/b->g1"));
}

TEST(Node, WhatWouldBeIgnoredIsAnError) {
  const auto expect = [](const char* from, const char* to, const char* text) {
    EXPECT_THAT(errors_with(from, to), testing::Contains(HasSubstr(text)));
  };
  expect("[g0 g1]", "[g0 g1 a]", "\"g0 g1 a\" names more than two parts");
  expect("[a b]", "[a b, b a]", "\"b a\" is listed twice");
  expect("at: [a, b], rate: 7", "rate: 7", "at is missing; name the parts where links of both kinds meet");
  expect("at: [a, b], rate: 7", "at: [g0], rate: 7", "nothing passes through \"g0\"");
  expect("[Slot, Port]", "[Slot, Direct]", "no links of both kinds, Slot and Direct, meet at \"a\"");
  expect("parts: {a:", "parts: {c: {kind: switch}, a:", "no link joins c");
  expect("drives: [d],", "drives: [d, d],", "\"d\" is named twice");
  expect("gpus: [g0, g1]}}", "gpus: [g0, g0]}}", "\"g0\" has a volume already");
  expect("gpus: [g0, g1]}}", "gpus: []}}", "gpus is empty");
}

TEST(Node, PartsThatNobodyReachesAreErrors) {
  EXPECT_THAT(errors_with("Slot: {between: [a g0, b g1]", "Slot: {between: [a g0, b g0]"),
              testing::Contains(HasSubstr("no path leads from g1 to m0; join them by links through switches")));
  EXPECT_THAT(errors_with("drives: {d: {at: b", "drives: {a: {at: b"),
              testing::Contains(HasSubstr("two parts are named \"a\"")));
}

}  // namespace
}  // namespace slmsim::node_test
