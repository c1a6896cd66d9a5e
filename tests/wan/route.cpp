#include "tests/wan/route.h"

#include <algorithm>
#include <cmath>

namespace slmsim::wan {
namespace {

constexpr double kInitialSegments = 10;            // RFC 6928
constexpr double kLeastRto = 0.2;                  // s, Linux TCP_RTO_MIN, added to the RTT
constexpr double kMathis = 1.22;                   // as in sim/platform/network.cpp
constexpr double kFirstReceiveWindow = 65160;      // B, what a receiver offers at first: 65535 in whole segments
constexpr int kHeaders = 52;                       // B, IPv4 and TCP with timestamps; a whole acknowledgement
constexpr double kSegmentsPerAcknowledgement = 2;  // RFC 1122, 4.2.3.2
// Share of the receive buffer that this kernel offers as window: the payload's share of the memory that a packet takes
// (scaling_ratio, Linux 6.6 and later), 1448 of 2304 B for these TUN devices, in steps of 1/256.
constexpr double kReceiveShare = 160.0 / 256;

}  // namespace

Route route_of(const Case& what, double round_trip) {
  const double segment = what.mtu - kHeaders;
  double steady = std::min(static_cast<double>(what.rmem) * kReceiveShare, static_cast<double>(what.wmem));
  if (what.loss > 0) steady = std::min(steady, segment * kMathis / std::sqrt(what.loss));
  Route route;
  route.links = {0};
  route.latency = Seconds{round_trip / 2};
  route.windowed = true;
  // BBR never restarts from a smaller window (tcp_slow_start_after_idle_check leaves it out).
  const Seconds idle_limit{what.congestion == "bbr" ? 0 : round_trip + kLeastRto};
  route.window = {Bytes{std::min({steady, kInitialSegments * segment, kFirstReceiveWindow})}, Bytes{steady},
                  Seconds{round_trip}, idle_limit};
  return route;
}

double payload_share(int mtu) { return static_cast<double>(mtu - kHeaders) / mtu; }

double payload_share_both_ways(int mtu) { return (mtu - kHeaders) / (mtu + kHeaders / kSegmentsPerAcknowledgement); }

}  // namespace slmsim::wan
