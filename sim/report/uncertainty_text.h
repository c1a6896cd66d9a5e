// Intervals and probabilities, in the text and columns of each format.
#pragma once

#include <string>

#include "sim/predict/interval.h"
#include "sim/predict/predict.h"

namespace slmsim {

// Table of one model's predictions: interval of each, and whether it fits.
std::string interval_table(const Uncertainty& uncertainty, const std::vector<Prediction>& predictions,
                           const std::string& model);
// The probability that the pick is right, and its mean excess cost over the best.
std::string pick_text(const Uncertainty& uncertainty, std::size_t pick, Objective objective);
// "35.2 min to 89.4 min"
std::string between_text(const Interval& seconds);
// Source of the intervals.
std::string origin_text(const Uncertainty& uncertainty);

// Appended to a row of CSV, and its header: low and high end of the minutes, the level, the probability of fitting.
std::string interval_header();
std::string interval_cells(const Uncertainty& uncertainty, std::size_t prediction);

}  // namespace slmsim
