// A host's facts: machine, kernel and the kernel's TCP settings.
#pragma once

#include <map>
#include <string>

namespace slmsim::calibrate::netprobe {

// By name: "host", "machine", "kernel", and settings such as "net.ipv4.tcp_rmem" with the kernel's text ("4096 131072
// 6291456"); settings that the kernel lacks are left out. `proc` replaces /proc in tests.
using HostFacts = std::map<std::string, std::string>;
HostFacts facts_of_this_host(const std::string& proc = "/proc");

// The last of the setting's numbers: the maximum of tcp_rmem and tcp_wmem. 0 where there is none.
double last_number(const HostFacts& facts, const std::string& name);
std::string fact(const HostFacts& facts, const std::string& name);

}  // namespace slmsim::calibrate::netprobe
