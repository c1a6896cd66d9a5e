#include <algorithm>

#include <fmt/format.h>

#include "sim/base/fields.h"
#include "sim/platform/path.h"
#include "sim/platform/platform.h"

namespace slmsim {
namespace {

constexpr const char* kHowTo = "run iperf3 -c HOST -J";

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

  void add_rtt(Node& path) const {
    const Node* least = nullptr;
    for (const Node* sender : senders()) {
      const Node* rtt = sender->find("min_rtt");
      if (number_at(rtt, {}) > 0 && (!least || number_at(rtt, {}) < number_at(least, {}))) least = rtt;
    }
    if (least)
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
    if (!congestion || std::find(known.begin(), known.end(), congestion->scalar) == known.end()) return;
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
