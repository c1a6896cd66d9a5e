// Algorithm 1 of the FABRIC study (arXiv 2602.02632): which technique, on which VMs.
//
// kPaper follows the printed text to the letter. It compares T, the training performance per GPU over the first epsilon epochs:
// Pipeshard on both VMs (T_p) against the best of Data and Shard on either VM (T_z).
//
// kAmended settles what the printed text leaves open, and reports where the answers differ:
//   - a technique that runs is never passed over because the one it is compared with failed (T_z = 0 or T_p = 0);
//   - a near tie within delta goes to the plan with fewer GPU-hours, not to ZeRO2 across the WAN, and to none that changes
//     the training where another leaves it as it is;
//   - the objective (time, GPU-hours, TFLOP/s per GPU) decides, not always the rate per GPU;
//   - every technique and group of the scenario may win, not four on two VMs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/predict/predict.h"

namespace slmsim {

struct Selection {
  std::string model;
  Algorithm algorithm = Algorithm::kAmended;
  const Technique* technique = nullptr;  // none: nothing works
  std::vector<std::string> group;
  std::vector<std::string> steps;  // the comparisons, with the numbers that decided
};

// Relative difference below which costs count as equal: the pick is then the first in the order of the scenario.
inline constexpr double kEqualCosts = 1e-3;

// The value that an objective minimises: seconds, GPU-hours, or the inverse of the rate per GPU.
double cost_of(const Prediction& prediction, Objective objective);
// The same for the order of candidates: with a margin at the edge of memory, where runs may be slower.
double ranked_cost(const Prediction& prediction, Objective objective);

// `predictions`: those of one model.
Selection select_technique(const Scenario& scenario, const std::vector<Prediction>& predictions, Algorithm algorithm);

// One selection per model, in the scenario's order.
std::vector<Selection> select_techniques(const Scenario& scenario, const std::vector<Prediction>& predictions,
                                         Algorithm algorithm);

// Orders predictions that run by the job's time, the pick (if any) before others of equal time.
void sort_by_time(std::span<const Prediction*> predictions, const Prediction* pick);

}  // namespace slmsim
