// Evaluation of one choice: a quick check whether it fits with a bound of its time, or a simulation.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sim/crew/crew.h"
#include "sim/predict/predict.h"
#include "sim/search/space.h"

namespace slmsim {

struct Assessment {
  Status status = Status::kUnsupported;
  Seconds job;              // lower bound; where it runs
  double tasks = 0;         // in one iteration: the cost of a simulation
  std::string reason = {};  // where it cannot run
};

// Figures of the drawn whole jobs (sim/predict/job/outcome.h).
struct MeasuredJob {
  double cost = 0, energy = 0;  // medians; 0 where not stated
  double late = 0;              // number of jobs that end after the lease does, of `samples`
  Seconds median, p90;          // a job that does not end counts with the drawn time

  bool operator==(const MeasuredJob&) const = default;
};

struct Measurement {
  Seconds job, iteration;
  Breakdown parts;
  std::optional<MeasuredJob> whole = {};  // where the objective is for whole jobs and the scenario has a `job`
};

// Plans the choice and bounds its time (least_end); where the objective is for whole jobs, the time of any of them: with links
// and GPUs in the best of their states. `tables`: of earlier choices of the space.
Assessment assess(const Space& space, const OperatorGraph& operators, const Choice& choice, PlanObjective objective,
                  StageTables* tables = nullptr);
// The complete prediction; `links` as for `run`.
Prediction predict(const Space& space, const OperatorGraph& operators, const Choice& choice,
                   const PredictOptions& options = {});
Measurement measure(const Space& space, const OperatorGraph& operators, const Choice& choice, PlanObjective objective);

// Answers of a search's workers (sim/crew/crew.h): one line without loss of digits.
using Finding = std::variant<Assessment, Measurement>;
Texts to_texts(const Finding& finding);
void from_texts(const Texts& texts, Finding& finding);

}  // namespace slmsim
