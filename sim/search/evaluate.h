// What is found out about one choice: cheaply whether it fits and how fast it is at best, or by simulation how fast it is.
#pragma once

#include <optional>
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

// Of the whole jobs drawn (sim/job/outcome.h).
struct MeasuredJob {
  double cost = 0, energy = 0;  // medians; 0 where not stated
  double late = 0;              // jobs that do not end before the lease does, of `samples`
  Seconds median, p90;          // of a job that does not end so long as it was drawn

  bool operator==(const MeasuredJob&) const = default;
};

struct Measured {
  Seconds job, iteration;
  Breakdown parts;
  std::optional<MeasuredJob> whole = {};  // where the objective is of whole jobs and the scenario has a `job`
};

// Plans the choice and bounds its time (least_end); where the objective is of whole jobs, of any of them: at the best of the
// states in which links and GPUs are in it. `memo`: for who asks about many choices.
Assessed assess(const Space& space, const OperatorGraph& operators, const Choice& choice, PlanObjective objective,
                DivisionMemo* memo = nullptr);
// The whole prediction; `links` as for `run`.
Prediction predict(const Space& space, const OperatorGraph& operators, const Choice& choice,
                   const PredictOptions& options = {}, DivisionMemo* memo = nullptr);
Measured measure(const Space& space, const OperatorGraph& operators, const Choice& choice, PlanObjective objective,
                 DivisionMemo* memo = nullptr);

// What the workers of a search answer (sim/crew/answer.h): one line without loss of digits.
using Finding = std::variant<Assessed, Measured>;
Texts to_texts(const Finding& finding);
void from_texts(const Texts& texts, Finding& finding);

}  // namespace slmsim
