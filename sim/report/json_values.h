// JSON values shared by several reports.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/technique/common/memory.h"
#include "sim/predict/assumption.h"
#include "sim/predict/measure.h"
#include "sim/predict/predict.h"

namespace slmsim {

using Json = nlohmann::ordered_json;

// Nine digits: the rest is rounding of sums of many events.
double rounded(double value);

// The start of every report on a prediction: model, technique, group, GPUs, status, reason, times.
Json head_json(const Prediction& prediction);

Json breakdown_json(const Breakdown& breakdown);

// A list of {about, text, measure}.
Json assumed_json(const std::vector<Assumption>& assumptions);

// Host memories and volumes of drives.
Json stores_json(const std::vector<Store>& stores);

}  // namespace slmsim
