// The most informative pilot runs, in each format.
#pragma once

#include <string>
#include <vector>

#include "sim/fit/next.h"

namespace slmsim {

struct NextReport {
  Scenario scenario;
  std::vector<Candidate> candidates;
  std::string fitted_to;  // empty: not fitted
  std::vector<NextPick> picks;
};

std::string to_table(const NextReport& report);
std::string to_json(const NextReport& report);

}  // namespace slmsim
