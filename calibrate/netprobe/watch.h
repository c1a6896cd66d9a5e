// A path over the hours of a day: short looks at it from time to time, and the hours that a scenario's `job.links` has.
//
// A look is some round trips and, in each direction, what eight connections carry for a second or two: it fills the path so
// long, and no longer. Loss and curves need more traffic and are not looked at. The file that is written after each look is
// a part of a scenario; its comments hold the looks, from which watching goes on where it was ended.
#pragma once

#include <string>
#include <vector>

#include "calibrate/netprobe/wire.h"

namespace slmsim::calibrate::netprobe {

inline constexpr int kWatchConnections = 8;

struct Look {
  std::string time;                 // UTC, "2026-01-31T12:00:00Z"
  double rtt = 0;                   // s, median
  double forward = 0, reverse = 0;  // B/s; reverse 0: not looked at
};

Look look_at(const Wire& wire, const std::string& time, bool one_way);

// Seconds since 1970 of such a time; throws UsageError where it is none.
double seconds_of(const std::string& time);

// The looks of a file that to_hours() wrote. Throws UsageError where it has another form.
std::vector<Look> looks_of(const std::string& text);

// `link`: its name in the platform. Each hour of the day (UTC) in which there was a look has the medians of its looks, of the
// directions the slower one; hours without a look are as the last one before them, over midnight too. Fewer than two hours
// make no day, and the file says so.
std::string to_hours(const std::vector<Look>& looks, const std::string& link, const std::string& command);

}  // namespace slmsim::calibrate::netprobe
