// What is found out about one choice: cheaply whether it fits and how fast it is at best, or by simulation how fast it is.
#pragma once

#include <variant>

#include "sim/crew/answer.h"
#include "sim/predict/predict.h"
#include "sim/search/space.h"

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

// What the workers of a search answer (sim/crew/answer.h): one line without loss of digits.
using Finding = std::variant<Assessed, Measured>;
Texts to_texts(const Finding& finding);
void from_texts(const Texts& texts, Finding& finding);

}  // namespace slmsim
