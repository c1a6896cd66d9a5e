#include "calibrate/netprobe/profile.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "calibrate/common/text.h"

namespace slmsim::calibrate::netprobe {
namespace {

constexpr double kNoThreshold = INT32_MAX;  // tcpi_snd_ssthresh of a connection that never left slow start

std::string measured(const std::string& value, const std::string& source) {
  return format("{value: %s, provenance: measured, source: %s}", value.c_str(), quoted(source).c_str());
}

constexpr double kMostly = 0.5;  // of the time

// The steady rate at which the receiver's window limited one connection, so that the window had its full size; null: none.
const SteadyState* held_by_receiver(const DirectionResult& result) {
  for (const SteadyState& steady : result.steady) {
    if (steady.receive_limited > kMostly) return &steady;
  }
  return nullptr;
}

class Writer {
 public:
  Writer(const Measurement& m, const Hosts& hosts, const Origin& origin) : m_(m), hosts_(hosts), origin_(origin) {}

  std::string write() {
    line("# A path between two hosts, measured over TCP by slmsim-netprobe. forward: from the client to the server.");
    line(
        "# bandwidth: highest acknowledged rate of 1 to 8 connections. loss: of segments sent at half that rate, "
        "which");
    line(
        "# never fills the path; retransmissions at the full rate are due to queue overflow and are listed in curves.");
    line("schema: slmsim/path/1");
    line("name: " + origin_.name);
    line("date: " + quoted(origin_.date));
    line("command: " + quoted(origin_.command));
    host("client", hosts_.client, hosts_.client_address, &m_.forward, m_.reverse ? &*m_.reverse : nullptr);
    host("server", hosts_.server, hosts_.server_address, m_.reverse ? &*m_.reverse : nullptr, &m_.forward);
    line("rtt: " +
         measured(time_text(m_.rtt.median),
                  source(format("median of %d round trips of one byte on an idle connection, %s to %s", m_.rtt.count,
                                time_text(m_.rtt.least).c_str(), time_text(m_.rtt.most).c_str()))));
    const double mtu = m_.reverse ? std::min(m_.forward.path_mtu, m_.reverse->path_mtu) : m_.forward.path_mtu;
    line("mtu: " + measured(format("%.0f B", mtu), source("the kernel's path MTU (tcpi_pmtu)")));
    direction("", m_.forward);
    if (m_.reverse) {
      line("reverse:");
      direction("  ", *m_.reverse);
    }
    line(format("round_trips: {count: %d, least: %s, median: %s, p90: %s, most: %s, kernel_least: %s}", m_.rtt.count,
                time_text(m_.rtt.least).c_str(), time_text(m_.rtt.median).c_str(), time_text(m_.rtt.p90).c_str(),
                time_text(m_.rtt.most).c_str(), time_text(m_.kernel_rtt).c_str()));
    line(
        "# time: from the first send() to the receiver's last byte, as the sender saw it, less half a round trip for "
        "the");
    line("# answer; median, least and most of the repeats. in_flight: most bytes sent and not acknowledged.");
    line("curves:");
    curves("forward", m_.forward);
    if (m_.reverse) curves("reverse", *m_.reverse);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  std::string source(const std::string& text) const {
    return format("slmsim-netprobe, %s: %s", origin_.date.c_str(), text.c_str());
  }

  void host(const std::string& role, const HostFacts& facts, const std::string& address, const DirectionResult* sent,
            const DirectionResult* received) {
    line(role + ":");
    line("  host: " + quoted(fact(facts, "host")));
    line("  address: " + quoted(address));
    line("  machine: " + quoted(fact(facts, "machine")));
    line("  kernel: " + quoted(fact(facts, "kernel")));
    line("  tcp:");
    const auto setting = [&](const std::string& name, const std::string& value) {
      line("    " + name + ": " + measured(value, name + " of " + fact(facts, "host") + ": " + fact(facts, name)));
    };
    for (const char* name : {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}) {
      if (const double most = last_number(facts, name); most > 0) setting(name, format("%.0f B", most));
    }
    const char* idle = "net.ipv4.tcp_slow_start_after_idle";
    if (!fact(facts, idle).empty()) setting(idle, last_number(facts, idle) > 0 ? "yes" : "no");
    const char* control = "net.ipv4.tcp_congestion_control";
    // The simulator knows these; others are listed among the settings.
    for (const char* known : {"reno", "cubic", "bbr"}) {
      if (fact(facts, control) == known) setting(control, known);
    }
    if (sent && !sent->cold.empty() && sent->cold.front().initial_window >= 1)
      line("    initial_window: " + measured(format("%.0f", sent->cold.front().initial_window),
                                             source("congestion window of a new connection (tcpi_snd_cwnd)")));
    const double buffer = last_number(facts, "net.ipv4.tcp_rmem");
    const SteadyState* held = received ? held_by_receiver(*received) : nullptr;
    if (held && buffer > 0 && held->send_window <= buffer)
      line("    receive_window_share: " + measured(format("%.3f", held->send_window / buffer),
                                                   source("the window that limited the other host, of tcp_rmem")));
    line("  settings:");
    for (const auto& [name, value] : facts) {
      if (name.starts_with("net.")) line("    " + name + ": " + quoted(value));
    }
  }

  void direction(const std::string& indent, const DirectionResult& result) {
    const SteadyState& best = best_rate(result);
    std::string how = format("acknowledged bytes per second of %d connection%s, median of %d, %s to %s",
                             best.connections, best.connections > 1 ? "s" : "", best.rate.count,
                             rate_text(best.rate.least).c_str(), rate_text(best.rate.most).c_str());
    const double held = best.receive_limited + best.buffer_limited;
    if (held > kMostly)
      how +=
          format("; limited by the hosts' windows for %.0f %% of the time, so the path may carry more", 100 * held);
    line(indent + "bandwidth: " + measured(rate_text(best.rate.median), source(how)));
    const Loss& loss = result.loss;
    std::string seen = format("%.0f of %.0f segments lost at %s", std::max(0.0, loss.retransmitted - loss.spurious),
                              loss.segments, rate_text(loss.pace).c_str());
    if (loss.share() <= 0) seen += format("; with 95 %% confidence below %.2g", upper_bound_of_none(loss.segments));
    line(indent + "loss: " + measured(format("%.6g", loss.share()), source(seen)));
  }

  static std::string point(const Point& p) {
    std::string text = format("      - {size: %s, time: %s, least: %s, most: %s, repeats: %d",
                              size_text(p.size).c_str(), time_text(p.seconds.median).c_str(),
                              time_text(p.seconds.least).c_str(), time_text(p.seconds.most).c_str(), p.seconds.count);
    if (p.pause > 0) text += ", pause: " + time_text(p.pause);
    text += format(", in_flight: %s, send_window: %s, window_before: %.0f", size_text(p.in_flight).c_str(),
                   size_text(p.send_window).c_str(), p.congestion_before);
    if (p.threshold_before < kNoThreshold) text += format(", threshold_before: %.0f", p.threshold_before);
    return text + format(", segments: %.0f, retransmitted: %.0f}", p.segments, p.retransmitted);
  }

  void curves(const std::string& name, const DirectionResult& result) {
    line("  " + name + ":");
    line("    steady:");
    for (const SteadyState& s : result.steady) {
      line(
          format("      - {connections: %d, rate: %s, least: %s, most: %s, repeats: %d, growth: %.3f, in_flight: %s, "
                 "send_window: %s, receive_limited: %.3f, buffer_limited: %.3f, segments: %.0f, retransmitted: %.0f}",
                 s.connections, rate_text(s.rate.median).c_str(), rate_text(s.rate.least).c_str(),
                 rate_text(s.rate.most).c_str(), s.rate.count, s.growth, size_text(s.in_flight).c_str(),
                 size_text(s.send_window).c_str(), s.receive_limited, s.buffer_limited, s.segments, s.retransmitted));
    }
    line("    cold_start:");
    for (const Point& p : result.cold) line(point(p));
    if (!result.idle.empty()) line("    after_idle:");
    for (const Point& p : result.idle) line(point(p));
    line(format("    loss: {pace: %s, time: %s, segments: %.0f, retransmitted: %.0f, spurious: %.0f}",
                rate_text(result.loss.pace).c_str(), time_text(result.loss.seconds).c_str(), result.loss.segments,
                result.loss.retransmitted, result.loss.spurious));
    if (!result.left_out.empty()) line("    left_out:  # for lack of time; raise --time-limit");
    for (const auto& text : result.left_out) line("      - " + quoted(text));
  }

  const Measurement& m_;
  const Hosts& hosts_;
  const Origin& origin_;
  std::string out_;
};

}  // namespace

std::string to_yaml(const Measurement& measurement, const Hosts& hosts, const Origin& origin) {
  return Writer(measurement, hosts, origin).write();
}

std::string name_from(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (is_name_letter(c) && name.size() < kLongestName && !(name.empty() && c == '.')) name += c;
  }
  return name.empty() ? "path" : name;
}

}  // namespace slmsim::calibrate::netprobe
