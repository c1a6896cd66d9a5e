// The questions, one function each; answer.h has their table. Each throws InputError where the scenario is invalid.
#pragma once

#include "sim/serve/answer.h"

namespace slmsim::web {

// The output of `slmsim run --format json`.
Json answer_run(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// The parts of the page that are shown at once:
//   {"scenario": NAME, "tree": ..., "whole": ..., "assumed": [...], "models": [{"name", "verdict", "pick", "cells",
//    "sections": [{"name", "title", "html"}]}]}
// For `tree` and `whole` see tree.h; `cells` begin as the predictions of `run`.
Json answer_view(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// Slower parts: {"sections": [...]} of model number "model", for the pick's iteration and over the round-trip time.
Json answer_timeline(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);
Json answer_curve(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// Intervals as in `slmsim run --intervals`: {"models": [{"name", "sure", "probability", "fits", "sections"}]}: the verdict's
// certainty in words, the pick's probabilities of being right and of fitting, null where there is no pick, and the comparison
// of answer_view with intervals.
Json answer_intervals(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// The output of `slmsim explain --format json`.
Json answer_explain(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// The output of `slmsim plan --format json`; "effort" and "seconds" are its --effort and --time-limit.
Json answer_plan(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// One key at several values, {"key": K, "from": A, "to": B, "points": N, "log": true}: {"csv": ..., "jsonl": ..., "sections":
// [...]}, the first two as `slmsim sweep` writes them.
Json answer_sweep(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

}  // namespace slmsim::web
