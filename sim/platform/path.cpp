#include "sim/platform/path.h"

#include <fmt/format.h>

#include "sim/platform/platform.h"

namespace slmsim {
namespace {

constexpr const char* kMedian = "the median";
constexpr Range<Seconds> kTimeRange{{0.0}, {1e6}};
constexpr Range<Bytes> kSizeRange{{0.0}, {1e15}};
constexpr Range<std::int64_t> kCountRange{0, 1'000'000'000'000};

constexpr const char* kOnlyReported = "Recorded with the measurement; the simulator does not use it.";

void read_host(Fields& fields, const std::string& role) {
  fields.inside({role, "One of the two hosts between which the path was measured."}, [](Fields& host) {
    for (const char* key : {"host", "address", "machine", "kernel"}) host.text({key, kOnlyReported}, "");
    host.ignore({"settings", "Settings as the kernel reports them; not used."});
    const TcpSettings any;
    host.inside({"tcp", "The host's kernel settings, for VMs that name the path."},
                [&](Fields& tcp) { read_tcp(tcp, &any); });
  });
}

// Reads each measurement of a list.
template <class Each>
void each_measured(Fields& fields, const FileKey& key, Each each) {
  fields.each_item(key, [&](Fields& item) {
    each(item);
    item.integer({"repeats", "Number of measurements."}, {1, 1'000'000}, 1);
    item.quantity<Bytes>({"send_window", kOnlyReported}, kSizeRange, Bytes{0});
    item.integer({"segments", kOnlyReported}, kCountRange, 0);
    item.integer({"retransmitted", kOnlyReported}, kCountRange, 0);
  });
}

void check_order(Fields& item, auto least, auto median, auto most) {
  if (least <= median && median <= most) return;
  item.error("least", fmt::format("{} and most do not enclose the median", item.path_of("least")));
}

std::vector<PathRate> read_rates(Fields& fields) {
  std::vector<PathRate> rates;
  const FileKey steady{"steady", "Total rates of several connections, after their slow start."};
  each_measured(fields, steady, [&](Fields& item) {
    PathRate rate;
    rate.connections = static_cast<int>(item.integer({"connections", "Number of connections."}, {1, 10'000}));
    rate.rate = item.quantity<BytesPerSecond>({"rate", "Median of their total rate."}, kNetRange);
    const auto least =
        item.quantity<BytesPerSecond>({"least", "Lowest measured value.", kMedian}, kNetRange, rate.rate);
    const auto most = item.quantity<BytesPerSecond>({"most", "Highest measured value.", kMedian}, kNetRange, rate.rate);
    check_order(item, least, rate.rate, most);
    rate.in_flight = item.quantity<Bytes>(
        {"in_flight", "Maximum data of one connection that was sent and not yet acknowledged."}, kSizeRange, Bytes{0});
    item.number({"growth", kOnlyReported}, {0, 1e6}, 1.0);
    item.number({"receive_limited", kOnlyReported}, {0, 1e3}, 0.0);
    item.number({"buffer_limited", kOnlyReported}, {0, 1e3}, 0.0);
    rates.push_back(rate);
  });
  return rates;
}

std::vector<PathPoint> read_curve(Fields& fields, const FileKey& key) {
  std::vector<PathPoint> points;
  each_measured(fields, key, [&](Fields& item) {
    PathPoint point;
    point.size = item.quantity<Bytes>({"size", "The size of the message."}, kSizeRange);
    point.time =
        item.quantity<Seconds>({"time", "Median time from its first byte sent to its last byte received."}, kTimeRange);
    point.least = item.quantity<Seconds>({"least", "Lowest measured value.", kMedian}, kTimeRange, point.time);
    point.most = item.quantity<Seconds>({"most", "Highest measured value.", kMedian}, kTimeRange, point.time);
    check_order(item, point.least, point.time, point.most);
    point.pause = item.quantity<Seconds>(
        {"pause", "Idle time of the connection before the message; 0: a new connection."}, kTimeRange, Seconds{0});
    item.quantity<Bytes>({"in_flight", kOnlyReported}, kSizeRange, Bytes{0});
    item.integer({"window_before", kOnlyReported}, kCountRange, 0);
    item.integer({"threshold_before", kOnlyReported}, kCountRange, 0);
    points.push_back(point);
  });
  return points;
}

void read_curves(Fields& curves, const std::string& name, PathDirection& direction) {
  curves.inside({name, "Measurements in this direction."}, [&](Fields& fields) {
    direction.steady = read_rates(fields);
    direction.cold_start = read_curve(fields, {"cold_start", "Times of messages over new connections."});
    direction.after_idle = read_curve(fields, {"after_idle", "Times of messages over connections that were idle."});
    fields.list({"left_out", "Measurements left out, with reasons."}, {ValueType::any()});
    fields.inside({"loss", "The test that counted lost segments."}, [](Fields& loss) {
      loss.quantity<BytesPerSecond>({"pace", "The rate at which it sent."}, kNetRange);
      loss.quantity<Seconds>({"time", "Duration of sending."}, kTimeRange);
      loss.integer({"segments", "Segments sent."}, kCountRange);
      loss.integer({"retransmitted", "Segments retransmitted."}, kCountRange);
      loss.integer({"spurious", "Retransmitted segments that had already arrived."}, kCountRange);
    });
  });
}

void read_round_trips(Fields& trips) {
  trips.integer({"count", "Number of round trips measured."}, {1, 1'000'000});
  for (const char* key : {"least", "median", "p90", "most"}) trips.quantity<Seconds>({key, kOnlyReported}, kTimeRange);
  trips.quantity<Seconds>({"kernel_least", kOnlyReported}, kTimeRange, Seconds{0});
}

}  // namespace

PathProfile read_path(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  PathProfile profile;
  fields.choice({"schema", "Schema of the file."}, {"slmsim/path/1"});
  profile.name = fields.name({"name", "Name of the path."}, "path");
  fields.text({"date", "Date of the measurement."}, "");
  fields.text({"command", "Program that measured it."}, "");
  read_host(fields, "client");
  read_host(fields, "server");
  if (fields.has("rtt"))
    profile.rtt =
        fields.quantity<Seconds>({"rtt", "Round trip of the idle path.", "the link must state it"}, kRttRange);
  if (fields.has("mtu")) profile.mtu = fields.quantity<Bytes>({"mtu", "Largest packet.", "the link's"}, kMtuRange);
  profile.forward.bandwidth = fields.quantity<BytesPerSecond>(
      {"bandwidth", "Highest payload rate of several connections from the client to the server."}, kNetRange);
  profile.forward.loss = fields.number(
      {"loss", "Share of segments lost below the path's rate, from the client to the server."}, kLossRange, 0.0);
  profile.backward = profile.forward;
  fields.inside({"reverse", "The same from the server to the client.", "as forward"}, [&](Fields& back) {
    profile.backward.bandwidth = back.quantity<BytesPerSecond>(
        {"bandwidth", "Highest payload rate of several connections on the way back.", "as forward"}, kNetRange,
        profile.forward.bandwidth);
    profile.backward.loss = back.number({"loss", "Share of segments lost on the way back.", "as forward"}, kLossRange,
                                        profile.forward.loss);
  });
  fields.inside({"round_trips", "Round trips of small messages on the idle path."}, read_round_trips);
  fields.inside({"curves", "Measurements, by direction."}, [&](Fields& curves) {
    read_curves(curves, "forward", profile.forward);
    read_curves(curves, "reverse", profile.backward);
  });
  fields.done();
  return profile;
}

}  // namespace slmsim
