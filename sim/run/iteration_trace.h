// One iteration of a run's prediction, as a trace.
#pragma once

#include <string>

#include "sim/report/report.h"

namespace slmsim {

// The pick for the first model, or the first that runs where there is none; nothing where nothing runs.
const Prediction* to_be_traced(const RunResult& result);

// As a Chrome/Perfetto trace; `prediction` must run and be one of the result's.
std::string trace_of(const RunResult& result, const Prediction& prediction);

}  // namespace slmsim
