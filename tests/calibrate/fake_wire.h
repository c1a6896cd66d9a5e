// A path in round numbers that takes no time: 20 ms, 50 MB/s, a window of 200 kB per connection (10 MB/s), and a clock
// that the measurements themselves move on.
#pragma once

#include <algorithm>

#include "calibrate/netprobe/measure.h"

namespace slmsim::calibrate::netprobe {

struct FakePath {
  double clock = 1000, rtt = 0.02, rate = 50e6, window = 200e3;
  double lost_share = 0;  // of segments of paced streams
  int colds = 0, idles = 0, streams = 0;

  double message_seconds(double bytes) const { return rtt / 2 + bytes / std::min(rate, window / rtt); }

  Wire wire() {
    Wire wire;
    wire.now = [this] { return clock; };
    wire.ping = [this](int count) {
      clock += count * rtt;
      std::vector<double> times(static_cast<std::size_t>(count), rtt);
      times.back() = 3 * rtt;
      return times;
    };
    wire.kernel_rtt = [this] { return rtt * 0.99; };
    wire.cold = [this](Direction, double bytes) { return ++colds, message(bytes, 0); };
    wire.idle = [this](Direction, double warm_up, double timeouts, double bytes) {
      ++idles;
      clock += message_seconds(warm_up);
      return message(bytes, timeouts * (rtt + 0.2));
    };
    wire.stream = [this](Direction, int connections, double warm_up, double seconds, double pace) {
      ++streams;
      clock += warm_up + seconds;
      Stream stream;
      stream.seconds = seconds;
      const double most = std::min(rate, connections * window / rtt);
      stream.bytes = seconds * (pace > 0 ? std::min(pace, most) : most);
      stream.first_half = stream.bytes / 2;
      stream.in_flight = stream.send_window = window;
      stream.segment = 1000;
      stream.path_mtu = 1052;
      stream.segments = stream.bytes / stream.segment;
      stream.retransmitted = pace > 0 ? lost_share * stream.segments : stream.segments / 10;
      stream.receive_limited = connections * window / rtt < rate ? 1 : 0;
      return stream;
    };
    return wire;
  }

 private:
  Message message(double bytes, double pause) {
    Message message;
    message.pause = pause;
    message.seconds = message_seconds(bytes);
    clock += pause + message.seconds + 3 * rtt;
    message.initial_window = message.congestion_before = 10;
    message.threshold_before = 2147483647;
    message.in_flight = std::min(bytes, window);
    message.segments = bytes / 1000;
    return message;
  }
};

}  // namespace slmsim::calibrate::netprobe
