// JSON values shared by several reports.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/predict/assumption.h"
#include "sim/predict/job/outcome.h"
#include "sim/predict/measure.h"
#include "sim/predict/predict.h"
#include "sim/technique/common/memory.h"

namespace slmsim {

using Json = nlohmann::ordered_json;

// Nine digits: the rest is rounding of sums of many events.
double rounded(double value);

// One object, or a list of several.
std::string to_text(const Json& list);

// The start of every report on a prediction: model, technique, group, GPUs, status, reason, times.
Json head_json(const Prediction& prediction);

Json breakdown_json(const Breakdown& breakdown);
// Of one GPU.
Json memory_json(const DeviceMemory& memory, const Platform& platform);

// A list of {about, text, measure}.
Json assumed_json(const std::vector<Assumption>& assumptions);

// Host memories and volumes of drives.
Json stores_json(const std::vector<Store>& stores);

// Whole jobs with their failures, checkpoints and costs.
Json job_json(const JobOutcome& job);
// Values common to all of a scenario's jobs: the lease, and the links at each time of the day at which they change.
Json job_rules_json(const Scenario& scenario);

}  // namespace slmsim
