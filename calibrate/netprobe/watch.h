// A path over the hours of a day: short looks from time to time, as the hours of a scenario's `job.links`.
//
// A look is a few round trips and, in each direction, the rate of eight connections over a second or two: it fills the path for
// that time only. Loss and curves need more traffic and are not measured. The file written after each look is a part of a
// scenario; its comments hold the looks, from which watching resumes after interruption.
#pragma once

#include <string>
#include <vector>

#include "calibrate/netprobe/wire.h"

namespace slmsim::calibrate::netprobe {

inline constexpr int kWatchConnections = 8;

struct WatchSample {
  std::string time;                 // UTC, "2026-01-31T12:00:00Z"
  double rtt = 0;                   // s, median
  double forward = 0, reverse = 0;  // B/s; reverse 0: not measured
};

WatchSample sample_at(const Wire& wire, const std::string& time, bool one_way);

// Seconds since 1970 of such a time; throws UsageError where it is invalid.
double seconds_of(const std::string& time);

// The looks in a file that to_hours() wrote. Throws UsageError where it has another form.
std::vector<WatchSample> samples_of(const std::string& text);

// `link`: its name in the platform. Each hour of the day (UTC) with a look has the medians of its looks, from the slower
// direction; hours without a look repeat the last one before them, across midnight too. Fewer than two hours make no day, and
// the file says so.
std::string to_hours(const std::vector<WatchSample>& samples, const std::string& link, const std::string& command);

}  // namespace slmsim::calibrate::netprobe
