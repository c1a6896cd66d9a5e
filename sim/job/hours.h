// How fast a plan's iterations go at each hour of a day on which links change.
#pragma once

#include "sim/job/course.h"
#include "sim/predict/predict.h"

namespace slmsim {

// The prediction's iteration, or round, over that of the same plan on the links as they are from each time on at which any of
// them changes; each distinct state is simulated once. An iteration that is under way when a link changes goes on at the new
// state's rate from there. Empty without LinkDays, and on GPUs of one site.
std::vector<Hour> speeds_of_day(const Scenario& scenario, const Prediction& prediction);

}  // namespace slmsim
