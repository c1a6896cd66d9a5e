#include "calibrate/netprobe/measure.h"

#include <algorithm>
#include <cmath>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/schedule.h"

namespace slmsim::calibrate::netprobe {
namespace {

// Shares of the time, per direction.
constexpr double kColdWeight = 4, kIdleWeight = 5, kSteadyWeight = 8, kLossWeight = 3;
constexpr double kWeights = kColdWeight + kIdleWeight + kSteadyWeight + kLossWeight;

Point point_of(double size, const std::vector<Message>& messages) {
  Point point;
  point.size = size;
  std::vector<double> seconds, pauses, before;
  point.threshold_before = messages.front().threshold_before;
  point.initial_window = messages.front().initial_window;
  for (const Message& one : messages) {
    seconds.push_back(one.seconds);
    pauses.push_back(one.pause);
    before.push_back(one.congestion_before);
    point.in_flight = std::max(point.in_flight, one.in_flight);
    point.send_window = std::max(point.send_window, one.send_window);
    point.threshold_before = std::min(point.threshold_before, one.threshold_before);
    point.segments += one.segments;
    point.retransmitted += one.retransmitted;
  }
  point.seconds = spread_of(seconds);
  point.pause = spread_of(pauses).median;
  point.congestion_before = spread_of(before).median;
  return point;
}

SteadyState steady_of(int connections, const std::vector<Stream>& streams) {
  SteadyState steady;
  steady.connections = connections;
  steady.growth = 1;
  std::vector<double> rates;
  for (const Stream& one : streams) {
    rates.push_back(one.bytes / one.seconds);
    const double growth = one.first_half > 0 ? (one.bytes - one.first_half) / one.first_half : 1;
    if (std::abs(growth - 1) > std::abs(steady.growth - 1)) steady.growth = growth;
    steady.in_flight = std::max(steady.in_flight, one.in_flight);
    steady.send_window = std::max(steady.send_window, one.send_window);
    steady.segments += one.segments;
    steady.retransmitted += one.retransmitted;
    steady.receive_limited += one.receive_limited / static_cast<double>(streams.size());
    steady.buffer_limited += one.buffer_limited / static_cast<double>(streams.size());
  }
  steady.rate = spread_of(rates);
  return steady;
}

class MeasurementRun {
 public:
  MeasurementRun(const Wire& wire, const Request& request, const Progress& progress)
      : wire_(wire),
        request_(request),
        progress_(progress),
        budget_(wire.now(), request.time_limit, request.one_way ? kWeights : 2 * kWeights) {}

  Measurement run() {
    tell("round trips");
    rtt_ = spread_of(wire_.ping(5)).median;
    // About two seconds of them.
    result_.rtt = spread_of(wire_.ping(static_cast<int>(std::clamp(2 / std::max(rtt_, 1e-6), 10.0, 200.0))));
    rtt_ = result_.rtt.median;
    result_.kernel_rtt = wire_.kernel_rtt();
    result_.forward = one_way(Direction::kForward, "to the server");
    if (!request_.one_way) result_.reverse = one_way(Direction::kReverse, "from the server");
    return std::move(result_);
  }

 private:
  void tell(const std::string& what) const { progress_(what, 1 - budget_.left(wire_.now()) / request_.time_limit); }

  DirectionResult one_way(Direction direction, const std::string& where) {
    DirectionResult result;
    // The curves first, because a full queue has after-effects on them.
    cold(result, direction, where);
    idle(result, direction, where);
    steady(result, direction, where);
    loss(result, direction, where);
    return result;
  }

  template <class Measure>
  std::vector<Message> repeat(int times, const std::string& what, Measure measure) {
    std::vector<Message> messages;
    for (int i = 0; i < times; ++i) {
      tell(format("%s, %d of %d", what.c_str(), i + 1, times));
      messages.push_back(measure());
    }
    return messages;
  }

  void leave_out(DirectionResult& to, const std::string& what, double cost, double left) const {
    to.left_out.push_back(format("%s: needs about %.1f s, %.1f left", what.c_str(), cost, std::max(0.0, left)));
  }

  void cold(DirectionResult& result, Direction direction, const std::string& where) {
    const double end = wire_.now() + budget_.next(wire_.now(), kColdWeight);
    const auto sizes = curve_sizes(request_.largest);
    std::vector<double> done, seconds;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double cost = 2 * rtt_ + expected_seconds(done, seconds, sizes[i], rtt_), left = end - wire_.now();
      const std::string what = format("%s: %s cold", where.c_str(), size_text(sizes[i]).c_str());
      // The first one is needed to estimate the others.
      const int times =
          std::max(i == 0 ? 1 : 0, repeats_for(cost, left, static_cast<int>(sizes.size() - i) - 1, request_.repeats));
      if (times == 0) {
        for (std::size_t k = i; k < sizes.size(); ++k)
          leave_out(result, size_text(sizes[k]) + " cold", 2 * rtt_ + expected_seconds(done, seconds, sizes[k], rtt_),
                    left);
        return;
      }
      result.cold.push_back(point_of(sizes[i], repeat(times, what, [&] { return wire_.cold(direction, sizes[i]); })));
      done.push_back(sizes[i]);
      seconds.push_back(result.cold.back().seconds.median);
    }
  }

  void idle(DirectionResult& result, Direction direction, const std::string& where) {
    const double end = wire_.now() + budget_.next(wire_.now(), kIdleWeight);
    std::vector<double> sizes, seconds;
    for (const Point& point : result.cold) {
      sizes.push_back(point.size);
      seconds.push_back(point.seconds.median);
    }
    const double warm_up = warm_up_bytes(sizes, seconds, rtt_);
    const double warm_seconds =
        seconds[std::find(sizes.begin(), sizes.end(), warm_up) - sizes.begin()];
    constexpr double kLeastTimeout = 0.2;  // Linux TCP_RTO_MIN, added to the round trip
    const double before = 5 * rtt_ + warm_seconds + kIdleTimeouts * (rtt_ + kLeastTimeout);
    const std::string prefix = where + ": ";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double cost = before + seconds[i], left = end - wire_.now();
      const std::string what = format("%s after idleness", size_text(sizes[i]).c_str());
      const int times = repeats_for(cost, left, static_cast<int>(sizes.size() - i) - 1, request_.repeats);
      if (times == 0) {
        leave_out(result, what, cost, left);
        continue;
      }
      result.idle.push_back(point_of(sizes[i], repeat(times, prefix + what, [&] {
                                       return wire_.idle(direction, warm_up, kIdleTimeouts, sizes[i]);
                                     })));
    }
  }

  void steady(DirectionResult& result, Direction direction, const std::string& where) {
    const double end = wire_.now() + budget_.next(wire_.now(), kSteadyWeight);
    const double warm_up = stream_warm_up(rtt_), seconds = stream_seconds(rtt_), cost = warm_up + seconds + 4 * rtt_;
    const int most = std::max(1, request_.repeats * 3 / 5);
    // By information: one and several connections first, then the values in between. One and eight are always measured, because
    // the path's bandwidth comes from them.
    constexpr int kOrder[] = {1, 8, 4, 2};
    int others = static_cast<int>(std::size(kOrder));
    for (const int count : kOrder) {
      const double left = end - wire_.now();
      const bool needed = others-- > 2;
      const int times = std::max(needed ? 1 : 0, repeats_for(cost, left, others, most));
      if (times == 0) {
        leave_out(result, format("rate of %d connections", count), cost, left);
        continue;
      }
      std::vector<Stream> streams;
      for (int i = 0; i < times; ++i) {
        tell(format("%s: rate of %d connection%s, %d of %d", where.c_str(), count, count > 1 ? "s" : "", i + 1, times));
        streams.push_back(wire_.stream(direction, count, warm_up, seconds, 0));
      }
      result.steady.push_back(steady_of(count, streams));
      result.segment = streams.back().segment;
      result.path_mtu = streams.back().path_mtu;
    }
    std::sort(result.steady.begin(), result.steady.end(),
              [](const SteadyState& a, const SteadyState& b) { return a.connections < b.connections; });
  }

  void loss(DirectionResult& result, Direction direction, const std::string& where) {
    const double share = budget_.next(wire_.now(), kLossWeight), warm_up = stream_warm_up(rtt_);
    const double seconds =
        std::clamp(share - warm_up, stream_seconds(rtt_), std::max(kLongestLossTest, stream_seconds(rtt_)));
    result.loss.pace = kLossPace * best_rate(result).rate.median;
    tell(where + ": loss at half the rate");
    const Stream stream = wire_.stream(direction, kLossConnections, warm_up, seconds, result.loss.pace);
    result.loss.seconds = stream.seconds;
    result.loss.segments = stream.segments;
    result.loss.retransmitted = stream.retransmitted;
    result.loss.spurious = stream.spurious;
  }

  const Wire& wire_;
  const Request& request_;
  const Progress& progress_;
  Budget budget_;
  double rtt_ = 0;
  Measurement result_;
};

}  // namespace

double Loss::share() const { return segments > 0 ? std::max(0.0, retransmitted - spurious) / segments : 0; }

const SteadyState& best_rate(const DirectionResult& result) {
  return *std::max_element(result.steady.begin(), result.steady.end(),
                           [](const SteadyState& a, const SteadyState& b) { return a.rate.median < b.rate.median; });
}

Measurement measure(const Wire& wire, const Request& request, const Progress& progress) {
  return MeasurementRun(wire, request, progress).run();
}

}  // namespace slmsim::calibrate::netprobe
