// The questions one by one; answer.h has their table. Each throws InputError where the scenario is wrong.
#pragma once

#include "sim/serve/answer.h"

namespace slmsim::web {

// What `slmsim run --format json` prints.
Json answer_run(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// What the page shows at once:
//   {"scenario": NAME, "tree": ..., "whole": ..., "assumed": [...], "models": [{"name", "verdict", "pick", "cells",
//    "sections": [{"name", "title", "html"}]}]}
// `tree` and `whole` see tree.h; `cells` begin as the predictions of `run`.
Json answer_view(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// What takes longer: {"sections": [...]}, of model number "model", of the pick's iteration, and over the round-trip time.
Json answer_timeline(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);
Json answer_curve(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// What `slmsim run --intervals` adds: {"models": [{"name", "sure", "probability", "fits", "sections"}]}: how sure the
// verdict is in words, the pick's probabilities to be right and to fit, null where nothing is picked, and the comparison of
// answer_view with intervals.
Json answer_intervals(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// What `slmsim explain --format json` prints.
Json answer_explain(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// What `slmsim plan --format json` prints; "effort" and "seconds" as its --effort and --time-limit.
Json answer_plan(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// One key at several values, {"key": K, "from": A, "to": B, "points": N, "log": true}: {"csv": ..., "jsonl": ...,
// "sections": [...]}, the first two as `slmsim sweep` writes them.
Json answer_sweep(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

}  // namespace slmsim::web
