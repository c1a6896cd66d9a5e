// Path profiles, iperf3's JSON, and the links and VMs that name them.
#pragma once

#include "tests/cli/bad_scenario.h"

namespace slmsim {

inline std::vector<BadCase> bad_path_cases() {
  return {
      {"check",
       "path.yaml",
       {{"1:9", "schema: unknown value \"slmsim/path/2\"; known are: slmsim/path/1"},
        {"1:1", "the file has no \"bandwidth\"; it is required"},
        {"2:7", "name: \"a path\" is not a name"},
        {"3:6", "rtt: \"20\" has no unit; " + kExpectsTime},
        {"4:6", "mtu: \"100 B\" " + kExpectsRange},
        {"5:1", "unknown key \"bandwith\"; did you mean \"bandwidth\"?"},
        {"6:7", "loss: \"0.7\" " + kExpectsRange},
        {"9:24", "client.tcp.net.ipv4.tcp_rmem: \"4096 131072 6291456\" has the unit"},
        {"10:38", "unknown value \"vegas\"; known are: reno, cubic, bbr"},
        {"11:5", "unknown key \"tcp_wmem\" in client.tcp; did you mean \"net.ipv4.tcp_wmem\"?"},
        {"14:28", "curves.forward.steady.0.connections: \"0\" " + kExpectsRange},
        {"15:50", "curves.forward.cold_start.0.least and most do not enclose the median"},
        {"15:67", "curves.forward.cold_start.1 is a single value; a map of keys and values is expected"},
        {"16:5", "unknown key \"idle\" in curves.forward; did you mean \"after_idle\"?"}},
       ""},
      {"check", "path-without-rtt.yaml", {{"8:11", "links.wan.path states no round trip; state links.wan.rtt"}}, ""},
      {"check",
       "path-host.yaml",
       {{"4:111", "vms.one.tcp.path has no kernel settings of its client"},
        {"5:68", "vms.two.tcp.host: unknown value \"clint\"; did you mean \"client\"?"},
        {"6:52", "unknown key \"host\" in vms.six.tcp; known are: "},
        {"6:85", "vms.six.tcp.net.ipv4.tcp_rmem: \"1 B\" " + kExpectsRange},
        {"7:51", "vms.ten.tcp has no \"host\"; it is required"}},
       ""},
      {"check",
       "path-reference.yaml",
       {{"7:32", "there is no path \"nowhere\""}, {"8:32", "path \"./no-such.json\": no such file"}},
       ""},
      {"check", "iperf3-error.json", {{"10:11", "iperf3 failed: \"unable to connect to server"}}, ""},
      {"check", "iperf3-reverse.json", {{"34:15", "iperf3 measured from the server to the client (-R)"}}, ""},
      {"check", "iperf3-bidir.json", {{"217:33", "iperf3 measured both directions at once (--bidir)"}}, ""},
      {"check", "iperf3-udp.json", {{"26:16", "iperf3 measured UDP, not TCP"}}, ""},
      {"check", "iperf3-truncated.json", {{"136:16", "the { of line 133 is not closed before here"}}, ""},
  };
}

}  // namespace slmsim
