#include "sim/search/verdict.h"

#include <algorithm>

namespace slmsim {

std::vector<Verdict> verdicts_of(const RunResult& result, const VerdictOptions&) {
  std::vector<Verdict> out;
  for (std::size_t m = 0; m < result.scenario.models.size(); ++m) {
    Verdict verdict;
    verdict.model = result.scenario.models[m].name;
    for (std::size_t i = 0; m < result.selections.size() && i < result.predictions.size(); ++i) {
      const Prediction& p = result.predictions[i];
      const Selection& pick = result.selections[m];
      if (p.model == verdict.model && p.technique == pick.technique && p.group == pick.group) verdict.best = i;
    }
    out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace slmsim
