// A made-up world for tests: one GPU and one VM type in round numbers, to be named by YAML aliases.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "sim/platform/platform.h"
#include "tests/errors_of.h"

namespace slmsim {

// tcp_rmem 8 MB and tcp_wmem 6 MB: windows of 4 MB and 6 MB. One socket moves 1 GB/s. A hop takes 10 us.
inline const std::string kPair =
    "name: p\n"
    "sites: {west: {rtt: 0.2 ms, mtu: 9 kB}, east: {}}\n"
    "vms:\n"
    "  w: &vm\n"
    "    site: west\n"
    "    gpus: [&g {name: g, architecture: Ampere, multiprocessors: 10, memory: 8 GiB, memory_bandwidth: 100 "
    "GB/s,"
    " pcie: 8 GB/s, nvlink: 80 GB/s, peak: {fp32: 1 TFLOP/s}}, *g]\n"
    "    type: &box {name: box, nic: 80 Gbps, device_latency: 10 us, tcp: {net.ipv4.tcp_rmem: 8 MB,"
    " net.ipv4.tcp_wmem: 6 MB, copy_rate: 1 GB/s}}\n";

inline Platform platform_of(const std::string& text) {
  Reading reading;
  const Platform platform = read_platform(parse_yaml(text, "p.yaml"), "", reading);
  for (const auto& line : errors_of(reading)) ADD_FAILURE() << line;
  return platform;
}

inline int device(const Platform& platform, const std::string& name) {
  for (std::size_t i = 0; i < platform.devices.size(); ++i) {
    if (platform.devices[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << "no device " << name;
  return 0;
}

}  // namespace slmsim
