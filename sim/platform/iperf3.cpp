#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/platform/path.h"
#include "sim/platform/platform.h"

namespace slmsim {
namespace {

constexpr const char* kHowTo = "run iperf3 -c HOST -J";

// A shorter test has no interval of iperf3's own (1 s), and its RTT is a single sample.
constexpr Seconds kShortestTest{0.9};
// Slow start doubles a window of ten segments (RFC 6928) once per round trip: twenty are enough for 1 GiB, which no window
// exceeds (RFC 7323), and four more.
constexpr double kInitialSegments = 10, kLeastRounds = 20;
// A test reached its own bound where its rate is within this share of it.
constexpr double kNear = 0.1;

// The value at keys below one another, nullptr where one is missing.
const Node* at(const Node* node, std::initializer_list<const char*> keys) {
  for (const char* key : keys) node = node ? node->find(key) : nullptr;
  return node;
}

// 0 where there is none.
double number_at(const Node* node, std::initializer_list<const char*> keys) {
  const Node* found = at(node, keys);
  return found ? parse_number(found->scalar).value_or(0.0) : 0.0;
}

std::string text_at(const Node* node, std::initializer_list<const char*> keys) {
  const Node* found = at(node, keys);
  return found ? printable(found->scalar) : "";
}

Node map_at(const Place& place) {
  Node map;
  map.kind = Node::Kind::kMap;
  map.place = place;
  return map;
}

void add(Node& map, const std::string& key, Node value) { map.entries.push_back({key, value.place, std::move(value)}); }

void add(Node& map, const std::string& key, const Place& place, std::string text) {
  Node value;
  value.kind = Node::Kind::kScalar;
  value.place = place;
  value.scalar = std::move(text);
  add(map, key, std::move(value));
}

class Converter {
 public:
  explicit Converter(const Node& file) : file_(file), end_(file.find("end")) {
    source_ =
        fmt::format("{}, {}", text_at(&file_, {"start", "version"}), text_at(&file_, {"start", "timestamp", "time"}));
  }

  Node convert() {
    refuse_other_runs();
    Node path = map_at(file_.place);
    add(path, "schema", file_.place, "slmsim/path/1");
    const Node* rate = at(end_, {"sum_received", "bits_per_second"});
    if (number_at(rate, {}) <= 0)
      throw InputError(
          end_ ? end_->place : file_.place,
          fmt::format("iperf3 reports no rate (end.sum_received.bits_per_second); did the run end? {}", kHowTo));
    refuse_short_test(rate->place, number_at(rate, {}) / 8);
    refuse_bounded_test(number_at(rate, {}) / 8);
    const std::string bandwidth = fmt::format("{} bps", rate->scalar);
    measured(path, "bandwidth", rate->place, bandwidth, "goodput of all streams (end.sum_received)");
    add_rtt(path);
    add_mtu(path);
    add_congestion(path);
    add_curve(path, bandwidth);
    return path;
  }

 private:
  void refuse_other_runs() const {
    if (const Node* error = file_.find("error"))
      throw InputError(error->place,
                       fmt::format("iperf3 failed: \"{}\"; {}", printable(error->scalar.substr(0, 200)), kHowTo));
    const Node* test = at(&file_, {"start", "test_start"});
    if (const Node* protocol = at(test, {"protocol"}); !protocol || protocol->scalar != "TCP") {
      throw InputError(protocol ? protocol->place : file_.place,
                       fmt::format("iperf3 measured {}, not TCP; {} without -u or --sctp",
                                   protocol ? printable(protocol->scalar.substr(0, 16)) : "nothing", kHowTo));
    }
    if (const Node* reverse = at(test, {"reverse"}); reverse && number_at(reverse, {}) != 0)
      throw InputError(reverse->place,
                       fmt::format("iperf3 measured from the server to the client (-R), whose round trip "
                                   "the client does not see; {} on the link's first site, and state the "
                                   "other direction's bandwidth under reverse",
                                   kHowTo));
    if (const Node* both = at(end_, {"sum_received_bidir_reverse"}))
      throw InputError(
          both->place,
          fmt::format("iperf3 measured both directions at once (--bidir), which slow each other down; {} without it",
                      kHowTo));
  }

  // A test within slow start states how windows grow, not the path's rate. Half of it must lie behind slow start.
  void refuse_short_test(const Place& rate_place, double rate) const {
    const Node* time = nullptr;
    for (const char* sum : {"sum_sent", "sum_received"}) {
      const Node* one = at(end_, {sum, "seconds"});
      if (number_at(one, {}) > 0 && (!time || number_at(one, {}) < number_at(time, {}))) time = one;
    }
    if (!time) return;
    const Seconds took{number_at(time, {})}, all{took.value + number_at(&file_, {"start", "test_start", "omit"})};
    const Node* least = least_rtt();
    const Seconds rtt{number_at(least, {}) * 1e-6};
    const double first = kInitialSegments * std::max(1.0, number_at(&file_, {"start", "tcp_mss_default"}));
    const double rounds = rtt.value > 0 ? all / rtt : kLeastRounds;
    const double needed = std::max(kLeastRounds, 2 * std::log2(1 + rate * rtt.value / streams() / first));
    if (took >= kShortestTest && rounds >= needed) return;
    constexpr double kUsual = 10;  // seconds, of iperf3 without options
    const std::string trips =
        rtt.value > 0 ? fmt::format(", {:.2g} round trips of {},", rounds, to_text(rtt)) : std::string();
    throw InputError(time->place.source ? time->place : rate_place,
                     fmt::format("{}{} are too short to leave slow start; {} -t {:.0f}", to_text(took), trips, kHowTo,
                                 std::max(kUsual, std::ceil(2 * needed * rtt.value))));
  }

  // A rate that the test's own options hold is theirs, not the path's.
  void refuse_bounded_test(double rate) const {
    const Node* test = at(&file_, {"start", "test_start"});
    for (const auto& [key, option] : {std::pair{"target_bitrate", "-b"}, {"fqrate", "--fq-rate"}}) {
      const Node* bound = at(test, {key});
      const double all = number_at(bound, {}) / 8, each = all * streams();
      const auto near = [&](double most) { return most > 0 && std::abs(rate / most - 1) <= kNear; };
      if (near(all) || near(each))
        throw InputError(bound->place,
                         fmt::format("the test reached its own limit of {} ({}), not the path's; {} without it",
                                     to_text(BytesPerSecond{all}), option, kHowTo));
    }
    const Node* window = at(&file_, {"start", "sock_bufsize"});
    const double most = number_at(window, {}), rtt = number_at(least_rtt(), {}) * 1e-6;
    // Linux doubles the value of -w, and keeps some of it for itself.
    if (most > 0 && rate * rtt / streams() >= most / 2)
      throw InputError(window->place,
                       fmt::format("the test filled its own window of {} (-w), not the path; {} without it",
                                   to_text(Bytes{most}), kHowTo));
  }

  double streams() const { return static_cast<double>(std::max<std::size_t>(1, senders().size())); }

  void measured(Node& map, const std::string& key, const Place& place, const std::string& value,
                const std::string& what) const {
    Node stated = map_at(place);
    add(stated, "value", place, value);
    add(stated, "provenance", place, "measured");
    add(stated, "source", place, fmt::format("{}: {}", source_, what));
    add(map, key, std::move(stated));
  }

  // The streams' "sender" maps.
  std::vector<const Node*> senders() const {
    std::vector<const Node*> out;
    if (const Node* streams = at(end_, {"streams"})) {
      for (const auto& stream : streams->items) {
        if (const Node* sender = stream.find("sender")) out.push_back(sender);
      }
    }
    return out;
  }

  // The smallest min_rtt, in us; nullptr where none is stated.
  const Node* least_rtt() const {
    const Node* least = nullptr;
    for (const Node* sender : senders()) {
      const Node* rtt = sender->find("min_rtt");
      if (number_at(rtt, {}) > 0 && (!least || number_at(rtt, {}) < number_at(least, {}))) least = rtt;
    }
    return least;
  }

  void add_rtt(Node& path) const {
    if (const Node* least = least_rtt())
      measured(path, "rtt", least->place, fmt::format("{} us", least->scalar),
               "smallest min_rtt of the senders, under the test's own load");
  }

  void add_mtu(Node& path) const {
    const Node* segment = at(&file_, {"start", "tcp_mss_default"});
    const Node* connected = at(&file_, {"start", "connected"});
    const bool six = connected && !connected->items.empty() &&
                     text_at(&connected->items[0], {"remote_host"}).find(':') != std::string::npos;
    // TCP with timestamps over IPv4 and IPv6.
    const double headers = six ? 72 : 52;
    const double mtu = number_at(segment, {}) + headers;
    if (mtu >= kMtuRange.low.value && mtu <= kMtuRange.high.value)
      measured(path, "mtu", segment->place, fmt::format("{:.0f} B", mtu),
               fmt::format("tcp_mss_default and {:.0f} B of headers", headers));
  }

  void add_congestion(Node& path) const {
    const Node* congestion = at(end_, {"sender_tcp_congestion"});
    const auto& known = congestion_control_names();
    if (!congestion || std::ranges::find(known, congestion->scalar) == known.end()) return;
    Node tcp = map_at(congestion->place), client = tcp;
    measured(tcp, "net.ipv4.tcp_congestion_control", congestion->place, congestion->scalar,
             "end.sender_tcp_congestion");
    add(client, "tcp", std::move(tcp));
    add(path, "client", std::move(client));
  }

  void add_curve(Node& path, const std::string& rate) const {
    double window = 0;
    for (const Node* sender : senders()) window = std::max(window, number_at(sender, {"max_snd_cwnd"}));
    const Place& place = end_->place;
    Node point = map_at(place), steady, forward = point, curves = point;
    steady.kind = Node::Kind::kSequence;
    steady.place = place;
    add(point, "connections", place, std::to_string(std::max<std::size_t>(1, senders().size())));
    add(point, "rate", place, rate);
    add(point, "in_flight", place, fmt::format("{:.0f} B", window));
    add(point, "retransmitted", place, fmt::format("{:.0f}", number_at(end_, {"sum_sent", "retransmits"})));
    steady.items.push_back(std::move(point));
    add(forward, "steady", std::move(steady));
    add(curves, "forward", std::move(forward));
    add(path, "curves", std::move(curves));
  }

  const Node& file_;
  const Node* end_;
  std::string source_;
};

bool is_iperf3(const Node& file) {
  return file.find("start") && (file.find("intervals") || file.find("end") || file.find("error"));
}

}  // namespace

bool is_path(const Node& file) {
  const Node* schema = file.find("schema");
  return (schema && schema->scalar.starts_with("slmsim/path")) || is_iperf3(file);
}

Node as_path(Node file) {
  if (file.find("schema")) return file;
  if (!is_iperf3(file))
    throw InputError(file.place, fmt::format("neither a path profile (schema: slmsim/path/1) nor iperf3's JSON; {}, or "
                                             "slmsim-netprobe",
                                             kHowTo));
  return Converter(file).convert();
}

}  // namespace slmsim
