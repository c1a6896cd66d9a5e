// Changes of a scenario that `slmsim run` suggests beside its answer. Each is a few predictions.
#pragma once

#include <optional>
#include <span>

#include "sim/fit/forecast.h"
#include "sim/search/verdict.h"

namespace slmsim {

// A change that is worth less than this share of the cost is not suggested.
inline constexpr double kWorth = 0.05;

// Predictions of some cells in a scenario, without advice and with the times of plans that do not fit, otherwise as `options`
// say. Unsupported where the scenario lacks the cell, or where it takes more tasks than these allow.
std::vector<Prediction> predict_cells(const Scenario& scenario, std::span<const Candidate> cells,
                                      PredictOptions options = {});
Candidate cell_of(const Prediction& prediction);

// Number of tasks that a prediction simulates, roughly, and the cost of its plan in tasks: stands for its time.
double work_of(const Scenario& scenario, const Prediction& prediction);

// The best of a few changes to this prediction: a compiled stack, flash attention, the network's settings where it waits for the
// network, the number of micro-batches (fewer also together with the best other change, and on other groups), sequences dealt by
// speed to unlike GPUs, and techniques that the scenario lacks and that leave the training unchanged. Where a change is for all, the
// best choice with it. Nothing where none is worth it, or where they cost more than `budget` tasks.
std::optional<Suggestion> faster_than(const RunResult& result, const Prediction& best, double budget,
                                      const VerdictOptions& options);

// A way to run a model for which nothing runs: the scenario's techniques with more micro-batches or rematerialisation on the
// same GPUs, or the best plan of a short search, whichever is faster; where neither runs, plans of all techniques that leave the
// training unchanged.
std::optional<Suggestion> way_to_fit(const RunResult& result, const std::string& model, const VerdictOptions& options);

}  // namespace slmsim
