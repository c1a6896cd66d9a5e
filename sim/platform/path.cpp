#include "sim/platform/path.h"

#include <fmt/format.h>

#include "sim/platform/platform.h"

namespace slmsim {
namespace {

constexpr Range<Seconds> kTimeRange{{0.0}, {1e6}};
constexpr Range<Bytes> kSizeRange{{0.0}, {1e15}};
constexpr Range<std::int64_t> kCountRange{0, 1'000'000'000'000};

void read_host(Fields& fields, const std::string& role, Reading& reading) {
  const Node* node = fields.child(role);
  if (!node) return;
  Fields host(*node, fields.path_of(role), reading);
  for (const char* key : {"host", "address", "machine", "kernel"}) host.text(key, "");
  host.ignore("settings");  // the kernel's own words
  const TcpSettings any;
  if (const Node* tcp = host.child("tcp")) read_tcp(*tcp, host.path_of("tcp"), reading, &any);
  host.done();
}

// Reads each map of a list.
template <class Each>
void each_of(Fields& fields, const std::string& key, Reading& reading, Each each) {
  const auto items = fields.list(key);
  for (std::size_t i = 0; i < items.size(); ++i) {
    Fields item(*items[i], fmt::format("{}.{}", fields.path_of(key), i), reading);
    each(item);
    item.integer("repeats", {1, 1'000'000}, 1);
    item.quantity<Bytes>("send_window", kSizeRange, Bytes{0});
    item.integer("segments", kCountRange, 0);
    item.integer("retransmitted", kCountRange, 0);
    item.done();
  }
}

void check_order(Fields& item, auto least, auto median, auto most) {
  if (least <= median && median <= most) return;
  item.error("least", fmt::format("{} and most do not enclose the median", item.path_of("least")));
}

std::vector<PathRate> read_rates(Fields& fields, Reading& reading) {
  std::vector<PathRate> rates;
  each_of(fields, "steady", reading, [&](Fields& item) {
    PathRate rate;
    rate.connections = static_cast<int>(item.integer("connections", {1, 10'000}));
    rate.rate = item.quantity<BytesPerSecond>("rate", kNetRange);
    check_order(item, item.quantity<BytesPerSecond>("least", kNetRange, rate.rate), rate.rate,
                item.quantity<BytesPerSecond>("most", kNetRange, rate.rate));
    rate.in_flight = item.quantity<Bytes>("in_flight", kSizeRange, Bytes{0});
    item.number("growth", {0, 1e6}, 1.0);
    item.number("receive_limited", {0, 1e3}, 0.0);
    item.number("buffer_limited", {0, 1e3}, 0.0);
    rates.push_back(rate);
  });
  return rates;
}

std::vector<PathPoint> read_curve(Fields& fields, const std::string& key, Reading& reading) {
  std::vector<PathPoint> points;
  each_of(fields, key, reading, [&](Fields& item) {
    PathPoint point;
    point.size = item.quantity<Bytes>("size", kSizeRange);
    point.time = item.quantity<Seconds>("time", kTimeRange);
    point.least = item.quantity<Seconds>("least", kTimeRange, point.time);
    point.most = item.quantity<Seconds>("most", kTimeRange, point.time);
    check_order(item, point.least, point.time, point.most);
    point.pause = item.quantity<Seconds>("pause", kTimeRange, Seconds{0});
    item.quantity<Bytes>("in_flight", kSizeRange, Bytes{0});
    item.integer("window_before", kCountRange, 0);
    item.integer("threshold_before", kCountRange, 0);
    points.push_back(point);
  });
  return points;
}

void read_curves(Fields& curves, const std::string& name, PathDirection& direction, Reading& reading) {
  const Node* node = curves.child(name);
  if (!node) return;
  Fields fields(*node, curves.path_of(name), reading);
  direction.steady = read_rates(fields, reading);
  direction.cold_start = read_curve(fields, "cold_start", reading);
  direction.after_idle = read_curve(fields, "after_idle", reading);
  fields.list("left_out");
  if (const Node* test = fields.child("loss")) {
    Fields loss(*test, fields.path_of("loss"), reading);
    loss.quantity<BytesPerSecond>("pace", kNetRange);
    loss.quantity<Seconds>("time", kTimeRange);
    for (const char* count : {"segments", "retransmitted", "spurious"}) loss.integer(count, kCountRange);
    loss.done();
  }
  fields.done();
}

void read_round_trips(Fields& fields, Reading& reading) {
  const Node* node = fields.child("round_trips");
  if (!node) return;
  Fields trips(*node, fields.path_of("round_trips"), reading);
  trips.integer("count", {1, 1'000'000});
  for (const char* key : {"least", "median", "p90", "most"}) trips.quantity<Seconds>(key, kTimeRange);
  trips.quantity<Seconds>("kernel_least", kTimeRange, Seconds{0});
  trips.done();
}

}  // namespace

PathProfile read_path(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  PathProfile profile;
  fields.choice("schema", {"slmsim/path/1"});
  profile.name = fields.name("name", "path");
  fields.text("date", "");
  fields.text("command", "");
  read_host(fields, "client", reading);
  read_host(fields, "server", reading);
  if (fields.has("rtt")) profile.rtt = fields.quantity<Seconds>("rtt", kRttRange);
  if (fields.has("mtu")) profile.mtu = fields.quantity<Bytes>("mtu", kMtuRange);
  profile.forward.bandwidth = fields.quantity<BytesPerSecond>("bandwidth", kNetRange);
  profile.forward.loss = fields.number("loss", kLossRange, 0.0);
  profile.backward = profile.forward;
  if (const Node* reverse = fields.child("reverse")) {
    Fields back(*reverse, fields.path_of("reverse"), reading);
    profile.backward.bandwidth = back.quantity<BytesPerSecond>("bandwidth", kNetRange, profile.forward.bandwidth);
    profile.backward.loss = back.number("loss", kLossRange, profile.forward.loss);
    back.done();
  }
  read_round_trips(fields, reading);
  if (const Node* found = fields.child("curves")) {
    Fields curves(*found, fields.path_of("curves"), reading);
    read_curves(curves, "forward", profile.forward, reading);
    read_curves(curves, "reverse", profile.backward, reading);
    curves.done();
  }
  fields.done();
  return profile;
}

}  // namespace slmsim
