#include "calibrate/netprobe/watch.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <sstream>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/schedule.h"
#include "calibrate/netprobe/statistics.h"

namespace slmsim::calibrate::netprobe {
namespace {

constexpr int kPings = 20;
constexpr const char* kLookLine = "# look ";
constexpr int kHoursOfDay = 24;
constexpr double kHour = 3600;

std::string line_of(const WatchSample& s) {
  std::string out = format("%s%s rtt_s %.9g forward_Bps %.9g", kLookLine, s.time.c_str(), s.rtt, s.forward);
  if (s.reverse > 0) out += format(" reverse_Bps %.9g", s.reverse);
  return out + "\n";
}

std::optional<WatchSample> parse_look(const std::string& line) {
  static const std::vector<std::string> kNames = {"rtt_s", "forward_Bps", "reverse_Bps"};
  const auto words = words_of(line.substr(std::string(kLookLine).size()));
  if (words.size() != 5 && words.size() != 7) return std::nullopt;
  WatchSample out;
  out.time = words.front();
  double* const values[] = {&out.rtt, &out.forward, &out.reverse};
  for (std::size_t i = 0; 2 * i + 1 < words.size(); ++i) {
    const auto value = parse_number(words[2 * i + 2]);
    if (words[2 * i + 1] != kNames[i] || !value || *value <= 0) return std::nullopt;
    *values[i] = *value;
  }
  return out;
}

double slower_way(const WatchSample& s) { return s.reverse > 0 ? std::min(s.forward, s.reverse) : s.forward; }

}  // namespace

WatchSample sample_at(const Wire& wire, const std::string& time, bool one_way) {
  WatchSample out;
  out.time = time;
  out.rtt = spread_of(wire.ping(kPings)).median;
  const auto rate = [&](Direction direction) {
    const Stream stream =
        wire.stream(direction, kWatchConnections, stream_warm_up(out.rtt), stream_seconds(out.rtt), 0);
    return stream.bytes / stream.seconds;
  };
  out.forward = rate(Direction::kForward);
  if (!one_way) out.reverse = rate(Direction::kReverse);
  return out;
}

double seconds_of(const std::string& time) {
  std::tm parts{};
  const char* end = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (!end || *end != '\0') throw UsageError("\"" + printable(time).substr(0, 64) + "\" is no time in UTC");
  return static_cast<double>(timegm(&parts));
}

std::vector<WatchSample> samples_of(const std::string& text) {
  std::vector<WatchSample> out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.starts_with(kLookLine)) continue;
    const auto sample = parse_look(line);
    if (!sample) throw UsageError(format("line %d was not written by --watch; name another --output", number));
    seconds_of(sample->time);
    out.push_back(*sample);
  }
  if (out.empty() && !text.empty()) throw UsageError("it holds no measurements of --watch; name another --output");
  return out;
}

std::string to_hours(const std::vector<WatchSample>& samples, const std::string& link, const std::string& command) {
  std::string out =
      "# A link over the hours of a day (UTC), measured by slmsim-netprobe. Part of a scenario: write `extends: FILE` "
      "of\n"
      "# yours above it, or its `hours` into your scenario's job. The job begins with the day. Loss is not measured.\n";
  out += "# " + command + "\n";
  std::map<int, std::vector<WatchSample>> by_hour;
  for (const WatchSample& sample : samples) {
    out += line_of(sample);
    by_hour[static_cast<int>(seconds_of(sample.time) / kHour) % kHoursOfDay].push_back(sample);
  }
  if (by_hour.size() < 2) return out + "# Fewer than two hours of the day were measured: they make no day yet.\n";
  out += format("job:\n  links:\n    %s:\n      hours:\n", link.c_str());
  const auto state = [&](int from, const std::vector<WatchSample>& seen) {
    std::vector<double> rtts, rates;
    for (const WatchSample& sample : seen) {
      rtts.push_back(sample.rtt);
      rates.push_back(slower_way(sample));
    }
    out += format("        - {from: %d h, rtt: %s, bandwidth: %s}\n", from, time_text(spread_of(rtts).median).c_str(),
                  rate_text(spread_of(rates).median).c_str());
  };
  if (!by_hour.contains(0)) state(0, by_hour.rbegin()->second);
  for (const auto& [hour, seen] : by_hour) state(hour, seen);
  return out;
}

}  // namespace slmsim::calibrate::netprobe
