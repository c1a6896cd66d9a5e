// Ticks of an axis under bars.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace slmsim {

struct Tick {
  double at = 0;  // share of the axis' length, 0 to 1
  std::string text;
};

// From 0 to `most`, the axis' end, at multiples of 1, 2 or 5 times a power of ten; at most six.
std::vector<Tick> linear_ticks(double most);
// The same for durations in seconds, at round steps: 2 min, 6 h, 10 d.
std::vector<Tick> duration_ticks(double most);
// Round durations from 1 s on, on an axis where the increasing `position` maps a duration to its place: all ticks between
// `least` and `most` that fit.
std::vector<Tick> uneven_duration_ticks(double least, double most, const std::function<double(double)>& position);

}  // namespace slmsim
