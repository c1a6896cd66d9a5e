#include "tests/wan/route.h"

#include <algorithm>

namespace slmsim::wan {
namespace {

constexpr int kHeaders = 52;                       // B, IPv4 and TCP with timestamps; a whole acknowledgement
constexpr double kSegmentsPerAcknowledgement = 2;  // RFC 1122, 4.2.3.2
// Share of the receive buffer that this kernel offers as window: the payload's share of the memory that a packet takes
// (scaling_ratio, Linux 6.6 and later), 1448 of 2304 B for these TUN devices, in steps of 1/256.
constexpr double kReceiveShare = 160.0 / 256;

}  // namespace

Route route_of(const Case& what, double round_trip) {
  TcpSettings settings;
  settings.receive_buffer = Bytes{static_cast<double>(what.rmem)};
  settings.send_buffer = Bytes{static_cast<double>(what.wmem)};
  settings.receive_window_share = kReceiveShare;
  const auto& names = congestion_control_names();
  settings.congestion_control =
      static_cast<CongestionControl>(std::find(names.begin(), names.end(), what.congestion) - names.begin());
  const Bytes mtu{static_cast<double>(what.mtu)};
  Route route;
  route.links = {0};
  route.latency = Seconds{round_trip / 2};
  route.windowed = true;
  route.window = tcp_window(settings, settings, Seconds{round_trip}, mtu, what.loss);
  route.window.sender_sleeps = true;  // a blocking send(), or Gloo's epoll
  return route;
}

double payload_share(int mtu) { return static_cast<double>(mtu - kHeaders) / mtu; }

double payload_share_both_ways(int mtu) { return (mtu - kHeaders) / (mtu + kHeaders / kSegmentsPerAcknowledgement); }

}  // namespace slmsim::wan
