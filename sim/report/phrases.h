// Phrases that tables and pages share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "sim/predict/algorithm.h"

namespace slmsim {

// Width of a column with the text of each of these, at least `least`.
template <class Items, class Text>
std::size_t column_width(const Items& items, std::size_t least, Text text) {
  for (const auto& item : items) least = std::max(least, text(item).size());
  return least;
}

// Times from seconds to months in a form that fits a column: "34.0 min", "23.1 h".
std::string duration(Seconds time);

// The memory of the GPU with the least room left, or nullptr where nothing was planned.
const DeviceMemory* tightest(const Prediction& prediction);

// "Data on gat".
std::string place_of(const Prediction& prediction);
std::string picked(const Selection& selection);

// "rounds of 100 steps take 2.1 s; the job has 14, and one of 25 steps, 1.1 s".
std::string round_text(const RoundTimes& round);

// "the first 100 steps exchange whole gradients and take 43.3 s each".
std::string warm_up_text(const WarmUp& warm_up);

// "20 epochs of 570 sequences", or the sequences or tokens where the job states these.
std::string extent_text(const Training& training);

// "82 % measured, 12 % interpolated, 6 % roofline": shares of the time.
std::string basis_text(const TimeBasis& basis);

}  // namespace slmsim
