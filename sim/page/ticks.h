// Where an axis under bars has its ticks.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace slmsim {

struct Tick {
  double at = 0;  // of the axis' length, 0 to 1
  std::string text;
};

// From 0 to `most`, which is the axis' end, at multiples of 1, 2 or 5 times a power of ten; at most six.
std::vector<Tick> linear_ticks(double most);
// The same of durations in seconds, at steps that people say: 2 min, 6 h, 10 d.
std::vector<Tick> duration_ticks(double most);
// At durations from 1 s that people say, on an axis where `position` maps a duration to its place and is increasing: as
// many between `least` and `most` as stand apart.
std::vector<Tick> uneven_duration_ticks(double least, double most, const std::function<double(double)>& position);

}  // namespace slmsim
