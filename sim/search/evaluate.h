// What is found out about one choice: cheaply whether it fits and how fast it is at best, or by simulation how fast it is.
#pragma once

#include <string>

#include "sim/search/space.h"
#include "sim/select/predict.h"

namespace slmsim {

struct Assessed {
  Status status = Status::kUnsupported;
  Seconds job;       // no simulation is below it; where it runs
  double tasks = 0;  // of one iteration: what a simulation costs
};

struct Measured {
  Seconds job, iteration;
  Breakdown parts;
};

// Plans the choice and bounds its time (least_end). `memo`: for who asks about many choices.
Assessed assess(const Space& space, const OperatorGraph& operators, const Choice& choice, DivisionMemo* memo = nullptr);
// The whole prediction; `links` as for `run`.
Prediction predict(const Space& space, const OperatorGraph& operators, const Choice& choice,
                   const PredictOptions& options = {}, DivisionMemo* memo = nullptr);
Measured measure(const Space& space, const OperatorGraph& operators, const Choice& choice,
                 DivisionMemo* memo = nullptr);

// One line each, without loss of digits: between processes, and in journals. Throws std::runtime_error on other text.
std::string to_line(const Assessed& assessed);
std::string to_line(const Measured& measured);
Assessed assessed_of(const std::string& line);
Measured measured_of(const std::string& line);

}  // namespace slmsim
